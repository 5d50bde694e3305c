package upstream

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
)

// impatient counts what it is told.
type impatient struct {
	told [2]atomic.Int32
	gone atomic.Bool
	bad  atomic.Bool // told after the end
}

func (w *impatient) Late(why Lateness) {
	w.told[why].Add(1)
	if w.gone.Load() {
		w.bad.Store(true)
	}
}

// silentOver are resolvers that do not answer, over each transport; and one that cannot be connected to.
func silentOver(t *testing.T) map[string]*Resolver {
	brief := func(c *Config) { c.ReadTimeout = 400 * time.Millisecond }
	plain, encrypted := dnstest.New(t, dnstest.Drop), dnstest.NewTLS(t, dnstest.Drop)
	web, web3, quic := dnstest.NewHTTPS(t, dnstest.Drop), dnstest.NewHTTPS3(t, dnstest.Drop), dnstest.NewQUIC(t, dnstest.Drop)
	return map[string]*Resolver{
		"udp":    open(t, plain, brief),
		"tcp":    open(t, plain, brief, func(c *Config) { c.ForceTCP = true }),
		"tls":    open(t, encrypted, brief, secure(encrypted)),
		"https":  open(t, web, brief, overSession(web, HTTPS)),
		"https3": open(t, web3, brief, overSession(web3, HTTPS3)),
		"quic":   open(t, quic, brief, overSession(quic, QUIC)),
	}
}

func TestWaiterIsToldThatTheReplyIsLate(t *testing.T) {
	for proto, r := range silentOver(t) {
		t.Run(proto, func(t *testing.T) {
			w := new(impatient)
			refuse(t, r, Question{Msg: question("example.org."), Waiter: w, Patience: 10 * time.Millisecond}, 5*time.Second,
				ErrTimeout)
			w.gone.Store(true)
			if n := w.told[Slow].Load(); n != 1 {
				t.Errorf("told %d times, want once", n)
			}
		})
	}
}

func TestWaiterIsToldThatTheResolverHasBecomeSuspect(t *testing.T) {
	for proto, r := range silentOver(t) {
		t.Run(proto, func(t *testing.T) {
			w := new(impatient)
			done := make(chan struct{})
			go func() {
				defer close(done)
				r.Exchange(within(t, 5*time.Second), Question{Msg: question("example.org."), Waiter: w})
				w.gone.Store(true)
			}()
			dnstest.WaitFor(t, "the question to be under way", func() bool { return r.InFlight() == 1 })
			r.health.nobodyHome()
			<-done
			if slow, silent := w.told[Slow].Load(), w.told[Silent].Load(); slow != 0 || silent != 1 {
				t.Errorf("told %d times that it is slow and %d times that it is silent, want 0 and 1", slow, silent)
			}
		})
	}
}

func TestWaiterIsNotToldAfterTheEnd(t *testing.T) {
	for proto, up := range map[string]*dnstest.Server{
		"udp": dnstest.New(t, dnstest.A("192.0.2.1")), "https": dnstest.NewHTTPS(t, dnstest.A("192.0.2.1")),
	} {
		r := open(t, up)
		if proto == "https" {
			r = open(t, up, overSession(up, HTTPS))
		}
		w := new(impatient)
		for range 50 {
			w.gone.Store(false)
			r.Exchange(within(t, 5*time.Second), Question{Msg: question("example.org."), Waiter: w, Patience: time.Millisecond})
			w.gone.Store(true)
			r.health.alarm.Swap(newAlarm()).ring()
		}
		if w.bad.Load() {
			t.Errorf("%s: told after the end", proto)
		}
	}
}
