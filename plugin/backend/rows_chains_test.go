package backend

// chainRows are about hosts that are names.
var chainRows = []row{
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
}
