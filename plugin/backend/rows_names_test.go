package backend

// nameRows are about which records a name has.
var nameRows = []row{
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
}
