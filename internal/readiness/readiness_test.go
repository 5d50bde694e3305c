package readiness

import (
	"testing"

	"github.com/coredns/caddy"
)

func TestEveryBlockOfAnInstanceMustBeReady(t *testing.T) {
	c := caddy.NewTestController("", "")
	var first, second bool
	a := Join(c, "etcd", func() bool { return first })
	b := Join(c, "etcd", func() bool { return second })
	other := Join(c, "hosts", func() bool { return true })

	for _, tt := range []struct{ first, second, want bool }{
		{false, false, false}, {true, false, false}, {false, true, false}, {true, true, true},
	} {
		first, second = tt.first, tt.second
		if a() != tt.want || b() != tt.want {
			t.Errorf("ready %v and %v: the blocks say %v and %v, want %v", first, second, a(), b(), tt.want)
		}
		if !other() {
			t.Error("another plugin's check must not depend on these")
		}
	}
}

func TestInstancesDoNotAnswerForEachOther(t *testing.T) {
	old := Join(caddy.NewTestController("", ""), "etcd", func() bool { return false })
	next := Join(caddy.NewTestController("", ""), "etcd", func() bool { return true })
	if old() || !next() {
		t.Errorf("old instance says %v, want false; new one says %v, want true", old(), next())
	}
}
