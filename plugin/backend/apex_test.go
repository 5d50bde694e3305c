package backend

import "testing"

var apexRows = []row{
	{
		name: "a targetstrip beyond the name counts once in mode exact",
		records: `
			/skydns/test/zone/svc {"host":"a.zone.test","port":1,"targetstrip":9}
			/skydns/test/zone/svc/x {"host":"b.zone.test","port":2,"targetstrip":1}`,
		settings: exact,
		asks: map[string]string{
			"svc.zone.test. SRV": "NOERROR\nsvc.zone.test. 300 SRV 10 50 1 a.zone.test.\nsvc.zone.test. 300 SRV 10 50 2 b.zone.test.",
		},
	},
	{
		name: "records of dns/apex answer for the apex, whatever their type",
		records: `
			/skydns/test/zone/dns/apex/1 {"host":"10.0.0.1"}
			/skydns/test/zone/dns/apex/2 {"host":"::1","text":"apex"}
			/skydns/test/zone/dns/apex/3 {"host":"mx.zone.test","mail":true}
			/skydns/test/zone/dns/apex/4 {"type":"CAA","rdata":"0 issue \"ca.example\""}
			/skydns/test/zone/mx {"host":"10.0.0.2"}
			/skydns/test/zone/www {"type":"CAA","rdata":"0 issue \"other.example\""}
			/skydns/test/zone/www/txt {"text":"www"}`,
		asks: map[string]string{
			"zone.test. A":              "NOERROR\nzone.test. 300 A 10.0.0.1\nzone.test. 300 A 10.0.0.2",
			"zone.test. AAAA":           "NOERROR\nzone.test. 300 AAAA ::1",
			"zone.test. TXT":            "NOERROR\nzone.test. 300 TXT \"apex\"\nzone.test. 300 TXT \"www\"",
			"zone.test. MX":             "NOERROR\nzone.test. 300 MX 10 mx.zone.test.\n+ mx.zone.test. 300 A 10.0.0.2",
			"zone.test. CAA":            "NOERROR\nzone.test. 300 CAA 0 issue \"ca.example\"",
			"www.zone.test. CAA":        "NOERROR\nwww.zone.test. 300 CAA 0 issue \"other.example\"",
			"4.apex.dns.zone.test. CAA": "NOERROR\n4.apex.dns.zone.test. 300 CAA 0 issue \"ca.example\"",
			"apex.dns.zone.test. A":     "NOERROR\napex.dns.zone.test. 300 A 10.0.0.1\napex.dns.zone.test. 300 A 10.0.0.2",
			"dns.zone.test. A":          "NOERROR\n? SOA zone.test.",
			"nothing.dns.zone.test. A":  "NXDOMAIN\n? SOA zone.test.",
		},
	},
	{
		name: "in mode exact the apex has its own records and those of dns/apex",
		records: `
			/skydns/test/zone/dns/apex/1 {"host":"10.0.0.1"}
			/skydns/test/zone/8f3a {"host":"10.0.0.2","targetstrip":1}
			/skydns/test/zone/8f3b {"text":"own","targetstrip":1}
			/skydns/test/zone/www {"host":"10.0.0.3","text":"www"}`,
		settings: exact,
		asks: map[string]string{
			"zone.test. A":   "NOERROR\nzone.test. 300 A 10.0.0.1\nzone.test. 300 A 10.0.0.2",
			"zone.test. TXT": "NOERROR\nzone.test. 300 TXT \"own\"",
			"zone.test. SRV": "NOERROR\nzone.test. 300 SRV 10 50 0 zone.test.\nzone.test. 300 SRV 10 50 0 1.apex.dns.zone.test.\n" +
				"+ zone.test. 300 A 10.0.0.2\n+ 1.apex.dns.zone.test. 300 A 10.0.0.1",
		},
	},
	{
		name: "stub zones and name servers are no part of answers for names above them",
		records: `
			/skydns/test/zone/dns/stub/org/example/1 {"host":"10.0.0.1","port":53}
			/skydns/test/zone/dns/ns/a {"host":"10.0.0.2"}
			/skydns/test/zone/dns/ns/b/1 {"host":"10.0.0.3","targetstrip":1}
			/skydns/test/zone/dns/ns/b/2 {"host":"::3","targetstrip":1}
			/skydns/test/zone/www {"host":"10.0.0.4"}
			/skydns/test/zone/dns/host {"host":"10.0.0.5"}`,
		asks: map[string]string{
			"zone.test. A": "NOERROR\nzone.test. 300 A 10.0.0.5\nzone.test. 300 A 10.0.0.4",
			"zone.test. SRV": "NOERROR\nzone.test. 300 SRV 10 50 0 host.dns.zone.test.\nzone.test. 300 SRV 10 50 0 www.zone.test.\n" +
				"+ host.dns.zone.test. 300 A 10.0.0.5\n+ www.zone.test. 300 A 10.0.0.4",
			"dns.zone.test. A":    "NOERROR\ndns.zone.test. 300 A 10.0.0.5",
			"ns.dns.zone.test. A": "NOERROR\nns.dns.zone.test. 300 A 10.0.0.2\nns.dns.zone.test. 300 A 10.0.0.3",
			"zone.test. NS": `NOERROR
				zone.test. 300 NS a.ns.dns.zone.test.
				zone.test. 300 NS b.ns.dns.zone.test.
				+ a.ns.dns.zone.test. 300 A 10.0.0.2
				+ b.ns.dns.zone.test. 300 A 10.0.0.3
				+ b.ns.dns.zone.test. 300 AAAA ::3`,
			"b.ns.dns.zone.test. AAAA": "NOERROR\nb.ns.dns.zone.test. 300 AAAA ::3",
		},
	},
	{
		name: "records of type NS of the apex are its own, and no cut",
		records: `
			/skydns/test/zone/dns/apex/1 {"type":"NS","rdata":"ns1.example.net."}
			/skydns/test/zone/8f3a {"type":"NS","rdata":"ns2.example.net.","targetstrip":1}
			/skydns/test/zone/www {"host":"10.0.0.4"}`,
		asks: map[string]string{
			"zone.test. NS":    "NOERROR\nzone.test. 300 NS ns1.example.net.\nzone.test. 300 NS ns2.example.net.",
			"www.zone.test. A": "NOERROR\nwww.zone.test. 300 A 10.0.0.4",
		},
	},
	{
		name: "a question wildcard is none where the zone itself has the label",
		records: `
			/skydns/test/any/a {"host":"10.0.0.1"}
			/skydns/test/zone/a {"host":"10.0.0.2"}`,
		asks: map[string]string{"a.any.test. A": "NOERROR\na.any.test. 300 A 10.0.0.1"},
	},
	{
		name: "slashes of a question are no slashes of a key",
		records: `
			/skydns/test/zone/a/b {"host":"10.0.0.1"}`,
		asks: map[string]string{"a/b.zone.test. A": "NXDOMAIN\n? SOA zone.test."},
	},
	{
		name: "text stands for itself, whatever is in it",
		records: `
			/skydns/test/zone/t {"text":"C:\\new \"x\" \\065"}`,
		asks: map[string]string{"t.zone.test. TXT": "NOERROR\n" + `t.zone.test. 300 TXT "C:\\new \"x\" \\065"`},
	},
	{
		name: "a CNAME of type and rdata answers as one only",
		records: `
			/skydns/test/zone/alias {"type":"CNAME","rdata":"www.zone.test."}
			/skydns/test/zone/www {"host":"10.0.0.4"}
			/skydns/test/zone/https {"type":"HTTPS","rdata":"1 . alpn=\"h2\""}
			/skydns/test/zone/alias2 {"host":"https.zone.test"}`,
		asks: map[string]string{
			"alias.zone.test. A":      "NOERROR\nalias.zone.test. 300 CNAME www.zone.test.\nwww.zone.test. 300 A 10.0.0.4",
			"alias.zone.test. SRV":    "NOERROR\n? SOA zone.test.",
			"alias2.zone.test. HTTPS": "NOERROR\nalias2.zone.test. 300 CNAME https.zone.test.\nhttps.zone.test. 300 HTTPS 1 . alpn=\"h2\"",
			"alias2.zone.test. DS":    "NOERROR\n? SOA zone.test.",
			"alias2.zone.test. ANY":   "NOERROR\n? SOA zone.test.",
		},
	},
}

