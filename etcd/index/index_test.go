package index

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trident-dns/trident/plugin/backend"
	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/etcd/mirror"
)

func kv(key, value string, revision int64) mirror.KV {
	return mirror.KV{Key: key, Value: []byte(value), ModRevision: revision}
}

func list(kvs ...mirror.KV) iter.Seq2[mirror.KV, error] {
	slices.SortFunc(kvs, func(a, b mirror.KV) int { return strings.Compare(a.Key, b.Key) })
	return func(yield func(mirror.KV, error) bool) {
		for _, kv := range kvs {
			if !yield(kv, nil) {
				return
			}
		}
	}
}

func at(revision int64) mirror.Position { return mirror.Position{ClusterID: 1, Revision: revision} }

// served lists what a snapshot serves.
func (s *Snapshot) served() []string {
	var got []string
	s.Ascend("", func(path string, r *skydns.Record) bool {
		host := r.Target()
		if r.Kind() != skydns.Name && r.Kind() != skydns.NoHost {
			host = r.Addr().String()
		}
		got = append(got, path+" "+host)
		return true
	})
	return got
}

func wantServed(t *testing.T, x *Index, want ...string) {
	t.Helper()
	if got := x.Snapshot().served(); !slices.Equal(got, want) {
		t.Errorf("serves %q, want %q", got, want)
	}
}

func TestAReaderKeepsItsState(t *testing.T) {
	x := New("/skydns", "test/zone", nil)
	if x.Snapshot().Ready() {
		t.Fatal("ready before anything was listed")
	}
	x.Zone().Reset(at(5), list(kv("/skydns/test/zone/a", `{"host":"1.1.1.1"}`, 3)))
	before := x.Snapshot()
	x.Zone().Apply(at(6), []mirror.KV{kv("/skydns/test/zone/b", `{"host":"1.1.1.2"}`, 6)}, []string{"/skydns/test/zone/a"})
	wantServed(t, x, "test/zone/b 1.1.1.2")
	if got := before.served(); !slices.Equal(got, []string{"test/zone/a 1.1.1.1"}) || !before.Ready() {
		t.Errorf("the state before became %q", got)
	}
	if got := x.Snapshot().Position(); got != at(6) {
		t.Errorf("position %+v", got)
	}
}

func TestAListThatBreaksOffChangesNothing(t *testing.T) {
	x := New("/skydns", "test/zone", nil)
	x.Zone().Reset(at(5), list(kv("/skydns/test/zone/a", `{"host":"1.1.1.1"}`, 3)))
	x.Zone().Reset(at(9), func(yield func(mirror.KV, error) bool) {
		if yield(kv("/skydns/test/zone/b", `{"host":"1.1.1.2"}`, 8), nil) {
			yield(mirror.KV{}, errors.New("away"))
		}
	})
	wantServed(t, x, "test/zone/a 1.1.1.1")
}

