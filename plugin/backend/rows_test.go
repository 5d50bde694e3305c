package backend

import "testing"

// row is one fault of the in-tree plugin, by its number, with the right behaviour.
type row struct {
	name     string
	records  string
	settings func(*Settings)
	outside  answers
	asks     map[string]string // "NAME TYPE" to what show gives
}

func exact(s *Settings) { s.Mode = Exact }

var rows = []row{
	{
		name: "E1 wildcard records stand for names that do not exist, at any depth",
		records: `
			/skydns/test/zone/*/6381a3bb {"host":"1.2.3.4","ttl":300,"targetstrip":1}
			/skydns/test/zone/real/x {"host":"1.1.1.1"}
			/skydns/test/zone/deep/ent/x {"host":"2.2.2.2"}`,
		asks: map[string]string{
			"foo.zone.test. A":       "NOERROR\nfoo.zone.test. 300 A 1.2.3.4",
			"a.b.zone.test. A":       "NOERROR\na.b.zone.test. 300 A 1.2.3.4",
			"foo.zone.test. AAAA":    "NOERROR\n? SOA zone.test.",
			"real.zone.test. AAAA":   "NOERROR\n? SOA zone.test.",
			"y.real.zone.test. A":    "NXDOMAIN\n? SOA zone.test.",
			"y.deep.zone.test. A":    "NXDOMAIN\n? SOA zone.test.",
			"deep.zone.test. A":      "NOERROR\ndeep.zone.test. 300 A 2.2.2.2",
			"foo.zone.test. SRV":     "NOERROR\nfoo.zone.test. 300 SRV 10 100 0 foo.zone.test.\n+ foo.zone.test. 300 A 1.2.3.4",
			"foo.zone.test. SOA":     "NOERROR\n? SOA zone.test.",
			"Foo.Zone.test. A":       "NOERROR\nFoo.Zone.test. 300 A 1.2.3.4",
			"any.foo.zone.test. TXT": "NXDOMAIN\n? SOA zone.test.",
		},
	},
	{
		name: "E1 wildcard records in mode exact",
		records: `
			/skydns/test/zone/*/6381a3bb {"host":"1.2.3.4","targetstrip":1}
			/skydns/test/zone/real {"host":"1.1.1.1"}`,
		settings: exact,
		asks: map[string]string{
			"foo.zone.test. A":    "NOERROR\nfoo.zone.test. 300 A 1.2.3.4",
			"*.zone.test. A":      "NOERROR\n*.zone.test. 300 A 1.2.3.4",
			"real.zone.test. A":   "NOERROR\nreal.zone.test. 300 A 1.1.1.1",
			"x.real.zone.test. A": "NXDOMAIN\n? SOA zone.test.",
		},
	},
	{
		name: "E2 question wildcards stay in mode skydns, without what is kept for roles, and are labels in mode exact",
		records: `
			/skydns/test/zone/a/x {"host":"1.1.1.1"}
			/skydns/test/zone/b/x {"host":"1.1.1.2"}
			/skydns/test/zone/dns/ns/a {"host":"1.1.1.3"}
			/skydns/test/zone/dns/apex/a {"host":"1.1.1.4"}`,
		asks: map[string]string{
			"*.zone.test. A":        "NOERROR\n*.zone.test. 300 A 1.1.1.1\n*.zone.test. 300 A 1.1.1.2",
			"any.zone.test. A":      "NOERROR\nany.zone.test. 300 A 1.1.1.1\nany.zone.test. 300 A 1.1.1.2",
			"x.*.zone.test. A":      "NOERROR\nx.*.zone.test. 300 A 1.1.1.1\nx.*.zone.test. 300 A 1.1.1.2",
			"y.*.zone.test. A":      "NOERROR\n? SOA zone.test.",
			"*.c.zone.test. A":      "NXDOMAIN\n? SOA zone.test.",
			"*.ns.dns.zone.test. A": "NOERROR\n*.ns.dns.zone.test. 300 A 1.1.1.3",
		},
	},
	{
		name: "E2 a host called any in mode exact",
		records: `
			/skydns/test/zone/any {"host":"1.1.1.1"}
			/skydns/test/zone/b {"host":"1.1.1.2"}`,
		settings: exact,
		asks: map[string]string{
			"any.zone.test. A": "NOERROR\nany.zone.test. 300 A 1.1.1.1",
			"*.zone.test. A":   "NXDOMAIN\n? SOA zone.test.",
		},
	},
	{
		name: "E3 a subtree answers in mode skydns",
		records: `
			/skydns/test/zone/svc/x1 {"host":"1.1.1.1"}
			/skydns/test/zone/svc/sub/x1 {"host":"2.2.2.2"}`,
		asks: map[string]string{
			"svc.zone.test. A": "NOERROR\nsvc.zone.test. 300 A 2.2.2.2\nsvc.zone.test. 300 A 1.1.1.1",
		},
	},
	{
		name: "E3 a name alone answers in mode exact",
		records: `
			/skydns/test/zone/svc/x1 {"host":"1.1.1.1"}
			/skydns/test/zone/svc/sub/x1 {"host":"2.2.2.2"}`,
		settings: exact,
		asks: map[string]string{
			"svc.zone.test. A":    "NOERROR\n? SOA zone.test.",
			"x1.svc.zone.test. A": "NOERROR\nx1.svc.zone.test. 300 A 1.1.1.1",
		},
	},
	{
		name: "E4 the key of the name itself answers beside those below it",
		records: `
			/skydns/test/zone/example {"host":"1.1.1.2"}
			/skydns/test/zone/example/a {"host":"1.1.1.1"}`,
		asks: map[string]string{
			"example.zone.test. A": "NOERROR\nexample.zone.test. 300 A 1.1.1.2\nexample.zone.test. 300 A 1.1.1.1",
		},
	},
	{
		name: "E4 in mode exact it answers alone",
		records: `
			/skydns/test/zone/example {"host":"1.1.1.2"}
			/skydns/test/zone/example/a {"host":"1.1.1.1"}`,
		settings: exact,
		asks:     map[string]string{"example.zone.test. A": "NOERROR\nexample.zone.test. 300 A 1.1.1.2"},
	},
	{
		name: "E6 the apex exists, whatever is kept for it",
		records: `
			/skydns/test/zone/a {"host":"1.1.1.1"}`,
		settings: func(s *Settings) { s.NoApexFallback = true },
		asks: map[string]string{
			"zone.test. A":     "NOERROR\n? SOA zone.test.",
			"zone.test. AAAA":  "NOERROR\n? SOA zone.test.",
			"zone.test. HINFO": "NOERROR\n? SOA zone.test.",
		},
	},
	{
		name: "E7 the apex exists without name servers",
		asks: map[string]string{
			"zone.test. NS":  "NOERROR\n? SOA zone.test.",
			"zone.test. A":   "NOERROR\n? SOA zone.test.",
			"zone.test. SOA": "NOERROR\nSOA zone.test.",
		},
	},
	{
		name: "E8 the SOA record belongs to the apex",
		records: `
			/skydns/test/zone/a {"host":"1.1.1.1"}`,
		asks: map[string]string{
			"nosuch.zone.test. SOA": "NXDOMAIN\n? SOA zone.test.",
			"a.zone.test. SOA":      "NOERROR\n? SOA zone.test.",
			"Zone.test. SOA":        "NOERROR\nSOA zone.test.",
		},
	},
	{
		name: "E10 a record of type NS delegates",
		records: `
			/skydns/test/zone/sub/1 {"type":"NS","rdata":"ns1.sub.zone.test.","targetstrip":1}
			/skydns/test/zone/sub/2 {"type":"NS","rdata":"ns.example.net.","targetstrip":1,"ttl":60}
			/skydns/test/zone/sub/ds {"type":"DS","rdata":"1 8 2 2BB183AF5F22588179A53B0A98631FAD1A292118C4E6A3E0A3A3A7F1C8B3A6AB","targetstrip":1}
			/skydns/test/zone/sub/ns1 {"host":"10.0.0.1"}
			/skydns/test/zone/beside {"host":"10.0.0.2"}`,
		asks: map[string]string{
			"x.sub.zone.test. A": `NOERROR
				? sub.zone.test. 60 NS ns1.sub.zone.test.
				? sub.zone.test. 60 NS ns.example.net.
				? sub.zone.test. 300 DS 1 8 2 2BB183AF5F22588179A53B0A98631FAD1A292118C4E6A3E0A3A3A7F1C8B3A6AB
				+ ns1.sub.zone.test. 300 A 10.0.0.1`,
			"sub.zone.test. DS": `NOERROR
				sub.zone.test. 300 DS 1 8 2 2BB183AF5F22588179A53B0A98631FAD1A292118C4E6A3E0A3A3A7F1C8B3A6AB`,
			"zone.test. A":   "NOERROR\nzone.test. 300 A 10.0.0.2",
			"*.zone.test. A": "NOERROR\n*.zone.test. 300 A 10.0.0.2",
		},
	},
	{
		name: "E10 name servers of the apex may be names",
		records: `
			/skydns/test/zone/dns/ns/a {"host":"ns1.example.net"}
			/skydns/test/zone/dns/ns/b {"host":"ns2.zone.test"}
			/skydns/test/zone/dns/ns/c {"host":"10.0.0.1"}
			/skydns/test/zone/ns2 {"host":"10.0.0.2"}`,
		asks: map[string]string{
			"zone.test. NS": `NOERROR
				zone.test. 300 NS ns1.example.net.
				zone.test. 300 NS ns2.zone.test.
				zone.test. 300 NS c.ns.dns.zone.test.
				+ ns2.zone.test. 300 A 10.0.0.2
				+ c.ns.dns.zone.test. 300 A 10.0.0.1`,
		},
	},
	{
		name: "E12 a CNAME question finds the record below the name",
		records: `
			/skydns/test/zone/artifacts/16ba5713 {"host":"lan.zone.test","targetstrip":1}
			/skydns/test/zone/lan {"host":"1.1.1.1"}`,
		asks: map[string]string{
			"artifacts.zone.test. CNAME": "NOERROR\nartifacts.zone.test. 300 CNAME lan.zone.test.",
			"lan.zone.test. CNAME":       "NOERROR\n? SOA zone.test.",
		},
	},
	{
		name: "E13 text beside a name gives both",
		records: `
			/skydns/test/zone/goh/149a1668 {"host":"sag.com","text":"\"heritage=external-dns\"","targetstrip":1}`,
		outside: answers{"sag.com. A": "sag.com. 60 IN A 9.9.9.9"},
		asks: map[string]string{
			"goh.zone.test. A":     "NOERROR\ngoh.zone.test. 300 CNAME sag.com.\nsag.com. 60 A 9.9.9.9",
			"goh.zone.test. TXT":   `NOERROR` + "\n" + `goh.zone.test. 300 TXT "\"heritage=external-dns\""`,
			"goh.zone.test. CNAME": "NOERROR\ngoh.zone.test. 300 CNAME sag.com.",
		},
	},
	{
		name: "E14 text beside an address gives both",
		records: `
			/skydns/test/zone/a {"host":"10.0.0.1","text":"abc"}`,
		asks: map[string]string{
			"a.zone.test. A":   "NOERROR\na.zone.test. 300 A 10.0.0.1",
			"a.zone.test. TXT": "NOERROR\na.zone.test. 300 TXT \"abc\"",
		},
	},
	{
		name: "E15 one CNAME, and addresses where there would be several or one beside an address",
		records: `
			/skydns/test/zone/sub/c1 {"host":"canon.zone.test"}
			/skydns/test/zone/sub/c2 {"host":"other.zone.test","ttl":5}
			/skydns/test/zone/sub/c3 {"host":"1.1.1.3"}
			/skydns/test/zone/two/c1 {"host":"canon.zone.test"}
			/skydns/test/zone/two/c2 {"host":"six.zone.test"}
			/skydns/test/zone/out/c1 {"host":"a.example.org"}
			/skydns/test/zone/out/c2 {"host":"b.example.org"}
			/skydns/test/zone/out/c3 {"host":"c.example.org"}
			/skydns/test/zone/same/c1 {"host":"canon.zone.test"}
			/skydns/test/zone/same/c2 {"host":"Canon.zone.test."}
			/skydns/test/zone/dns/apex/x {"host":"canon.zone.test"}
			/skydns/test/zone/canon {"host":"1.1.1.1"}
			/skydns/test/zone/other {"host":"1.1.1.2"}
			/skydns/test/zone/six {"host":"::6"}`,
		outside: answers{
			"a.example.org. A": "a.example.org. 20 CNAME a2.example.org.\na2.example.org. 60 A 9.9.9.1",
			"b.example.org. A": "b.example.org. 60 A 9.9.9.2",
			"c.example.org. A": "SERVFAIL", "c.example.org. AAAA": "SERVFAIL",
		},
		asks: map[string]string{
			"sub.zone.test. A":     "NOERROR\nsub.zone.test. 5 A 1.1.1.3\nsub.zone.test. 5 A 1.1.1.1\nsub.zone.test. 5 A 1.1.1.2",
			"sub.zone.test. AAAA":  "NOERROR\n? SOA zone.test.",
			"sub.zone.test. CNAME": "NOERROR\n? SOA zone.test.",
			"two.zone.test. A":     "NOERROR\ntwo.zone.test. 300 A 1.1.1.1",
			"two.zone.test. AAAA":  "NOERROR\ntwo.zone.test. 300 AAAA ::6",
			"two.zone.test. CNAME": "NOERROR\n? SOA zone.test.",
			"out.zone.test. A":     "NOERROR\nout.zone.test. 20 A 9.9.9.1\nout.zone.test. 20 A 9.9.9.2",
			"out.zone.test. AAAA":  "SERVFAIL",
			"same.zone.test. A":    "NOERROR\nsame.zone.test. 300 CNAME canon.zone.test.\ncanon.zone.test. 300 A 1.1.1.1",
			"zone.test. A":         "NOERROR\nzone.test. 300 A 1.1.1.1",
			"zone.test. CNAME":     "NOERROR\n? SOA zone.test.",
		},
	},
	{
		name: "E16 a chain carries the rcode of its end",
		records: `
			/skydns/test/zone/cname {"host":"nosuch.zone.test"}
			/skydns/test/zone/nodata {"host":"a.other.test"}
			/skydns/test/other/a {"host":"::1"}`,
		asks: map[string]string{
			"cname.zone.test. A":     "NXDOMAIN\ncname.zone.test. 300 CNAME nosuch.zone.test.\n? SOA zone.test.",
			"nodata.zone.test. A":    "NOERROR\nnodata.zone.test. 300 CNAME a.other.test.\n? SOA other.test.",
			"nodata.zone.test. AAAA": "NOERROR\nnodata.zone.test. 300 CNAME a.other.test.\na.other.test. 300 AAAA ::1",
		},
	},
	{
		name: "E17 the rcode comes from outside as well",
		records: `
			/skydns/test/zone/none {"host":"none.example.org"}
			/skydns/test/zone/fail {"host":"fail.example.org"}
			/skydns/test/zone/refused {"host":"refused.example.org"}`,
		outside: answers{"none.example.org. A": "NXDOMAIN", "fail.example.org. A": "SERVFAIL"},
		asks: map[string]string{
			"none.zone.test. A":    "NXDOMAIN\nnone.zone.test. 300 CNAME none.example.org.",
			"fail.zone.test. A":    "SERVFAIL\nfail.zone.test. 300 CNAME fail.example.org.",
			"refused.zone.test. A": "NOERROR\nrefused.zone.test. 300 CNAME refused.example.org.",
		},
	},
	{
		name: "E17 nobody to ask leaves the rest of the chain to the client",
		records: `
			/skydns/test/zone/www {"host":"ext.example.org"}`,
		asks: map[string]string{"www.zone.test. A": "NOERROR\nwww.zone.test. 300 CNAME ext.example.org."},
	},
	{
		name: "chains never loop",
		records: `
			/skydns/test/zone/a {"host":"b.zone.test"}
			/skydns/test/zone/b {"host":"a.zone.test"}
			/skydns/test/zone/self {"host":"self.zone.test"}
			/skydns/test/zone/kin/x {"host":"y.kin.zone.test"}
			/skydns/test/zone/kin/y {"host":"1.1.1.1"}`,
		asks: map[string]string{
			"a.zone.test. A":    "NOERROR\na.zone.test. 300 CNAME b.zone.test.\nb.zone.test. 300 CNAME a.zone.test.",
			"self.zone.test. A": "NOERROR\n? SOA zone.test.",
			"kin.zone.test. A":  "NOERROR\nkin.zone.test. 300 A 1.1.1.1",
		},
	},
	{
		name: "E19 weights are relative and at least 1, priority defaults to 10",
		records: `
			/skydns/test/zone/svc/a {"host":"a.zone.test","port":1,"weight":65535}
			/skydns/test/zone/svc/b {"host":"b.zone.test","port":2,"weight":1}
			/skydns/test/zone/svc/c {"host":"c.zone.test","port":3,"priority":20}
			/skydns/test/zone/svc/d {"host":"d.zone.test","port":4,"priority":20}`,
		asks: map[string]string{
			"svc.zone.test. SRV": `NOERROR
				svc.zone.test. 300 SRV 10 99 1 a.zone.test.
				svc.zone.test. 300 SRV 10 1 2 b.zone.test.
				svc.zone.test. 300 SRV 20 50 3 c.zone.test.
				svc.zone.test. 300 SRV 20 50 4 d.zone.test.`,
		},
	},
	{
		name: "E19 type and rdata say what the numbers of SkyDNS cannot",
		records: `
			/skydns/test/zone/svc/a {"type":"SRV","rdata":"0 0 80 a.zone.test."}
			/skydns/test/zone/svc/m {"type":"MX","rdata":"0 a.zone.test."}
			/skydns/test/zone/a {"host":"1.1.1.1"}`,
		asks: map[string]string{
			"svc.zone.test. SRV": "NOERROR\nsvc.zone.test. 300 SRV 0 0 80 a.zone.test.\n+ a.zone.test. 300 A 1.1.1.1",
			"svc.zone.test. MX":  "NOERROR\nsvc.zone.test. 300 MX 0 a.zone.test.\n+ a.zone.test. 300 A 1.1.1.1",
		},
	},
	{
		name: "E20 a record without a port answers SRV with port 0",
		records: `
			/skydns/test/zone/svc/a {"host":"10.0.0.1"}`,
		asks: map[string]string{
			"svc.zone.test. SRV": "NOERROR\nsvc.zone.test. 300 SRV 10 100 0 a.svc.zone.test.\n+ a.svc.zone.test. 300 A 10.0.0.1",
		},
	},
	{
		name: "E20b the same service under two keys is one record",
		records: `
			/skydns/test/zone/svc/a {"host":"a.zone.test","port":1}
			/skydns/test/zone/svc/b {"host":"a.zone.test","port":1}
			/skydns/test/zone/mx/a {"host":"a.zone.test","mail":true}
			/skydns/test/zone/mx/b {"host":"a.zone.test","mail":true}
			/skydns/test/zone/dup/a {"host":"10.0.0.1"}
			/skydns/test/zone/dup/b {"host":"10.0.0.1"}`,
		asks: map[string]string{
			"svc.zone.test. SRV": "NOERROR\nsvc.zone.test. 300 SRV 10 50 1 a.zone.test.",
			"mx.zone.test. MX":   "NOERROR\nmx.zone.test. 300 MX 10 a.zone.test.",
			"dup.zone.test. A":   "NOERROR\ndup.zone.test. 300 A 10.0.0.1",
		},
	},
	{
		name: "E20c glue of both families",
		records: `
			/skydns/test/zone/mx {"host":"m.zone.test","mail":true}
			/skydns/test/zone/m/1 {"host":"2001:db8::1"}
			/skydns/test/zone/m/2 {"host":"10.0.0.1"}`,
		asks: map[string]string{
			"mx.zone.test. MX": `NOERROR
				mx.zone.test. 300 MX 10 m.zone.test.
				+ m.zone.test. 300 A 10.0.0.1
				+ m.zone.test. 300 AAAA 2001:db8::1`,
			"mx.zone.test. SRV": `NOERROR
				mx.zone.test. 300 SRV 10 100 0 m.zone.test.
				+ m.zone.test. 300 A 10.0.0.1
				+ m.zone.test. 300 AAAA 2001:db8::1`,
		},
	},
	{
		name: "E22 a targetstrip beyond the name leaves it alone",
		records: `
			/skydns/test/zone/svc/a {"host":"10.0.0.1","targetstrip":9223372036854775807}
			/skydns/test/zone/one/a {"host":"10.0.0.1","targetstrip":1}`,
		asks: map[string]string{
			"svc.zone.test. SRV": "NOERROR\nsvc.zone.test. 300 SRV 10 100 0 a.svc.zone.test.\n+ a.svc.zone.test. 300 A 10.0.0.1",
			"one.zone.test. SRV": "NOERROR\none.zone.test. 300 SRV 10 100 0 one.zone.test.\n+ one.zone.test. 300 A 10.0.0.1",
		},
	},
	{
		name: "E23 the shortest key with a group decides",
		records: `
			/skydns/test/zone/dc/a/deep {"host":"10.0.0.1","group":"g1"}
			/skydns/test/zone/dc/b {"host":"10.0.0.2"}
			/skydns/test/zone/dc/c {"host":"10.0.0.3","group":"g2"}
			/skydns/test/zone/odd/a {"host":"10.0.0.1","group":"g1"}
			/skydns/test/zone/odd/b {"host":"10.0.0.2","group":"g2"}`,
		asks: map[string]string{
			"dc.zone.test. A":  "NOERROR\ndc.zone.test. 300 A 10.0.0.2\ndc.zone.test. 300 A 10.0.0.3",
			"odd.zone.test. A": "NOERROR\nodd.zone.test. 300 A 10.0.0.1\nodd.zone.test. 300 A 10.0.0.2",
		},
	},
	{
		name: "E24c one TTL an RRset",
		records: `
			/skydns/test/zone/svc/a {"host":"10.0.0.1","ttl":10}
			/skydns/test/zone/svc/b {"host":"10.0.0.2","ttl":600}`,
		asks: map[string]string{
			"svc.zone.test. A": "NOERROR\nsvc.zone.test. 10 A 10.0.0.1\nsvc.zone.test. 10 A 10.0.0.2",
		},
	},
	{
		name: "E34 names and keys are folded",
		records: `
			/skydns/test/zone/WWW {"host":"1.1.1.1"}`,
		asks: map[string]string{
			"www.zone.test. A": "NOERROR\nwww.zone.test. 300 A 1.1.1.1",
			"wWw.ZONE.test. A": "NOERROR\nwWw.ZONE.test. 300 A 1.1.1.1",
		},
	},
	{
		name: "E35 PTR reads the keys below the name",
		records: `
			/skydns/arpa/in-addr/172/26/0/2/41d1e77d {"host":"w1"}
			/skydns/arpa/in-addr/172/26/0/2/51d1e77d {"host":"w2"}
			/skydns/arpa/in-addr/172/26/0/3 {"host":"w3.zone.test."}`,
		asks: map[string]string{
			"2.0.26.172.in-addr.arpa. PTR": "NOERROR\n2.0.26.172.in-addr.arpa. 300 PTR w1.\n2.0.26.172.in-addr.arpa. 300 PTR w2.",
			"3.0.26.172.in-addr.arpa. PTR": "NOERROR\n3.0.26.172.in-addr.arpa. 300 PTR w3.zone.test.",
			"4.0.26.172.in-addr.arpa. PTR": "NXDOMAIN\n? SOA in-addr.arpa.",
			"0.26.172.in-addr.arpa. PTR":   "NOERROR\n? SOA in-addr.arpa.",
		},
	},
}

// Every row of what users of the in-tree plugin hit, that is about an answer.
func TestRows(t *testing.T) {
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			check(t, tt, "zone.test.", "other.test.", "in-addr.arpa.")
		})
	}
}

func check(t *testing.T, tt row, zones ...string) {
	t.Helper()
	m := newMemory(t, zones, tt.records)
	s := Defaults()
	if tt.settings != nil {
		tt.settings(&s)
	}
	for question, w := range tt.asks {
		if got := show(ask(t, m, s, question, tt.outside)); got != want(w) {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", question, got, want(w))
		}
	}
}
