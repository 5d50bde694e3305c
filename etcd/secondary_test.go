package etcd_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/etcdtest"
	"github.com/trident-dns/trident/internal/freeport"
	"github.com/trident-dns/trident/internal/proctest"
	"github.com/trident-dns/trident/test/server"

	_ "github.com/coredns/coredns/plugin/transfer"
	"github.com/miekg/dns"
)

// knot starts a Knot DNS that is secondary for zones of primary, and returns its process.
func knot(t *testing.T, bin, addr, primary string, zones ...string) *proctest.Process {
	dir := t.TempDir()
	var list strings.Builder
	for _, zone := range zones {
		fmt.Fprintf(&list, "  - domain: %s\n", zone)
	}
	host, port, _ := strings.Cut(primary, ":")
	at, atPort, _ := strings.Cut(addr, ":")
	conf := proctest.WriteFile(t, dir, "knot.conf", `
server:
    rundir: "%[1]s"
    listen: %[2]s@%[3]s
log:
  - target: stdout
    any: info
database:
    storage: "%[1]s"
remote:
  - id: primary
    address: %[4]s@%[5]s
acl:
  - id: notify
    address: 127.0.0.1
    action: notify
template:
  - id: default
    storage: "%[1]s"
    master: primary
    acl: notify
    semantic-checks: on
    zonefile-load: none
    journal-content: none
zone:
%[6]s`, dir, at, atPort, host, port, list.String())
	return proctest.Start(t, dir, bin, "-c", conf)
}

// nsd starts an NSD that is secondary for zones of primary.
func nsd(t *testing.T, bin, addr, primary string, zones ...string) *proctest.Process {
	dir := t.TempDir()
	host, port, _ := strings.Cut(primary, ":")
	at, atPort, _ := strings.Cut(addr, ":")
	var list strings.Builder
	for _, zone := range zones {
		fmt.Fprintf(&list, "zone:\n  name: %s\n  request-xfr: %s@%s NOKEY\n  allow-notify: 127.0.0.1 NOKEY\n", zone, host, port)
	}
	conf := proctest.WriteFile(t, dir, "nsd.conf", `
server:
  ip-address: %[2]s@%[3]s
  username: ""
  database: ""
  zonesdir: "%[1]s"
  zonelistfile: "%[1]s/zone.list"
  xfrdfile: "%[1]s/xfrd.state"
  xfrdir: "%[1]s"
  pidfile: ""
  server-count: 1
  verbosity: 2
remote-control:
  control-enable: no
%[4]s`, dir, at, atPort, list.String())
	return proctest.Start(t, dir, bin, "-d", "-c", conf)
}

// ask asks a server elsewhere, "" when it does not answer.
func askAt(addr, name string, qtype uint16) string {
	m := new(dns.Msg)
	m.SetQuestion(name, qtype)
	c := dns.Client{Timeout: time.Second}
	r, _, err := c.Exchange(m, addr)
	if err != nil {
		return ""
	}
	return answer(r)
}

func TestSecondariesFollowChangesInEtcd(t *testing.T) {
	for _, tt := range []struct {
		bin   string
		start func(t *testing.T, bin, addr, primary string, zones ...string) *proctest.Process
		ixfr  string // what the log says of an incremental transfer; "": nothing
	}{
		{"knotd", knot, "IXFR, incoming, remote 127.0.0.1"},
		{"nsd", nsd, ""},
	} {
		t.Run(tt.bin, func(t *testing.T) {
			bin, err := exec.LookPath(tt.bin)
			if err != nil {
				t.Skipf("%s is not installed: the test needs a secondary to follow the zone", tt.bin)
			}
			e := etcdtest.Start(t)
			put(e, `
				/skydns/test/zone/dns/ns/a {"host":"127.0.0.1"}
				/skydns/test/zone/a {"host":"10.0.0.1"}
				/skydns/test/zone/b/1 {"host":"10.0.0.2","port":80}
				/skydns/test/zone/b/2 {"host":"10.0.0.3","port":80}
				/skydns/test/zone/gone {"text":"soon"}
				/skydns/test/zone/alias {"host":"a.zone.test"}
				/skydns/arpa/in-addr/10/0/0/1 {"host":"a.zone.test"}`)
			primary, secondary := freeport.Addr(t), freeport.Addr(t)
			_, port, _ := strings.Cut(primary, ":")
			s := server.StartUnchecked(t, fmt.Sprintf(`.:%s {
				etcd zone.test 10.in-addr.arpa {
					endpoint %s
				}
				transfer {
					to * %s
				}
			}`, port, e.Endpoint(), secondary))
			loaded(t, s, "zone.test.")
			loaded(t, s, "10.in-addr.arpa.")
			p := tt.start(t, bin, secondary, primary, "zone.test", "10.in-addr.arpa")
			follows := func(name string, qtype uint16, want string) {
				t.Helper()
				settledWithin(t, 40*time.Second, func() string {
					if got := askAt(secondary, name, qtype); got != want {
						return fmt.Sprintf("%s %s: got %s, want %s", name, dns.TypeToString[qtype], got, want)
					}
					return ""
				})
			}
			follows("a.zone.test.", dns.TypeA, "NOERROR [10.0.0.1]")
			follows("1.b.zone.test.", dns.TypeSRV, "NOERROR [10 100 80 1.b.zone.test.]")
			follows("alias.zone.test.", dns.TypeA, "NOERROR [10.0.0.1 a.zone.test.]")
			follows("gone.zone.test.", dns.TypeTXT, `NOERROR ["soon"]`)
			follows("1.0.0.10.in-addr.arpa.", dns.TypePTR, "NOERROR [a.zone.test.]")

			e.Put("/skydns/test/zone/new", `{"host":"10.0.0.9"}`)
			follows("new.zone.test.", dns.TypeA, "NOERROR [10.0.0.9]")
			e.Put("/skydns/test/zone/a", `{"host":"10.0.0.11","ttl":60}`)
			e.Delete("/skydns/test/zone/gone")
			follows("a.zone.test.", dns.TypeA, "NOERROR [10.0.0.11]")
			follows("gone.zone.test.", dns.TypeTXT, "NXDOMAIN []")
			if tt.ixfr != "" && !strings.Contains(p.Output(), tt.ixfr) {
				t.Error("changes did not come as such")
			}
			// What the secondary has in the end is what the primary tells anew.
			if a, b := axfr(t, primary), axfr(t, secondary); tt.bin == "nsd" && len(b) == 0 {
				t.Log("this NSD hands nothing on")
			} else if len(b) > 0 && !slices.Equal(a, b) {
				t.Errorf("the primary has\n%s\nthe secondary\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
			}
		})
	}
}

// axfr transfers the zone, and returns its records, sorted, each once; none when that is refused.
func axfr(t *testing.T, addr string) []string {
	t.Helper()
	m := new(dns.Msg)
	m.SetAxfr("zone.test.")
	return transferred(t, addr, m)
}

func transferred(t *testing.T, addr string, m *dns.Msg) (lines []string) {
	t.Helper()
	tr := &dns.Transfer{DialTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second}
	parts, err := tr.In(m, addr)
	if err != nil {
		t.Fatal(err)
	}
	for part := range parts {
		if part.Error != nil {
			return nil
		}
		for _, rr := range part.RR {
			lines = append(lines, strings.ReplaceAll(rr.String(), "\t", " "))
		}
	}
	if m.Question[0].Qtype == dns.TypeAXFR {
		slices.Sort(lines)
		lines = slices.Compact(lines)
	}
	return lines
}
