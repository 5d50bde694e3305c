package forward

import (
	"math/rand/v2"
	"testing"
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
	for turn := range uint32(4) {
		if got := sequential.choose(setOf(2, 5, 200), turn); got != 2 {
			t.Errorf("chose %d, want 2", got)
		}
	}
}

func TestRoundRobinSpreadsADeadUpstreamsShareOverAllOthers(t *testing.T) {
	got := make(map[int]int)
	for turn := range uint32(300) {
		got[roundRobin.choose(setOf(0, 2, 3), turn)]++ // 1 is dead
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
		got[random.choose(setOf(1, 64, 255), 0)]++
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
	for name, p := range policies {
		if n := testing.AllocsPerRun(100, func() { p.choose(s, 7) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
