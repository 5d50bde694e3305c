package etcd

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trident-dns/trident/plugin/backend"

	"github.com/trident-dns/trident/etcd/index"
	"github.com/trident-dns/trident/etcd/mirror"
)

func TestStubZonesAreRead(t *testing.T) {
	var many strings.Builder
	for i := range maxStubServers + 1 {
		fmt.Fprintf(&many, "/skydns/test/zone/dns/stub/many/%02d {\"host\":\"192.0.2.%d\"}\n", i, i)
	}
	x := index.New("/skydns", "test/zone", nil)
	x.Zone().Reset(mirror.Position{Revision: 1}, pairs(`
		/skydns/test/zone/dns/stub/com/corp/1 {"host":"192.0.2.1","port":53}
		/skydns/test/zone/dns/stub/com/corp/2 {"host":"2001:db8::1","port":5353}
		/skydns/test/zone/dns/stub/com/corp/3 {"host":"192.0.2.1"}
		/skydns/test/zone/dns/stub/com/Mixed/192.0.2.2 {"host":"192.0.2.2"}
		/skydns/test/zone/dns/stub/name/1 {"host":"ns.example.org"}
		/skydns/test/zone/dns/stub/test/zone/1 {"host":"192.0.2.1"}
		/skydns/test/zone/dns/stub/root {"host":"192.0.2.3"}
		/skydns/test/zone/dns/stub.x {"host":"192.0.2.4"}
		/skydns/test/zone/dns/stubborn/x/y {"host":"192.0.2.5"}
		/skydns/test/zone/a/dns/stub/x/y {"host":"192.0.2.6"}`+"\n"+many.String()))
	got := stubServers{}
	bad := got.readStubs(x.Snapshot(), "/skydns", backend.NewZone("zone.test."), map[string]bool{"zone.test.": true})
	servers := fmt.Sprint(got["corp.com."], got["mixed.com."], got["."])
	if want := "[192.0.2.1:53 [2001:db8::1]:5353] [192.0.2.2:53] [192.0.2.3:53]"; servers != want || len(got) != 4 {
		t.Errorf("got %s of %v, want %s", servers, got, want)
	}
	if len(got["many."]) != maxStubServers {
		t.Errorf("a stub zone with %d servers", len(got["many."]))
	}
	for key, want := range map[string]error{
		"/skydns/test/zone/dns/stub/name/1":      errStubHost,
		"/skydns/test/zone/dns/stub/test/zone/1": errStubOwn,
		"/skydns/test/zone/dns/stub/many/16":     errStubMany,
	} {
		if !errors.Is(bad[key], want) {
			t.Errorf("%s: %v, want %v", key, bad[key], want)
		}
		delete(bad, key)
	}
	if len(bad) != 0 {
		t.Errorf("of no use as well: %v", bad)
	}
}

func TestStubZonesAreBounded(t *testing.T) {
	var lines strings.Builder
	for i := range maxStubZones + 5 {
		fmt.Fprintf(&lines, "/skydns/test/zone/dns/stub/z%04d/ns {\"host\":\"192.0.2.1\"}\n", i)
	}
	x := index.New("/skydns", "test/zone", nil)
	x.Zone().Reset(mirror.Position{Revision: 1}, pairs(lines.String()))
	got := stubServers{}
	bad := got.readStubs(x.Snapshot(), "/skydns", backend.NewZone("zone.test."), nil)
	if len(got) != maxStubZones || len(bad) != 5 {
		t.Errorf("%d stub zones, %d left out", len(got), len(bad))
	}
}
