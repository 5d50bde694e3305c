package upstream

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"

	"github.com/miekg/dns"
)

// both runs a test over plain TCP and over TLS.
func both(t *testing.T, script func() dnstest.Script, test func(t *testing.T, up *dnstest.Server, r *Resolver),
	change ...func(*Config)) {
	t.Run("tcp", func(t *testing.T) {
		up := dnstest.New(t, script())
		test(t, up, open(t, up, change...))
	})
	t.Run("tls", func(t *testing.T) {
		up := dnstest.NewTLS(t, script())
		test(t, up, open(t, up, append(change, secure(up))...))
	})
}

// patient is for tests with so much at once that a busy machine takes its time.
func patient(c *Config) { c.ReadTimeout = 30 * time.Second }

func always(s dnstest.Script) func() dnstest.Script { return func() dnstest.Script { return s } }

// atOnce asks n questions at the same time and wants an answer to each.
func atOnce(t *testing.T, r *Resolver, n int) {
	t.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			q := Question{Msg: question(fmt.Sprintf("n%d.example.", i)), Proto: "tcp"}
			if _, err := r.Exchange(within(t, 30*time.Second), q); err != nil {
				t.Errorf("question %d: %v", i, err)
			}
		})
	}
	all.Wait()
}

func TestQuestionsShareAConnectionAndRepliesComeInAnyOrder(t *testing.T) {
	slowFirst := func() dnstest.Script {
		return dnstest.Turns(dnstest.Delay(200*time.Millisecond, dnstest.A("192.0.2.1")), dnstest.A("192.0.2.2"))
	}
	both(t, slowFirst, func(t *testing.T, up *dnstest.Server, r *Resolver) {
		var slow Answer
		var all sync.WaitGroup
		all.Go(func() { slow = ask(t, r, "tcp", "slow.example.") })
		dnstest.WaitFor(t, "the slow question", func() bool { return up.Questions("") == 1 })
		fast := ask(t, r, "tcp", "fast.example.")
		all.Wait()
		if !fast.Received.Before(slow.Received) {
			t.Error("the second question had to wait for the first")
		}
		if n := up.Conns(""); n != 1 {
			t.Errorf("%d connections, want 1", n)
		}
		if !r.streams.(*streams).anyTurn.Load() {
			t.Error("did not notice that the peer answers in any order")
		}
	})
}

func TestBurstOnAColdResolverOpensFewConnections(t *testing.T) {
	both(t, always(dnstest.A("192.0.2.1")), func(t *testing.T, up *dnstest.Server, r *Resolver) {
		atOnce(t, r, 1000)
		if n := up.Conns(""); n > burstConns {
			t.Errorf("1000 questions at once opened %d connections, want %d at most", n, burstConns)
		}
	}, patient)
}

func TestConnectionsThatThePeerClosedWhileIdleCostNothing(t *testing.T) {
	both(t, always(dnstest.A("192.0.2.1")), func(t *testing.T, up *dnstest.Server, r *Resolver) {
		for range 3 {
			ask(t, r, "tcp", "example.org.")
			up.CloseConns()
			dnstest.WaitFor(t, "the close to be noticed", func() bool {
				s := r.streams.(*streams)
				s.mu.Lock()
				defer s.mu.Unlock()
				return len(s.conns) == 0
			})
		}
		if n := up.Questions(""); n != 3 {
			t.Errorf("asked %d times, want 3: a closed connection was used", n)
		}
	})
}

func TestConnectionThatDiesUnderAReusedQuestionCostsARedial(t *testing.T) {
	for name, death := range map[string]dnstest.Script{"close": dnstest.Close, "reset": dnstest.Reset} {
		t.Run(name, func(t *testing.T) {
			script := func() dnstest.Script {
				return dnstest.Turns(dnstest.A("192.0.2.1"), death, dnstest.A("192.0.2.2"))
			}
			both(t, script, func(t *testing.T, up *dnstest.Server, r *Resolver) {
				ask(t, r, "tcp", "example.org.")
				if got := address(ask(t, r, "tcp", "example.org.").Msg); got != "192.0.2.2" {
					t.Errorf("got %s, want the reply over a new connection", got)
				}
				if n := up.Conns(""); n != 2 {
					t.Errorf("%d connections, want 2", n)
				}
			})
		})
	}
}

