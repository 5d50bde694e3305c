package etcd

import (
	"testing"

	"github.com/trident-dns/trident/internal/shared"

	"github.com/trident-dns/trident/etcd/embedhook"
)

// fakeServer stands for an embedded etcd that nobody can reach.
type fakeServer struct{ closed *int }

func (fakeServer) Endpoint() string { return "http://127.0.0.1:1" }

func (f fakeServer) Close() error {
	*f.closed++
	return nil
}

// A reload hands the embedded etcd, the mirror and what is known over, and the last owner ends them.
func TestWhatIsSharedEndsWithItsLastOwner(t *testing.T) {
	started, closed := 0, 0
	embedhook.Register(func(embedhook.Config) (embedhook.Server, error) {
		started++
		return fakeServer{&closed}, nil
	})
	cfg := newConfig()
	cfg.zones = []string{"zone.test.", "sub.zone.test.", "other.test."}
	cfg.embed = &embedhook.Config{Dir: t.TempDir()}
	before, after := shared.New(), shared.New()
	first, second := newEtcd(cfg), newEtcd(cfg)
	if err := first.start(before, cfg); err != nil {
		t.Fatal(err)
	}
	if err := second.start(after, cfg); err != nil {
		t.Fatal(err)
	}
	for name, z := range first.zones {
		if second.zones[name].source != z.source {
			t.Errorf("%s begins anew", name)
		}
	}
	if first.zones["sub.zone.test."].source != first.zones["zone.test."].source {
		t.Error("a zone within another is copied twice")
	}
	before.Release()
	if started != 1 || closed != 0 || sources.Len() != 2 || mirrors.Len() != 1 {
		t.Errorf("started %d, closed %d, %d sources, %d mirrors after the first owner", started, closed, sources.Len(), mirrors.Len())
	}
	after.Release()
	if closed != 1 || sources.Len() != 0 || mirrors.Len() != 0 || servers.Len() != 0 {
		t.Errorf("closed %d, %d sources, %d mirrors after the last owner", closed, sources.Len(), mirrors.Len())
	}
}
