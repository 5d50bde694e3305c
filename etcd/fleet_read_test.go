package etcd

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/miekg/dns"
)

func TestTheObjectInEtcdIsRead(t *testing.T) {
	for _, tt := range []struct {
		data string
		want string // the configuration
		bad  []string
	}{
		{`{}`, `{0 0 0  0 false []}`, nil},
		{`{"ttl":60,"min_ttl":"30","priority":5,"ndots":3,"no_rec":true,"hostmaster":"a.b@c.d"}`,
			`{60 30 5 a\.b.c.d. 3 true []}`, nil},
		{`{"TTL":60,"Ndot":1}`, `{60 0 0  1 false []}`, nil},
		{`{"nameservers":["8.8.8.8:53","8.8.4.4","2001:db8::1","[2001:db8::2]","[2001:db8::3]:54","8.8.8.8:53"]}`,
			`{0 0 0  0 false [8.8.8.8:53 8.8.4.4:53 [2001:db8::1]:53 [2001:db8::2]:53 [2001:db8::3]:54]}`, nil},
		{`{"nameservers":["dns.example","1.2.3.4:0","1.2.3.4"]}`, `{0 0 0  0 false [1.2.3.4:53]}`, []string{"nameservers"}},
		{`{"nameservers":"1.2.3.4","ttl":-1,"min_ttl":1.5,"priority":65536,"ndots":128,"no_rec":"x","hostmaster":5}`,
			`{0 0 0  0 false []}`, []string{"hostmaster", "min_ttl", "nameservers", "ndots", "no_rec", "priority", "ttl"}},
		{`{"dns_addr":"127.0.0.1:53","domain":"x.","rcache":5,"Etcd3":true,"nonsense":1,"read_timeout":2000000000,"ttl":9}`,
			`{9 0 0  0 false []}`, []string{"Etcd3", "dns_addr", "domain", "nonsense", "rcache", "read_timeout"}},
	} {
		c, bad, err := readFleet([]byte(tt.data))
		if err != nil {
			t.Errorf("%s: %v", tt.data, err)
		}
		if got := fmt.Sprintf("{%d %d %d %s %d %t %v}",
			c.ttl, c.minTTL, c.priority, c.hostmaster, c.ndots, c.noRec, c.nameservers); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.data, got, tt.want)
		}
		var names []string
		for name := range bad {
			names = append(names, name)
		}
		if slices.Sort(names); !slices.Equal(names, tt.bad) {
			t.Errorf("%s: of no use are %v, want %q", tt.data, bad, tt.bad)
		}
	}
	for _, data := range []string{``, `5`, `[]`, `"x"`, `{"ttl":`} {
		if _, _, err := readFleet([]byte(data)); err == nil {
			t.Errorf("%q was read as an object", data)
		}
	}
	if _, bad, _ := readFleet([]byte(`{"rcache":5}`)); !errors.Is(bad["rcache"], errNoCounterpart) {
		t.Errorf("rcache: %v", bad["rcache"])
	}
}

// Whatever is stored, what is read of it is within the bounds of each value, and what is not is told.
func FuzzFleet(f *testing.F) {
	f.Add([]byte(`{"ttl":60,"min_ttl":"30","priority":5,"ndots":3,"no_rec":true,"hostmaster":"a.b@c.d","nameservers":["8.8.8.8:53"]}`))
	f.Add([]byte(`{"ttl":-1,"nameservers":[1,"x",null],"hostmaster":"@","ndot":1e9}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, bad, err := readFleet(data)
		if err != nil && (bad != nil || c.nameservers != nil || c.hostmaster != "") {
			t.Errorf("%q: %v, and yet something was read: %v", data, err, c)
		}
		if c.ttl > math.MaxInt32 || c.minTTL > math.MaxInt32 || c.ndots < 0 || c.ndots > maxLabels || len(c.nameservers) > maxNameservers {
			t.Errorf("%q: out of bounds: %v", data, c)
		}
		if c.hostmaster != "" {
			if _, ok := dns.IsDomainName(c.hostmaster); !ok {
				t.Errorf("%q: no name: %q", data, c.hostmaster)
			}
		}
		for name, err := range bad {
			if err == nil {
				t.Errorf("%q: %s is bad for no reason", data, name)
			}
		}
	})
}