func TestBadKeysAreToldOncePerRevision(t *testing.T) {
	var told []string
	x := New("/skydns", "test/zone", func(bad []Bad) {
		for _, b := range bad {
			told = append(told, fmt.Sprintf("%s@%d %s", b.Key, b.Revision, skydns.ReasonOf(b.Err)))
		}
	})
	bad, good := kv("/skydns/test/zone/a", `oops`, 3), kv("/skydns/test/zone/b", `{"host":"1.1.1.1"}`, 4)
	x.Zone().Reset(at(5), list(bad, good))
	x.Zone().Reset(at(6), list(bad, good))
	wantServed(t, x, "test/zone/b 1.1.1.1")
	x.Zone().Apply(at(7), []mirror.KV{kv("/skydns/test/zone/b", `{"port":-1}`, 7), kv("/skydns/test/zone/..", `{}`, 7)}, nil)
	wantServed(t, x)
	want := []string{
		"/skydns/test/zone/a@3 bad json", "/skydns/test/zone/b@7 bad number", "/skydns/test/zone/..@7 bad name",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	wantInvalid := map[skydns.Reason]int{skydns.ReasonJSON: 1, skydns.ReasonNumber: 1, skydns.ReasonName: 1}
	if got := x.Snapshot().Invalid(); !maps.Equal(got, wantInvalid) {
		t.Errorf("counted %v, want %v", got, wantInvalid)
	}
	x.Zone().Apply(at(8), []mirror.KV{kv("/skydns/test/zone/a", `{"host":"1.1.1.3"}`, 8)},
		[]string{"/skydns/test/zone/b", "/skydns/test/zone/.."})
	wantServed(t, x, "test/zone/a 1.1.1.3")
	if got := x.Snapshot().Invalid(); len(got) != 0 {
		t.Errorf("counted %v after all were mended", got)
	}
}

func TestKeysThatFoldTogetherAreKeptApart(t *testing.T) {
	x := New("/skydns", "test/zone", nil)
	x.Zone().Reset(at(5), list(
		kv("/skydns/test/zone/WWW", `{"host":"1.1.1.1"}`, 1),
		kv("/skydns/test/zone/www", `{"host":"1.1.1.2"}`, 2),
		kv("/skydns/test/zone/www/", `{"host":"1.1.1.3"}`, 3)))
	wantServed(t, x, "test/zone/www 1.1.1.2", "test/zone/www 1.1.1.1", "test/zone/www 1.1.1.3")
	x.Zone().Apply(at(6), nil, []string{"/skydns/test/zone/www"})
	wantServed(t, x, "test/zone/www 1.1.1.1", "test/zone/www 1.1.1.3")
}

// The serial is the revision of the last change that answers show, stands still otherwise, and never goes back.
func TestSerials(t *testing.T) {
	x := New("/skydns", "test", nil)
	x.Track("test/zone")
	zone, root := backend.NewZone("zone.test."), backend.NewZone("test.")
	check := func(what string, wantRoot, wantZone uint32) {
		t.Helper()
		s := x.Snapshot()
		if r, z := s.Serial(root), s.Serial(zone); r != wantRoot || z != wantZone {
			t.Errorf("%s: serials %d and %d, want %d and %d", what, r, z, wantRoot, wantZone)
		}
	}
	a, b := kv("/skydns/test/zone/a", `{"host":"1.1.1.1"}`, 3), kv("/skydns/test/b", `{"host":"1.1.1.2"}`, 4)
	x.Zone().Reset(at(10), list(a, b))
	x.Apex().Reset(at(10), list())
	check("first list", 10, 10)
	x.Zone().Apply(at(11), []mirror.KV{kv("/skydns/test/b", `{"host":"1.1.1.9"}`, 11)}, nil)
	check("change beside the inner zone", 11, 10)
	x.Zone().Apply(at(12), []mirror.KV{{Key: a.Key, Value: a.Value, ModRevision: 12, Lease: 99}}, nil)
	check("a key written again as it was", 11, 10)
	x.Zone().Apply(at(13), nil, []string{a.Key})
	check("deletion", 13, 13)
	b.Value = []byte(`{"host":"1.1.1.9"}`)
	x.Zone().Reset(at(20), list(b))
	check("list without a difference", 13, 13)
	x.Zone().Reset(at(7), list(a, b))
	check("restored to an older revision", 14, 14)
	x.Zone().Apply(at(8), nil, []string{a.Key})
	check("change after that", 15, 15)
	x.Zone().Reset(at(1<<32+5), list(a, b))
	check("beyond 32 bits", 5, 5)
	x.Apex().Apply(at(1<<32+6), []mirror.KV{kv("/skydns/test", `{"host":"1.1.1.7"}`, 1<<32+6)}, nil)
	check("the zone's own key", 6, 5)
}

// What the index shows to an audit is what a model of etcd holds, key by key, after any run of changes.
func TestViewIsWhatEtcdHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	values := []string{`{"host":"1.1.1.1"}`, `{"host":"a.b","targetstrip":1}`, `oops`, `{"type":"NS","rdata":"ns.a."}`, `{}`}
	key := func() string {
		k := fmt.Sprintf("/skydns/test/zone/%c/%d", 'a'+r.IntN(3), r.IntN(40))
		switch r.IntN(8) {
		case 0:
			return strings.ToUpper(k[:20]) + k[20:]
		case 1:
			return k + "/"
		case 2:
			return k + ".."
		}
		return k
	}
	x := New("/skydns", "test/zone", nil)
	x.Zone().Reset(at(1), list())
	x.Apex().Reset(at(1), list(kv("/skydns/test/zone", `not JSON`, 1)))
	model := map[string]mirror.KV{}
	for rev := int64(2); rev < 500; rev++ {
		var puts []mirror.KV
		var deletes []string
		for range r.IntN(5) {
			k := key()
			if !strings.HasPrefix(k, "/skydns/") || slices.Contains(deletes, k) ||
				slices.ContainsFunc(puts, func(kv mirror.KV) bool { return kv.Key == k }) {
				continue
			}
			if _, ok := model[k]; ok && r.IntN(2) == 0 {
				deletes = append(deletes, k)
				delete(model, k)
				continue
			}
			model[k] = kv(k, values[r.IntN(len(values))], rev)
			puts = append(puts, model[k])
		}
		if r.IntN(50) == 0 {
			x.Zone().Reset(at(rev), list(slices.Collect(maps.Values(model))...))
		} else {
			x.Zone().Apply(at(rev), puts, deletes)
		}
		position, view := x.Zone().View()
		if position.Revision != rev {
			t.Fatalf("position %d, want %d", position.Revision, rev)
		}
		got, last := map[string]int64{}, ""
		for k, mod := range view {
			if k <= last {
				t.Fatalf("%s after %s", k, last)
			}
			got[k], last = mod, k
		}
		want := map[string]int64{}
		for k, kv := range model {
			want[k] = kv.ModRevision
		}
		if !maps.Equal(got, want) {
			t.Fatalf("revision %d: %d keys, want %d", rev, len(got), len(want))
		}
	}
	s := x.Snapshot()
	if e, ok := s.invalid.find("/skydns/test/zone"); !ok {
		t.Errorf("the zone's own key was lost: %v", e)
	}
	owned, cuts := 0, 0
	for e := range s.records.all() {
		if byOwner(e) != e.path {
			owned++
		}
		if isNS(e.row) {
			cuts++
		}
	}
	total := 0
	for _, n := range s.cuts {
		total += n
	}
	if s.owned.n != owned || total != cuts {
		t.Errorf("%d owned and %d cuts, want %d and %d", s.owned.n, total, owned, cuts)
	}
}

func TestOwnedRecordsAreFoundByTheNameThatIsLeft(t *testing.T) {
	x := New("/skydns", "test/zone", nil)
	x.Zone().Reset(at(5), list(
		kv("/skydns/test/zone/a/1", `{"host":"1.1.1.1","targetstrip":1}`, 1),
		kv("/skydns/test/zone/a/2", `{"host":"1.1.1.2","targetstrip":1}`, 1),
		kv("/skydns/test/zone/a/b/c", `{"host":"1.1.1.3","targetstrip":2}`, 1),
		kv("/skydns/test/zone/a/3", `{"host":"1.1.1.4"}`, 1),
		kv("/skydns/test/zone/a", `{"host":"1.1.1.6","targetstrip":9}`, 1),
		kv("/skydns/test/zone/a-b/1", `{"host":"1.1.1.5","targetstrip":1}`, 1)))
	var got []string
	x.Snapshot().Owned("test/zone/a", func(path string, _ *skydns.Record) bool {
		got = append(got, path)
		return true
	})
	if want := []string{"test/zone/a/1", "test/zone/a/2", "test/zone/a/b/c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
