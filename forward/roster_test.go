package forward

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/shared"
)

// followed opens the roster of a block whose host name dns.example is looked up by s.
func followed(t *testing.T, s *script, text string) (*roster, *follower) {
	t.Helper()
	b := mustParse(t, text)
	owner := shared.New()
	t.Cleanup(owner.Release)
	f, err := followers.Acquire(owner, followerKey(b, "dns.example"), func() (*follower, error) {
		return openFollower("dns.example", s.lookup, pace{minRefresh, maxRefresh}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := openRoster(b) // which finds that follower
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r, f
}

func lineupOf(r *roster) []string {
	var addrs []string
	for _, m := range r.current.Load().members {
		addrs = append(addrs, m.Addr())
	}
	return addrs
}

// DESIGN, "names as upstreams": what a name stands for changes, and the last good set is kept.
func TestALineupFollowsItsHostNames(t *testing.T) {
	before := resolvers.Len()
	var s script
	s.say(nil, time.Hour, "192.0.2.1", "192.0.2.2")
	r, f := followed(t, &s, "forward . 192.0.2.9 dns.example:5353 192.0.2.1:5353")
	dnstest.WaitFor(t, "the first look-up to be followed", func() bool { return len(lineupOf(r)) == 3 })
	moved := []string{"192.0.2.9:53", "192.0.2.2:5353", "192.0.2.3:5353", "192.0.2.1:5353"}
	for _, step := range []struct {
		err   error
		addrs []string
		want  []string
	}{
		{nil, []string{"192.0.2.1", "192.0.2.2"}, []string{"192.0.2.9:53", "192.0.2.1:5353", "192.0.2.2:5353"}},
		{nil, []string{"192.0.2.3", "192.0.2.2"}, moved},
		{errors.New("broken"), nil, moved},
		{nil, []string{"2001:db8::1"}, []string{"192.0.2.9:53", "[2001:db8::1]:5353", "192.0.2.1:5353"}},
	} {
		s.say(step.err, time.Hour, step.addrs...)
		if _, err := f.refresh(t.Context()); !errors.Is(err, step.err) {
			t.Fatal(err)
		}
		if got := lineupOf(r); !slices.Equal(got, step.want) {
			t.Errorf("the name stands for %v (%v): upstreams %v, want %v", step.addrs, step.err, got, step.want)
		}
		if got := resolvers.Len() - before; got != len(step.want) {
			t.Errorf("%d resolvers are open for %d upstreams", got, len(step.want))
		}
	}
}

func TestUpstreamsThatStayKeepTheirHealthAndConnections(t *testing.T) {
	var s script
	s.say(nil, time.Hour, "192.0.2.1", "192.0.2.2")
	r, f := followed(t, &s, "forward . dns.example")
	dnstest.WaitFor(t, "the first look-up", func() bool { return len(lineupOf(r)) == 2 })
	second := r.current.Load().members[1].Resolver
	s.say(nil, time.Hour, "192.0.2.2", "192.0.2.3")
	if _, err := f.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.current.Load().members[0].Resolver; got != second {
		t.Error("an address that stayed got a new resolver")
	}
}

func TestANameWithTooManyAddressesIsCut(t *testing.T) {
	var addrs []string
	for i := range maxUpstreams + 10 {
		addrs = append(addrs, fmt.Sprintf("10.0.%d.%d", i/256, i%256))
	}
	var s script
	s.say(nil, time.Hour, addrs...)
	r, _ := followed(t, &s, "forward . dns.example")
	dnstest.WaitFor(t, "the first look-up", func() bool { return len(lineupOf(r)) == maxUpstreams })
}

func TestQuestionsWaitForTheFirstLookupWithinBounds(t *testing.T) {
	b := mustParse(t, "forward . dns.example")
	f := openFollower("dns.example", func(ctx context.Context, _ string) ([]netip.Addr, time.Duration, error) {
		<-ctx.Done()
		return nil, 0, ctx.Err()
	}, pace{minRefresh, maxRefresh})
	defer func() { _ = f.Close() }()
	r := &roster{
		block: b, to: b.to, hosts: map[string]*follower{"dns.example": f}, owner: shared.New(), settled: make(chan struct{}),
	}
	r.follow()

	if got := r.members(t.Context(), time.Now().Add(10*time.Millisecond)); len(got) != 0 {
		t.Errorf("%d upstreams before the first look-up", len(got))
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	r.members(gone, time.Now().Add(time.Hour)) // an hour, if a client that has gone is waited for

	r.waiting.Store(maxWaiting)
	r.members(t.Context(), time.Now().Add(time.Hour)) // an hour, if there is room for one more
	r.waiting.Store(0)

	ended := make(chan struct{})
	go func() {
		r.members(context.Background(), time.Now().Add(time.Hour)) // an hour, if it does not end with the roster
		close(ended)
	}()
	dnstest.WaitFor(t, "a question that waits", func() bool { return r.waiting.Load() == 1 })
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
}

func TestNoQuestionIsLostWhileAHostNameMoves(t *testing.T) {
	up := dnstest.New(t, dnstest.Delay(time.Millisecond, dnstest.A("192.0.2.1")))
	var s script
	s.say(nil, time.Hour, "127.0.0.1")
	r, names := followed(t, &s, fmt.Sprintf("forward . dns.example:%d {\nmax_fails 0\n}", up.Addr().Port()))
	f := newForward(r.block)
	f.roster = r
	var asking sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		asking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if m, rcode, err := ask(t.Context(), f); err != nil || len(m.Answer) != 1 {
					t.Errorf("rcode %d, error %v", rcode, err)
					return
				}
			}
		})
	}
	dnstest.WaitFor(t, "the first look-up", names.tried)
	for i := range 50 {
		addrs := []string{"127.0.0.1", "127.0.0.9"} // at the second one nobody listens, which is found out at once
		s.say(nil, time.Hour, addrs[:1+i%2]...)
		if _, err := names.refresh(t.Context()); err != nil {
			t.Error(err)
		}
	}
	close(done)
	asking.Wait()
}