func TestApexAndRoles(t *testing.T) {
	for _, tt := range apexRows {
		t.Run(tt.name, func(t *testing.T) {
			check(t, tt, "zone.test.", "any.test.")
		})
	}
}

// E11: the root is a zone like any other.
func TestE11RootZone(t *testing.T) {
	check(t, row{
		records: `
			/skydns/dns/ns/a {"host":"10.0.0.2"}
			/skydns/dns/apex/a {"host":"10.0.0.3"}
			/skydns/test/a {"host":"10.0.0.1"}
			/skydns/*/x {"host":"10.0.0.9","targetstrip":1}`,
		asks: map[string]string{
			". NS":         "NOERROR\n. 300 NS a.ns.dns.\n+ a.ns.dns. 300 A 10.0.0.2",
			". SOA":        "NOERROR\nSOA .",
			". A":          "NOERROR\n. 300 A 10.0.0.3",
			"a.test. A":    "NOERROR\na.test. 300 A 10.0.0.1",
			"test. A":      "NOERROR\ntest. 300 A 10.0.0.1",
			"b.test. A":    "NXDOMAIN\n? SOA .",
			"other. A":     "NOERROR\nother. 300 A 10.0.0.9",
			"*. A":         "NOERROR\n*. 300 A 10.0.0.9\n*. 300 A 10.0.0.1",
			"a.ns.dns. A":  "NOERROR\na.ns.dns. 300 A 10.0.0.2",
			"any.other. A": "NXDOMAIN\n? SOA .",
		},
	}, ".")
}
