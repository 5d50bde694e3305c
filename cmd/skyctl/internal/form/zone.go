package form

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/plan"
	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
)

// readZone reads a zone file. $INCLUDE is refused: the file that it names may be anybody's.
func readZone(file string, text []byte, o Options) (Input, error) {
	var in Input
	left := map[uint16]int{}
	zp := dns.NewZoneParser(bytes.NewReader(text), o.Origin, file)
	if o.TTL != 0 {
		zp.SetDefaultTTL(o.TTL)
	} else {
		zp.SetDefaultTTL(record.DefaultTTL)
	}
	for rr, ok := zp.Next(); ok; rr, ok = zp.Next() {
		h := rr.Header()
		switch h.Rrtype {
		case dns.TypeSOA:
			if zone := dns.CanonicalName(h.Name); in.Zone == "" {
				in.Zone = zone
				in.Notes = append(in.Notes, soaNote(rr.(*dns.SOA)))
			} else if in.Zone != zone {
				return in, fmt.Errorf("%w: %s: SOA records of two zones, %s and %s", ErrSyntax, file, in.Zone, zone)
			}
			continue
		// What signs a zone is made anew by whoever signs it: RFC 4034, RFC 5155.
		case dns.TypeRRSIG, dns.TypeNSEC, dns.TypeNSEC3, dns.TypeNSEC3PARAM:
			left[h.Rrtype]++
			continue
		}
		in.Wants = append(in.Wants, plan.Want{
			RR: rr,
			// The model has no TTL of 0, which would stand for the default. One second comes closest.
			TTL:    max(h.Ttl, 1),
			Origin: fmt.Sprintf("%s: %s", file, strings.ReplaceAll(rr.String(), "\t", " ")),
		})
	}
	if err := zp.Err(); err != nil {
		return in, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	for _, code := range []uint16{dns.TypeRRSIG, dns.TypeNSEC, dns.TypeNSEC3, dns.TypeNSEC3PARAM} {
		if n := left[code]; n > 0 {
			in.Notes = append(in.Notes, fmt.Sprintf("left out %d %s records: whoever signs the zone makes new ones", n, dns.Type(code)))
		}
	}
	return in, nil
}

func soaNote(soa *dns.SOA) string {
	return fmt.Sprintf("left out the SOA record: the server makes it; to keep its names and timers, set in the etcd block: "+
		"soa %s %s %d %d %d", soa.Ns, soa.Mbox, soa.Refresh, soa.Retry, soa.Expire)
}

// WriteZone writes the records of keys as lines of a zone file, sorted by name from the top level domain down. What no
// line of a zone file can say is written as a comment.
func WriteZone(w io.Writer, keys []record.Key) error {
	var rrs []dns.RR
	for _, k := range keys {
		mine := k.RRs()
		rrs = append(rrs, mine...)
		if len(mine) == 0 {
			if _, err := fmt.Fprintf(w, "; %s %s\n", k.Key, why(k)); err != nil {
				return err
			}
		}
	}
	slices.SortStableFunc(rrs, func(a, b dns.RR) int {
		return strings.Compare(skydns.PathOf(a.Header().Name), skydns.PathOf(b.Header().Name))
	})
	var last dns.RR
	for _, rr := range rrs {
		if last != nil && record.Same(last, rr) {
			continue
		}
		last = rr
		if _, err := fmt.Fprintln(w, rr); err != nil {
			return err
		}
	}
	return nil
}

// why says what became of a key without records.
func why(k record.Key) string {
	switch {
	case k.Err != nil:
		return fmt.Sprintf("is not served: %v", k.Err)
	case k.Role == record.Stub:
		return "is a server of the stub zone " + skydns.NameOf(k.Owner)
	default:
		return "holds no record"
	}
}