func TestManyQuestionsSurviveTheDeathOfTheirConnection(t *testing.T) {
	// A resolver that restarts answers nothing of what it had been asked.
	both(t, always(dnstest.A("192.0.2.1")), func(t *testing.T, up *dnstest.Server, r *Resolver) {
		ask(t, r, "tcp", "example.org.")
		var before atomic.Int32
		up.Use(func(q *dnstest.Query) {
			if q.Conn == 1 {
				if before.Add(1) == 50 {
					q.Close()
				}
				return
			}
			dnstest.A("192.0.2.2")(q)
		})
		atOnce(t, r, 50)
	}, patient)
}

func TestPeerThatClosesAfterSoManyAnswersLosesNoQuestion(t *testing.T) {
	for _, quota := range []int{1, 3, 128} {
		t.Run(strconv.Itoa(quota), func(t *testing.T) {
			script := func() dnstest.Script {
				var mu sync.Mutex
				answered := make(map[int]int)
				return func(q *dnstest.Query) {
					mu.Lock()
					defer mu.Unlock()
					if answered[q.Conn]++; answered[q.Conn] > quota {
						return
					}
					dnstest.A("192.0.2.1")(q)
					if answered[q.Conn] == quota {
						q.Close()
					}
				}
			}
			both(t, script, func(t *testing.T, up *dnstest.Server, r *Resolver) {
				for range 3 { // to learn, and to be sure
					atOnce(t, r, 3*quota)
				}
			}, patient)
		})
	}
}

func TestPeerThatClosesInsteadOfAnsweringFailsTheAttempt(t *testing.T) {
	for name, death := range map[string]dnstest.Script{"close": dnstest.Close, "reset": dnstest.Reset} {
		t.Run(name, func(t *testing.T) {
			both(t, always(death), func(t *testing.T, up *dnstest.Server, r *Resolver) {
				refuse(t, r, Question{Msg: question("example.org."), Proto: "tcp"}, 5*time.Second, ErrClosed)
				if n := up.Conns(""); n > maxRedials+1 {
					t.Errorf("one attempt opened %d connections", n)
				}
			})
		})
	}
}

func TestWrongQuestionOnAStreamFailsTheAttempt(t *testing.T) {
	both(t, always(dnstest.WrongQuestion), func(t *testing.T, up *dnstest.Server, r *Resolver) {
		refuse(t, r, Question{Msg: question("example.org."), Proto: "tcp"}, 5*time.Second, ErrMismatch)
	})
}

func TestWrongIDOnAStreamIsIgnored(t *testing.T) {
	script := dnstest.Several(dnstest.WrongID, dnstest.A("192.0.2.1"))
	both(t, always(script), func(t *testing.T, up *dnstest.Server, r *Resolver) {
		ask(t, r, "tcp", "example.org.")
	})
}

func TestPeerThatSendsWhatNobodyAskedForLosesItsConnection(t *testing.T) {
	const flood = 4 * maxMismatches
	script := slices.Repeat([]dnstest.Script{dnstest.A("192.0.2.1")}, flood)
	both(t, always(dnstest.Several(script...)), func(t *testing.T, up *dnstest.Server, r *Resolver) {
		before := value(t, r.streams.(*streams).mismatched)
		ask(t, r, "tcp", "example.org.")
		dnstest.WaitFor(t, "the connection to be closed", func() bool { return up.OpenConns() == 0 })
		if n := value(t, r.streams.(*streams).mismatched) - before; n != maxMismatches+1 {
			t.Errorf("the connection was closed after %v messages, want %d", n, maxMismatches+1)
		}
		ask(t, r, "tcp", "example.org.")
	}, func(c *Config) { c.Expire = time.Hour })
}

func TestConnectionThatLostItsPathIsReplacedAfterOneTimeout(t *testing.T) {
	up := dnstest.New(t, dnstest.A("192.0.2.1"))
	relay := dnstest.NewRelay(t, up.Addr())
	r := open(t, up, func(c *Config) { c.Addr, c.ReadTimeout = relay.Addr(), 300*time.Millisecond })
	ask(t, r, "tcp", "example.org.")
	relay.Lose()
	refuse(t, r, Question{Msg: question("example.org."), Proto: "tcp"}, 5*time.Second, ErrTimeout)
	ask(t, r, "tcp", "example.org.")
	if n := relay.Conns(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

func TestIdleAndOldConnectionsAreClosed(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"expire":         func(c *Config) { c.Expire = 100 * time.Millisecond },
		"max age":        func(c *Config) { c.MaxAge = 100 * time.Millisecond },
		"no idle at all": func(c *Config) { c.Expire = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			both(t, always(dnstest.A("192.0.2.1")), func(t *testing.T, up *dnstest.Server, r *Resolver) {
				ask(t, r, "tcp", "example.org.")
				dnstest.WaitFor(t, "the connection to be closed", func() bool { return up.OpenConns() == 0 })
				ask(t, r, "tcp", "example.org.")
			}, change)
		})
	}
}

