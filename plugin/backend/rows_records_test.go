package backend

// recordRows are about what records become.
var recordRows = []row{
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
