package fastudp

import (
	"errors"
	"net"
	"testing"
	"testing/synctest"

	"github.com/trident-dns/trident/fastudp/internal/mmsg"
)

func reply(b byte) outgoing { return outgoing{Message: mmsg.Message{Data: []byte{b}}} }

func TestOutboxGivesAllThatIsQueuedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newOutbox()
		taken := make(chan []outgoing, 10)
		go func() {
			for batch := b.take(nil); batch != nil; batch = b.take(nil) {
				taken <- batch
			}
			close(taken)
		}()
		synctest.Wait()
		for i := range byte(3) {
			if err := b.put(reply(i)); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		b.close()
		n := byte(0)
		for batch := range taken {
			for _, o := range batch {
				if o.Data[0] != n {
					t.Errorf("reply %d came as number %d", o.Data[0], n)
				}
				n++
			}
		}
		if n != 3 {
			t.Errorf("%d replies, want 3", n)
		}
		if err := b.put(reply(0)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("error %v after close, want net.ErrClosed", err)
		}
	})
}

func TestAFullOutboxHoldsUpWhoHasMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newOutbox()
		for range maxQueued {
			if err := b.put(reply(0)); err != nil {
				t.Fatal(err)
			}
		}
		errs := make(chan error, 2)
		go func() { errs <- b.put(reply(1)) }()
		synctest.Wait()
		if len(errs) > 0 {
			t.Fatal("a full box took more")
		}
		if n := len(b.take(nil)); n != maxQueued {
			t.Errorf("%d replies taken, want %d", n, maxQueued)
		}
		if err := <-errs; err != nil {
			t.Error(err)
		}
		for range maxQueued - 1 {
			_ = b.put(reply(0))
		}
		go func() { errs <- b.put(reply(2)) }()
		synctest.Wait()
		b.close()
		if err := <-errs; !errors.Is(err, net.ErrClosed) {
			t.Errorf("error %v, want net.ErrClosed for who waited when the box closed", err)
		}
	})
}