func TestBusyConnectionsAreReplacedWhenTheyAreOld(t *testing.T) {
	// Behind one address there may be many resolvers; questions must not stay with one of them for ever.
	test := func(t *testing.T, up *dnstest.Server, r *Resolver) {
		for deadline := time.Now().Add(10 * time.Second); up.Conns("") < 4; {
			if time.Now().After(deadline) {
				t.Fatalf("%d connections after ten seconds without a pause", up.Conns(""))
			}
			ask(t, r, "tcp", "example.org.")
		}
		dnstest.WaitFor(t, "the old ones to be closed", func() bool {
			ask(t, r, "tcp", "example.org.")
			return up.OpenConns() <= 2
		})
	}
	young := func(c *Config) { c.MaxAge = 50 * time.Millisecond }
	both(t, always(dnstest.A("192.0.2.1")), test, young)
	sessions(t, always(dnstest.A("192.0.2.1")), test, young)
}

func TestFewIdleConnectionsAreKept(t *testing.T) {
	script := dnstest.Delay(20*time.Millisecond, dnstest.A("192.0.2.1"))
	both(t, always(script), func(t *testing.T, up *dnstest.Server, r *Resolver) {
		atOnce(t, r, 200)
		if n := up.Conns(""); n < 2 {
			t.Fatalf("%d connections: the test needs several", n)
		}
		dnstest.WaitFor(t, "one connection", func() bool { return up.OpenConns() <= 1 })
	}, func(c *Config) { c.MaxIdleConns = 1 })
}

func TestPeersIdleTimeoutIsHonoured(t *testing.T) {
	// RFC 7828, section 3.3.2.
	keepalive := func(value ...byte) dnstest.Script {
		return func(q *dnstest.Query) {
			m := q.Answer()
			option := &dns.EDNS0_LOCAL{Code: dns.EDNS0TCPKEEPALIVE, Data: value}
			m.IsEdns0().Option = append(m.IsEdns0().Option, option)
			q.Reply(m)
		}
	}
	for name, tt := range map[string]struct {
		value  []byte
		closed bool
	}{
		"a tenth of a second": {[]byte{0, 1}, true},
		"zero":                {[]byte{0, 0}, true},
		"an hour":             {[]byte{0x8c, 0xa0}, false},
		"without a value":     {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, always(keepalive(tt.value...)), func(t *testing.T, up *dnstest.Server, r *Resolver) {
				q := Question{Msg: withEDNS(question("example.org.")), Proto: "tcp"}
				if _, err := r.Exchange(within(t, time.Second), q); err != nil {
					t.Fatal(err)
				}
				if tt.closed {
					dnstest.WaitFor(t, "the connection to be closed", func() bool { return up.OpenConns() == 0 })
					return
				}
				if _, err := r.Exchange(within(t, time.Second), q); err != nil {
					t.Fatal(err)
				}
				if n := up.Conns(""); n != 1 {
					t.Errorf("%d connections, want the first one to be kept", n)
				}
			})
		})
	}
}

func TestCloseEndsEverythingAndQuestionsAreStillAnswered(t *testing.T) {
	script := func() dnstest.Script {
		return dnstest.Named(map[string]dnstest.Script{
			"slow.example.": dnstest.Delay(300*time.Millisecond, dnstest.A("192.0.2.1")), // sent again over UDP, perhaps
			"fast.example.": dnstest.A("192.0.2.2"),
		})
	}
	for _, proto := range []string{"udp", "tcp"} {
		both(t, script, func(t *testing.T, up *dnstest.Server, r *Resolver) {
			var all sync.WaitGroup
			all.Go(func() {
				if got := address(ask(t, r, proto, "slow.example.").Msg); got != "192.0.2.1" {
					t.Errorf("the question under way: got %s", got)
				}
			})
			dnstest.WaitFor(t, "the question", func() bool { return up.Questions("") > 0 })
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			if got := address(ask(t, r, proto, "fast.example.").Msg); got != "192.0.2.2" {
				t.Errorf("a later question: got %s", got)
			}
			all.Wait()
			r.Failed() // must start nothing
			dnstest.WaitFor(t, "no connection", func() bool { return up.OpenConns() == 0 })
		}, func(c *Config) { c.MaxFails = 1 })
	}
}
