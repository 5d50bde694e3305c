package forward

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/proctest"

	"github.com/miekg/dns"
)

// E2: resolv.conf was read once. Here it moves from one upstream to another while the server runs.
func TestUpstreamFilesAreFollowed(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	names := dnstest.New(t, naming("127.0.0.1"))
	dir := t.TempDir()
	file := proctest.WriteFile(t, dir, "resolv.conf", "nameserver %s\n", up.Addr())
	s := start(t, ".:0 {\nforward . "+file+" {\nresolver "+names.Addr().String()+"\n}\n}", up)
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")

	moved := dnstest.New(t, dnstest.A("192.0.2.2"))
	next := proctest.WriteFile(t, dir, "next", "nameserver %s\n", moved.Addr())
	if err := os.Rename(next, file); err != nil {
		t.Fatal(err)
	}
	dnstest.WaitFor(t, "the new upstream to be asked", func() bool {
		r := s.Ask(t, "example.org.", dns.TypeA)
		return len(r.Answer) == 1 && r.Answer[0].(*dns.A).A.String() == "192.0.2.2"
	})
	moved.Stop() // before the server, whose end looks for goroutines
}

func TestWatchAdoptsWhatStandsStillAndKeepsTheLastGood(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "resolv.conf")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("nameserver 10.0.0.1\n")
	b := mustParse(t, "forward . "+file)
	synctest.Test(t, func(t *testing.T) {
		var adopted [][]endpoint
		var w watch
		w.start(b, func(to []endpoint) error {
			adopted = append(adopted, to)
			return nil
		})
		tick := func() {
			time.Sleep(watchInterval)
			synctest.Wait()
		}
		for _, step := range []struct {
			text string // "-": the file is gone
			want int    // adoptions so far
		}{
			{"nameserver 10.0.0.1\n# the same\n", 0},
			{"nameserver 10.0.0.2\n", 0},                      // seen once
			{"nameserver 10.0.0.2\nnameserver 10.0.0.3\n", 0}, // still being written
			{"nameserver 10.0.0.2\nnameserver 10.0.0.3\n", 1},
			{"-", 1},
			{"", 1},
			{"nameserver nonsense/\n", 1},
			{"nameserver 10.0.0.2\nnameserver 10.0.0.3\n", 1},
			{"nameserver dns.example\n", 1},
			{"nameserver dns.example\n", 2},
		} {
			if step.text == "-" {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			} else {
				write(step.text)
			}
			tick()
			if len(adopted) != step.want {
				t.Fatalf("after %q: %d adoptions, want %d", step.text, len(adopted), step.want)
			}
		}
		w.stop() // synctest fails the test if this never returns
		want := []string{"dns://10.0.0.2:53", "dns://10.0.0.3:53"}
		if got := texts(adopted[0]); !slices.Equal(got, want) {
			t.Errorf("adopted %v, want %v", got, want)
		}
		if got := texts(adopted[1]); !slices.Equal(got, []string{"dns://dns.example:53"}) {
			t.Errorf("adopted %v", got)
		}
	})
}

func texts(list []endpoint) []string {
	var text []string
	for _, e := range list {
		text = append(text, e.String())
	}
	return text
}

func TestAdoptingLooksUpNewNamesAndForgetsOldOnes(t *testing.T) {
	names := dnstest.New(t, dnstest.Rcode(dns.RcodeNameError))
	var s script
	s.say(nil, time.Hour, "192.0.2.1")
	r, _ := followed(t, &s, "forward . dns.example {\nresolver "+names.Addr().String()+"\n}")
	dnstest.WaitFor(t, "the first look-up", func() bool { return len(lineupOf(r)) == 1 })
	before := followers.Len()
	old := r.current.Load()
	if err := r.adopt(mustParse(t, "forward . other.example 192.0.2.7").to); err != nil {
		t.Fatal(err)
	}
	if got := lineupOf(r); !slices.Contains(got, "192.0.2.7:53") || slices.Contains(got, "192.0.2.1:53") {
		t.Errorf("upstreams %v after the file named 192.0.2.7", got)
	}
	if got := followers.Len(); got != before+1 { // the test itself holds the old one
		t.Errorf("%d names are looked up, %d before", got, before)
	}
	// An error leaves everything as it is: nobody can listen on port 0.
	if err := r.adopt([]endpoint{{addr: old.members[0].udp.AddrPort().Addr()}}); err == nil {
		t.Error("an upstream that cannot be opened was adopted")
	}
	if got := lineupOf(r); !slices.Contains(got, "192.0.2.7:53") {
		t.Errorf("upstreams %v after an error", got)
	}
}
