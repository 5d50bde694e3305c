package upstream

import (
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
)

func TestBlackHoledConnectIsBounded(t *testing.T) {
	// In CoreDNS v1.15.0 one question waits half a minute for a SYN that nobody answers.
	r, err := Open(Config{Name: "test", Addr: dnstest.BlackHoleTCP(t), Expire: DefaultExpire, ForceTCP: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	q := Question{Msg: question("example.org.")}
	start := time.Now()
	refuse(t, r, q, 200*time.Millisecond, ErrTimeout)
	if took := time.Since(start); took > time.Second {
		t.Errorf("a budget of 200 ms ended after %v", took)
	}
	refuse(t, r, q, 5*time.Second, ErrDial)
	if took := time.Since(start); took > dialTimeout+time.Second {
		t.Errorf("gave up after %v, want %v", took, dialTimeout)
	}
}

func TestWaiterIsToldWhileTheConnectionIsBeingMade(t *testing.T) {
	r, err := Open(Config{Name: "test", Addr: dnstest.BlackHoleTCP(t), ForceTCP: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w := new(impatient)
	refuse(t, r, Question{Msg: question("example.org."), Waiter: w, Patience: 10 * time.Millisecond}, 200*time.Millisecond,
		ErrTimeout)
	if n := w.told[Slow].Load(); n != 1 {
		t.Errorf("told %d times, want once", n)
	}
}
