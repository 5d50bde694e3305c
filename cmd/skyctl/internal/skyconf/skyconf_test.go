package skyconf

import (
	"errors"
	"strings"
	"testing"
)

// vars is an environment.
type vars map[string]string

func (v vars) get(name string) (string, bool) { value, ok := v[name]; return value, ok }

func TestJSONComesBeforeFlagsAndFlagsBeforeTheEnvironment(t *testing.T) {
	env := vars{"SKYDNS_ADDR": "10.0.0.1:53", "SKYDNS_DOMAIN": "env.test", "ETCD_MACHINES": "http://env:2379", "SKYDNS_NDOTS": "4"}
	c, err := Read([]string{"-domain", "Flag.test.", "--ndots=3"}, env.get, []byte(`{"ndot":5,"ttl":60}`))
	if err != nil {
		t.Fatal(err)
	}
	if c.Addr != "10.0.0.1:53" || c.Domain != "flag.test." || c.Machines != "http://env:2379" || c.NDots != 5 || c.TTL != 60 {
		t.Errorf("read %+v", c)
	}
	if c.MinTTL != 60 || c.Priority != 10 || !c.RoundRobin || !c.NSRotate {
		t.Errorf("defaults are %+v", c)
	}
}

func TestWhatTheJSONSays(t *testing.T) {
	c, err := Read(nil, vars{}.get, []byte(`{"dns_addr":"127.0.0.1:1053","domain":"a.test","nameservers":["9.9.9.9:53","1.1.1.1:53"],
		"read_timeout":3000000000,"rcache":100,"rcache_ttl":30,"round_robin":false,"hostmaster":"","surprise":1,"ndots":2}`))
	if err != nil {
		t.Fatal(err)
	}
	if c.Nameservers != "9.9.9.9:53,1.1.1.1:53" || c.ReadTimeout.Seconds() != 3 || c.RCacheTTL.Seconds() != 30 || c.RoundRobin {
		t.Errorf("read %+v", c)
	}
	if c.Hostmaster != "hostmaster@skydns.local." {
		t.Errorf("an empty value took the place of the default: %q", c.Hostmaster)
	}
	for _, part := range []string{`"surprise"`, `"ndots"`} {
		if !strings.Contains(strings.Join(c.Notes, "\n"), part) {
			t.Errorf("no note about %s: %q", part, c.Notes)
		}
	}
}

func TestWhatIsNoConfigurationIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		env  vars
		json string
	}{
		"unknown flag":      {args: []string{"-colour"}},
		"argument":          {args: []string{"serve"}},
		"number in flag":    {args: []string{"-ndots", "two"}},
		"number in env":     {env: vars{"SKYDNS_NDOTS": "two"}},
		"no JSON":           {json: "ttl=3"},
		"type in JSON":      {json: `{"ttl":{}}`},
		"range in JSON":     {json: `{"ttl":-1}`},
		"number as servers": {json: `{"nameservers":[53]}`},
	} {
		var shared []byte
		if tt.json != "" {
			shared = []byte(tt.json)
		}
		if _, err := Read(tt.args, tt.env.get, shared); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLinesOfTheCorefile(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want []string
		not  []string
	}{
		{nil, []string{".:53 {", "bind 127.0.0.1\n", "etcd skydns.local. in-addr.arpa ip6.arpa {", "path /skydns\n", "endpoint http://127.0.0.1:2379\n",
			"loadbalance\n", `match "^([^.]+\.){1,1}$"`, "forward . /etc/resolv.conf {", "ttl 3600\n"}, []string{"cache", "dnssec", "stubzones", "log\n"}},
		{[]string{"-addr", "0.0.0.0:1053", "-verbose", "-round-robin=false", "-ns-rotate=false", "-nameservers", "8.8.8.8:53,8.8.4.4:53"},
			[]string{".:1053 {", "log\n", "forward . 8.8.8.8:53 8.8.4.4:53 {", "policy sequential"}, []string{"bind", "loadbalance"}},
		{[]string{"-rcache", "500", "-rcache-ttl", "30s", "-dnssec", "Kskydns.local.+005+1", "-stubzones", "-local", "n1.skydns.local"},
			[]string{"cache 30 {", "success 500 30", "dnssec skydns.local. {", "stubzones\n", "local n1.skydns.local.\n"}, nil},
		{[]string{"-no-rec"}, []string{"REFUSED"}, []string{"forward", "template"}},
		{[]string{"-machines", "a:2379,b:2379", "-ca-cert", "/etc/my ca.pem", "-username", "sky"},
			[]string{"endpoint https://a:2379 https://b:2379", `tls "/etc/my ca.pem"`, "credentials sky {$ETCD_PASSWORD}"}, nil},
		{[]string{"-systemd"}, []string{"# - sockets are not taken over"}, nil},
		{[]string{"-ndots", "3", "-domain", "local"}, []string{"# - names of fewer than 3 labels"}, []string{"template"}},
	} {
		c, err := Read(tt.args, vars{}.get, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := c.Corefile([]string{"127.0.0.1:2379"})
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range tt.want {
			if !strings.Contains(text, part) {
				t.Errorf("%q: no %q in\n%s", tt.args, part, text)
			}
		}
		for _, part := range tt.not {
			if strings.Contains(text, "\n    "+part) || strings.Contains(text, "        "+part) {
				t.Errorf("%q: %q in\n%s", tt.args, part, text)
			}
		}
	}
}

func TestAnAddressOrDomainThatCannotBeServedIsRefused(t *testing.T) {
	for _, args := range [][]string{{"-addr", "nowhere"}, {"-domain", "."}, {"-domain", "a..b"}} {
		c, err := Read(args, vars{}.get, nil)
		if err == nil {
			_, err = c.Corefile(nil)
		}
		if !errors.Is(err, ErrConfig) {
			t.Errorf("%q: %v", args, err)
		}
	}
}
