package hosts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/hosts/internal/table"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

// eventually polls until ok. Whatever it waits for has its own, much shorter, times.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not %s", what)
		}
	}
}

// Blocks that read the same file, in whatever zones and with whatever else, read it once.
func TestBlocksShareWhatTheyRead(t *testing.T) {
	file := write(t, "10.0.0.1 a.example.org\n10.0.0.2 b.example.net\n")
	s := server.Start(t, fmt.Sprintf(`
example.org:0 {
    hosts %[1]s {
        10.0.0.9 own.example.org
    }
}
example.net:0 {
    hosts %[1]s {
        ttl 5
        fallthrough
    }
}
`, file))
	if n := pool.Len(); n != 2 { // the file, and the inline lines
		t.Errorf("%d sources, want 2", n)
	}
	check(t, s, []question{
		{"a.example.org.", dns.TypeA, "10.0.0.1"},
		{"own.example.org.", dns.TypeA, "10.0.0.9"},
	})
}

// A reload, also one that fails, keeps what is loaded: nothing is read again, no question is answered from nothing.
func TestAReloadOfTheCorefileReadsNothingAgain(t *testing.T) {
	file := write(t, "10.0.0.1 a.example.org\n")
	corefile := func(body string) string {
		return fmt.Sprintf("example.org:0 {\n hosts %s {\n%s\n}\n}\n", file, body)
	}
	s := server.Start(t, corefile(""))
	loadedAt := value(t, lastAttempt.WithLabelValues(file))
	for range 5 {
		if err := s.Reload(t, corefile("ttl 7")); err != nil {
			t.Fatal(err)
		}
		if err := s.Reload(t, corefile("ttl 0")); err == nil {
			t.Fatal("the reload was meant to fail")
		}
		if err := s.Reload(t, corefile("")+"example.org:0 {\n hosts /dev/null\n}\n"); err == nil {
			t.Fatal("the reload was meant to fail") // after set-up: two blocks for one zone
		}
	}
	m := s.Ask(t, "a.example.org.", dns.TypeA)
	if len(m.Answer) != 1 || m.Answer[0].Header().Ttl != 7 {
		t.Errorf("got %v", m.Answer)
	}
	if got := value(t, lastAttempt.WithLabelValues(file)); got != loadedAt {
		t.Error("the file was read again")
	}
	if n := pool.Len(); n != 1 {
		t.Errorf("%d sources, want 1", n)
	}
}

func TestSeveralBlocksAreAskedInOrder(t *testing.T) {
	first, second := writeAs(t, "first", "10.0.0.1 a.example.org\n"), writeAs(t, "second", "10.0.0.2 a.example.org\n10.0.0.2 b.example.org\n")
	third := writeAs(t, "third", "10.0.0.3 c.example.net\n10.0.0.3 b.example.org\n")
	s := server.Start(t, fmt.Sprintf(`.:0 {
    hosts %s example.org {
        fallthrough
    }
    hosts %s example.org
    hosts %s {
        ttl 5
        fallthrough
    }
    whoami
}
`, first, second, third))
	check(t, s, []question{
		{"a.example.org.", dns.TypeA, "10.0.0.1"},
		{"b.example.org.", dns.TypeA, "10.0.0.2"},
		{"nowhere.example.org.", dns.TypeA, "SERVFAIL"}, // the second block says so
		{"c.example.net.", dns.TypeA, "10.0.0.3"},
		{"nowhere.example.net.", dns.TypeA, fellThrough},
	})
}

// A server starts whatever is wrong with its files, and takes them when they are right.
func TestTheServerStartsWithoutItsFiles(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir+"/missing", fmt.Sprintf("file %[1]s/also %[1]s/*.none\nblock %[1]s/list\nreload 10ms\n10.0.0.1 a", dir))
	check(t, s, []question{
		{"a.", dns.TypeA, "10.0.0.1"},
		{"b.", dns.TypeA, "SERVFAIL"},
	})
	if err := os.WriteFile(dir+"/missing", []byte("10.0.0.2 b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/list", []byte("ads.example\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	eventually(t, "answered", func() bool { return describe(s.Ask(t, "b.", dns.TypeA)) == "10.0.0.2" })
	eventually(t, "blocked", func() bool { return describe(s.Ask(t, "ads.example.", dns.TypeA)) == "0.0.0.0" })
}

func TestSourcesAreJoined(t *testing.T) {
	a, b := writeAs(t, "a", "10.0.0.1 n\n10.0.0.2 *.w\n"), writeAs(t, "b", "10.0.0.3 n\n::3 n\n10.0.0.1 n\n10.0.0.4 x.w\n10.0.0.1 m\n")
	s := serve(t, a, fmt.Sprintf("file %s\n10.0.0.5 n\n", b))
	check(t, s, []question{
		{"n.", dns.TypeA, "10.0.0.1 10.0.0.3 10.0.0.5"},
		{"n.", dns.TypeAAAA, "::3"},
		{"x.w.", dns.TypeA, "10.0.0.4"},
		{"y.w.", dns.TypeA, "10.0.0.2"},
		{"1.0.0.10.in-addr.arpa.", dns.TypePTR, "n. m."},
	})
}

// The names of an address are bounded, so that its PTR costs no more however long a list is.
func TestAnAddressOfManyNames(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "0.0.0.0 n%d.example\n", i)
	}
	before := value(t, limited.WithLabelValues("ptr"))
	s := serve(t, write(t, text.String()), "")
	m := new(dns.Msg)
	m.SetQuestion("0.0.0.0.in-addr.arpa.", dns.TypePTR)
	r := s.Exchange(t, m, "tcp")
	if len(r.Answer) != maxPTR {
		t.Fatalf("%d names, want %d", len(r.Answer), maxPTR)
	}
	for i, rr := range r.Answer {
		if got, want := rr.(*dns.PTR).Ptr, fmt.Sprintf("n%d.example.", i); got != want {
			t.Errorf("name %d is %s, want %s", i, got, want)
		}
	}
	if got := value(t, limited.WithLabelValues("ptr")); got != before+1 {
		t.Errorf("the limit was counted %v times", got-before)
	}
}

// The addresses of a name are bounded over all files, so that its answer fits into a message and costs no more however
// many files give it some.
func TestANameWithManyAddressesInEachOfManyFiles(t *testing.T) {
	const files = 3
	dir := t.TempDir()
	for f := range files {
		var text strings.Builder
		text.WriteString("10.9.9.9 big.example\n") // the same one in each
		for i := range table.MaxAddrs / 2 {
			fmt.Fprintf(&text, "10.%d.%d.%d big.example\n", f, i>>8, i&255)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.hosts", f)), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before := value(t, limited.WithLabelValues("address"))
	s := serve(t, "", "file "+dir)
	m := new(dns.Msg)
	m.SetQuestion("big.example.", dns.TypeA)
	r := s.Exchange(t, m, "tcp")
	seen := make(map[string]bool)
	for _, rr := range r.Answer {
		seen[rr.(*dns.A).A.String()] = true
	}
	if len(r.Answer) != table.MaxAddrs || len(seen) != table.MaxAddrs {
		t.Errorf("%d records with %d addresses, want %d", len(r.Answer), len(seen), table.MaxAddrs)
	}
	if got := value(t, limited.WithLabelValues("address")); got != before+1 {
		t.Errorf("the limit was counted %v times", got-before)
	}
}
