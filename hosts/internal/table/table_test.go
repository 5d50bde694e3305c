package table

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/trident-dns/trident/hosts/internal/wire"
)

func pack(t testing.TB, name string) []byte {
	t.Helper()
	b, err := wire.Append(nil, name)
	if err != nil {
		t.Fatalf("%q: %v", name, err)
	}
	return b
}

func ask(t testing.TB, name string) *Question {
	t.Helper()
	var q Question
	if err := q.Set(name); err != nil {
		t.Fatalf("%q: %v", name, err)
	}
	return &q
}

func addrsOf(t *Table, r Ref) []netip.Addr {
	var all []netip.Addr
	for i := range t.Addrs(r) {
		all = append(all, t.Addr(r, i))
	}
	return all
}

// model is a table done the plain way.
type model struct {
	addrs map[string][]netip.Addr // by name
	names map[netip.Addr][]string
}

func (m *model) add(name string, a netip.Addr) {
	if slices.Contains(m.addrs[name], a) {
		return
	}
	m.addrs[name] = append(m.addrs[name], a)
	if !strings.HasPrefix(name, "*.") {
		m.names[a] = append(m.names[a], name)
	}
}

func (m *model) find(name string) (Match, []netip.Addr) {
	if a := m.addrs[name]; a != nil {
		return Exact, a
	}
	for other := range m.addrs {
		if name == "." || strings.HasSuffix(other, "."+name) {
			return Parent, nil
		}
	}
	return None, nil
}

// randomName draws from few labels, so that names repeat, contain each other and are wildcards.
func randomName(r *rand.Rand) string {
	labels := []string{"a", "b", "com", "org", "*", "long-label-to-be-different", `dot\.inside`}
	var b strings.Builder
	for range 1 + r.IntN(4) {
		b.WriteString(labels[r.IntN(len(labels))])
		b.WriteByte('.')
	}
	return b.String()
}

func randomAddr(r *rand.Rand) netip.Addr {
	if r.IntN(3) == 0 {
		return netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 15: byte(r.IntN(20))})
	}
	return netip.AddrFrom4([4]byte{10, 0, 0, byte(r.IntN(30))})
}

// Whatever is added, a table gives the answers of the model, for every name and address that could have been.
func TestATableAnswersAsTheModel(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		m := model{map[string][]netip.Addr{}, map[netip.Addr][]string{}}
		b := NewBuilder(r.IntN(2) * 50)
		asked := map[string]bool{".": true}
		for range r.IntN(400) {
			name, a := randomName(r), randomAddr(r)
			m.add(name, a)
			if err := b.Add(pack(t, name), a); err != nil {
				t.Fatal(err)
			}
			asked[name], asked[randomName(r)] = true, true
		}
		tab := b.Table()
		for name := range asked {
			want, wantAddrs := m.find(name)
			if len(m.addrs) == 0 {
				want = None
			}
			got, ref := tab.Find(ask(t, name).Key(0))
			if got != want {
				t.Fatalf("seed %d: %s exists as %d, want %d", seed, name, got, want)
			}
			if got == Exact && !slices.Equal(addrsOf(tab, ref), wantAddrs) {
				t.Fatalf("seed %d: %s has %v, want %v", seed, name, addrsOf(tab, ref), wantAddrs)
			}
		}
		entries := 0
		for _, a := range m.addrs {
			entries += len(a)
		}
		if tab.Entries() != entries {
			t.Fatalf("seed %d: %d entries, want %d", seed, tab.Entries(), entries)
		}
		for i := range 256 {
			checkNames(t, tab, netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), m.names)
			checkNames(t, tab, netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 15: byte(i)}), m.names)
		}
	}
}

func checkNames(t *testing.T, tab *Table, a netip.Addr, want map[netip.Addr][]string) {
	t.Helper()
	var got []string
	names := tab.Names(a)
	for i := range names.Len() {
		got = append(got, string(wire.AppendText(nil, names.At(i))))
	}
	if !slices.Equal(got, want[a]) {
		t.Fatalf("%v has the names %q, want %q", a, got, want[a])
	}
}

