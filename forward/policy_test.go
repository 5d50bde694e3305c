package forward

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/upstream"
)

func setOf(members ...int) set {
	var s set
	for _, i := range members {
		s.add(i)
	}
	return s
}

func TestSetAgainstAMap(t *testing.T) {
	for range 200 {
		var s set
		m := make(map[int]bool)
		for range rand.IntN(40) {
			i := rand.IntN(maxUpstreams)
			s.add(i)
			m[i] = true
		}
		if s.size() != len(m) {
			t.Fatalf("size %d, want %d", s.size(), len(m))
		}
		n := 0
		for i := range maxUpstreams {
			if s.has(i) != m[i] {
				t.Fatalf("has(%d) is %t", i, s.has(i))
			}
			if m[i] {
				if s.nth(n) != i {
					t.Fatalf("nth(%d) is %d, want %d", n, s.nth(n), i)
				}
				n++
			}
		}
		if s.without(s) != (set{}) || s.without(set{}) != s {
			t.Fatal("without is wrong")
		}
	}
}

func TestSequentialTakesTheFirstThatIsLeft(t *testing.T) {
	for turn := range uint64(4) {
		if got := sequential.choose(setOf(2, 5, 200), turn, nil); got != 2 {
			t.Errorf("chose %d, want 2", got)
		}
	}
}

func TestRoundRobinSpreadsADeadUpstreamsShareOverAllOthers(t *testing.T) {
	got := make(map[int]int)
	for turn := range uint64(300) {
		got[roundRobin.choose(setOf(0, 2, 3), turn, nil)]++ // 1 is dead
	}
	for _, i := range []int{0, 2, 3} {
		if got[i] != 100 {
			t.Errorf("shares %v, want 100 each", got)
		}
	}
}

func TestRandomReachesEveryCandidateAndNoOther(t *testing.T) {
	got := make(map[int]int)
	const n = 3000
	for range n {
		got[random.choose(setOf(1, 64, 255), 0, nil)]++
	}
	for _, i := range []int{1, 64, 255} {
		if got[i] < n/4 || got[i] > n/2 { // 1,000 expected, with a deviation of 26
			t.Errorf("shares %v, want about %d each", got, n/3)
		}
	}
	if len(got) != 3 {
		t.Errorf("chose outside of the candidates: %v", got)
	}
}

func TestChoosingAllocatesNothing(t *testing.T) {
	s := setOf(0, 1, 2, 77)
	members := someMembers(t, 78)
	for name, p := range policies {
		if n := testing.AllocsPerRun(100, func() { p.choose(s, 7, members) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// someMembers are upstreams that nobody asks.
func someMembers(t *testing.T, n int) (members []*member) {
	t.Helper()
	for i := range n {
		addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(i+1))
		r, err := upstream.Open(upstream.Config{Name: "test", Addr: addr})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		members = append(members, newMember(r, addr))
	}
	return members
}

func TestLeastLatencyNeverTakesTheWorseOfTwoAndReachesAllButTheWorst(t *testing.T) {
	for _, tt := range []struct {
		latency  time.Duration
		inFlight int
		cheaper  time.Duration
		busier   int
	}{
		{20 * time.Millisecond, 0, time.Millisecond, 0},
		{20 * time.Millisecond, 0, time.Millisecond, 18},
		{time.Millisecond, 2, time.Millisecond, 1},
		{time.Millisecond, 0, 0, 100}, // nothing is known of it yet
	} {
		if expense(tt.cheaper, tt.busier) >= expense(tt.latency, tt.inFlight) {
			t.Errorf("%s with %d in flight is not cheaper than %s with %d", tt.cheaper, tt.busier, tt.latency, tt.inFlight)
		}
	}
	drawn := make(map[[2]int]int)
	for range 3000 {
		a, b := two(setOf(1, 64, 255))
		if a == b {
			t.Fatalf("drew %d twice", a)
		}
		drawn[[2]int{a, b}]++
	}
	if len(drawn) != 6 {
		t.Errorf("drew %v, want all pairs", drawn)
	}
	if a, b := two(setOf(7)); a != 7 || b != 7 {
		t.Errorf("drew %d and %d of one", a, b)
	}
}
