package index

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

func item(path string) entry { return entry{path, &row{}} }

func paths(t tree, from string) []string {
	var got []string
	t.ascend(byPath, from, func(e entry) bool {
		got = append(got, e.path)
		return true
	})
	return got
}

// A tree holds what a sorted set holds after any run of changes, and the trees before it hold what they held.
func TestTreesStayWhatTheyWere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	name := func() string { return fmt.Sprintf("%c/%d", 'a'+r.IntN(3), r.IntN(1500)) }
	type state struct {
		tree tree
		want []string
	}
	var kept []state
	var now tree
	set := map[string]bool{}
	for round := range 400 {
		ed := &edit{order: byPath}
		shrinking := round%100 > 60
		for range r.IntN(60) {
			p, remove := name(), shrinking && r.IntN(8) > 0
			var old entry
			if remove {
				now, old = now.remove(ed, item(p))
			} else {
				now, old = now.put(ed, item(p))
			}
			if (old.row != nil) != set[p] {
				t.Fatalf("%s was there: %t, want %t", p, old.row != nil, set[p])
			}
			if set[p] = true; remove {
				delete(set, p)
			}
		}
		kept = append(kept, state{now, slices.Sorted(maps.Keys(set))})
	}
	for i, s := range kept {
		if got := paths(s.tree, ""); !slices.Equal(got, s.want) || s.tree.n != len(s.want) {
			t.Fatalf("state %d: %d paths (counted %d), want %d", i, len(got), s.tree.n, len(s.want))
		}
		from := name()
		at, _ := slices.BinarySearch(s.want, from)
		if got := paths(s.tree, from); !slices.Equal(got, s.want[at:]) {
			t.Fatalf("state %d from %s: %d paths, want %d", i, from, len(got), len(s.want)-at)
		}
	}
}

func TestAnEmptiedTreeIsEmpty(t *testing.T) {
	var now tree
	ed := &edit{order: byPath}
	for i := range 5000 {
		now, _ = now.put(ed, item(fmt.Sprint(i)))
	}
	ed = &edit{order: byPath}
	for i := range 5000 {
		now, _ = now.remove(ed, item(fmt.Sprint(i)))
	}
	if got := paths(now, ""); len(got) != 0 || now.n != 0 {
		t.Fatalf("%d left, counted %d", len(got), now.n)
	}
	if now, _ = now.put(&edit{order: byPath}, item("x")); len(paths(now, "")) != 1 {
		t.Fatal("an emptied tree takes nothing")
	}
}

func TestBulkTakesAnyOrder(t *testing.T) {
	for _, n := range []int{0, 1, load, load + 1, load*load + 7} {
		var want []string
		b := bulk{edit: &edit{order: byPath}}
		for i := range n {
			want = append(want, fmt.Sprintf("%08d", i))
		}
		mixed := slices.Clone(want)
		for i := range mixed {
			if i%10 == 9 {
				j := rand.IntN(i)
				mixed[i], mixed[j] = mixed[j], mixed[i]
			}
		}
		for _, p := range mixed {
			b.add(item(p))
		}
		built := b.tree()
		if got := paths(built, ""); !slices.Equal(got, want) || built.n != n {
			t.Fatalf("%d paths: got %d, counted %d", n, len(got), built.n)
		}
	}
}

func TestKeysOfOnePathStandBesideEachOther(t *testing.T) {
	raw := func(s string) *string { return &s }
	var now tree
	ed := &edit{order: byPath}
	entries := []entry{
		{"a", &row{raw: raw("/A")}}, {"a", &row{}}, {"a", &row{raw: raw("/a/")}}, {"a", &row{raw: raw("/A")}},
	}
	for _, e := range entries {
		now, _ = now.put(ed, e)
	}
	var got []string
	now.ascend(byPath, "a", func(e entry) bool {
		got = append(got, e.rawKey())
		return true
	})
	if want := []string{"", "/A", "/a/"}; !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	if now, _ = now.remove(ed, entry{"a", &row{}}); now.n != 2 {
		t.Fatalf("%d left, want 2", now.n)
	}
}