func TestNamesFillManyChunks(t *testing.T) {
	const n = 60000 // of 40 octets: more than two chunks
	name := func(i int) string { return fmt.Sprintf("host-with-a-long-name-%07d.example.org.", i) }
	b := NewBuilder(0)
	for i := range n {
		if err := b.Add(pack(t, name(i)), netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	if len(tab.names.arena.chunks) < 3 {
		t.Fatalf("%d chunks, the test wants three", len(tab.names.arena.chunks))
	}
	for i := range n {
		m, ref := tab.Find(ask(t, name(i)).Key(0))
		if want := (netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})); m != Exact || tab.Addr(ref, 0) != want {
			t.Fatalf("%s: %d, want %v", name(i), m, want)
		}
	}
	if m, _ := tab.Find(ask(t, name(n)).Key(0)); m != None {
		t.Errorf("%s exists as %d", name(n), m)
	}
}

func TestOneNameCannotHaveTooManyAddresses(t *testing.T) {
	b := NewBuilder(0)
	name := pack(t, "a.")
	addr := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}) }
	for i := range MaxAddrs {
		if err := b.Add(name, addr(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Add(name, addr(MaxAddrs)); !errors.Is(err, ErrTooManyAddrs) {
		t.Errorf("got %v", err)
	}
	if err := b.Add(name, addr(7)); err != nil {
		t.Errorf("an address that the name has: %v", err)
	}
	if got := b.Table().Entries(); got != MaxAddrs {
		t.Errorf("%d entries", got)
	}
}

// A list to block gives a million names the same two addresses: what they have in common is stored once.
func TestEqualAddressListsAreStoredOnce(t *testing.T) {
	b := NewBuilder(0)
	for i := range 1000 {
		name := pack(t, fmt.Sprintf("n%d.example.", i))
		for _, a := range []netip.Addr{netip.IPv4Unspecified(), netip.IPv6Unspecified()} {
			if err := b.Add(name, a); err != nil {
				t.Fatal(err)
			}
		}
	}
	if tab := b.Table(); len(tab.lists) != 3 {
		t.Errorf("%d words of lists, want a count and two addresses", len(tab.lists))
	}
}

func TestAListCoversItsNamesAndWhatIsBelow(t *testing.T) {
	b := NewListBuilder(0)
	for _, e := range []struct {
		name  string
		below bool
	}{{"exact.example.", false}, {"below.example.", true}, {"both.example.", false}, {"both.example.", true}, {"zip.", true}} {
		if err := b.Add(pack(t, e.name), e.below); err != nil {
			t.Fatal(err)
		}
	}
	l := b.List()
	if l.Len() != 4 {
		t.Errorf("%d names, want 4", l.Len())
	}
	for name, want := range map[string]bool{
		"exact.example.": true, "EXACT.example.": true, "x.exact.example.": false,
		"below.example.": true, "x.below.example.": true, "x.y.z.below.example.": true, "xbelow.example.": false,
		"both.example.": true, "x.both.example.": true,
		"example.": false, ".": false, "any.zip.": true, "zip.": true,
	} {
		if got := l.Covers(ask(t, name)); got != want {
			t.Errorf("%s: covered %t, want %t", name, got, want)
		}
	}
}

func TestTheLongestQuestion(t *testing.T) {
	b := NewListBuilder(0)
	if err := b.Add(pack(t, "a.example."), true); err != nil {
		t.Fatal(err)
	}
	l := b.List()
	for name, want := range map[string]bool{
		strings.Repeat("x.", 122) + "a.example.": true, strings.Repeat("x.", 122) + "b.example.": false,
	} {
		if got := l.Covers(ask(t, name)); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestEmptyTables(t *testing.T) {
	tab, l := NewBuilder(0).Table(), NewListBuilder(0).List()
	if m, _ := tab.Find(ask(t, "a.").Key(0)); m != None || tab.Names(netip.IPv4Unspecified()).Len() != 0 {
		t.Error("an empty table knows something")
	}
	if l.Covers(ask(t, ".")) {
		t.Error("an empty list covers something")
	}
}

func TestLookupsDoNotAllocate(t *testing.T) {
	b := NewBuilder(0)
	for _, n := range []string{"a.example.", "b.c.example."} {
		if err := b.Add(pack(t, n), netip.IPv4Unspecified()); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	for _, name := range []string{"a.example.", "missing.example.", "c.example."} {
		if n := testing.AllocsPerRun(100, func() {
			var q Question
			if q.Set(name) != nil {
				t.Fatal("no name")
			}
			if m, ref := tab.Find(q.Key(0)); m == Exact {
				_ = tab.Addr(ref, 0)
			}
			if k, ok := q.Wildcard(1); ok {
				_, _ = tab.Find(k)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
