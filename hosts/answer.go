package hosts

import "github.com/miekg/dns"

// negativeTTL bounds how long resolvers may remember that something does not exist, in seconds: the next line of a
// hosts file may change that.
const negativeTTL = 60

// answer sends records, or NODATA when there are none.
func (h *Hosts) answer(w dns.ResponseWriter, r *dns.Msg, zone *zone, records []dns.RR) (int, error) {
	m := new(dns.Msg)
	m.SetReply(r)
	m.Authoritative = true
	m.Answer = records
	if len(records) == 0 {
		m.Ns = []dns.RR{h.soa(zone)}
	}
	w.WriteMsg(m)
	return dns.RcodeSuccess, nil
}

func (h *Hosts) nameError(w dns.ResponseWriter, r *dns.Msg, zone *zone) (int, error) {
	m := new(dns.Msg)
	m.SetRcode(r, dns.RcodeNameError)
	m.Authoritative = true
	m.Ns = []dns.RR{h.soa(zone)}
	w.WriteMsg(m)
	return dns.RcodeNameError, nil
}

// soa returns what lets a resolver remember an answer without records (RFC 2308 section 3). The serial is the time
// at which the newest content was loaded.
func (h *Hosts) soa(zone *zone) dns.RR {
	serial := int64(1)
	for _, s := range h.content.Load().sources {
		for _, p := range s.Parts() {
			serial = max(serial, p.Loaded.Unix())
		}
	}
	ttl := min(h.ttl, negativeTTL)
	dot := zone.text
	if dot != "." {
		dot = "." + dot
	}
	return &dns.SOA{
		Hdr:     dns.RR_Header{Name: zone.text, Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: ttl},
		Ns:      "ns.dns" + dot,
		Mbox:    "hostmaster" + dot,
		Serial:  uint32(serial),
		Refresh: 7200,
		Retry:   1800,
		Expire:  86400,
		Minttl:  ttl,
	}
}
