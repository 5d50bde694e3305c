package upstream

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
)

func TestWhenAnotherConnectionIsWanted(t *testing.T) {
	for name, tt := range map[string]struct {
		load
		want bool
	}{
		"none yet":                          {load{}, true},
		"one has room":                      {load{conns: 1, least: burstPerConn - 1}, false},
		"one is full":                       {load{conns: 1, least: burstPerConn}, true},
		"one question a connection":         {load{conns: burstConns, least: 1, quota: 1}, true},
		"the first is being dialed":         {load{dials: 1, least: 3}, false},
		"many wait for the first":           {load{dials: 1, least: burstPerConn}, true},
		"enough for any burst":              {load{conns: burstConns, least: 1000}, false},
		"slow, one after the other":         {load{conns: burstConns, least: slowPerConn, latency: slowLatency}, true},
		"slow, side by side":                {load{conns: burstConns, least: 1000, latency: time.Second, anyTurn: true}, false},
		"far away, but not waiting":         {load{conns: 1, least: 50, latency: 99 * time.Millisecond, fastest: 60 * time.Millisecond}, false},
		"waiting for each other":            {load{conns: 1, least: 2, latency: 99 * time.Millisecond, fastest: 30 * time.Millisecond}, true},
		"slow, but one is on its way":       {load{conns: 9, dials: 1, least: 100, latency: time.Second}, false},
		"slow, and as many as there may be": {load{conns: maxConns, least: 100, latency: time.Second}, false},
	} {
		if tt.quota == 0 {
			tt.quota = noQuota
		}
		if got := tt.wantsMore(); got != tt.want {
			t.Errorf("%s: got %t, want %t", name, got, tt.want)
		}
	}
}

func TestPeerThatAnswersOneAfterTheOtherGetsMoreConnections(t *testing.T) {
	// CoreDNS's own server is one.
	up := dnstest.New(t, dnstest.Delay(25*time.Millisecond, dnstest.A("192.0.2.1")))
	up.Serial()
	r := open(t, up, func(c *Config) { c.ReadTimeout = 5 * time.Second })
	stop, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			for stop.Err() == nil && up.Conns("tcp") <= 2*burstConns {
				r.Exchange(stop, Question{Msg: question("example.org."), Proto: "tcp"})
			}
		})
	}
	all.Wait()
	if n := up.Conns("tcp"); n <= 2*burstConns {
		t.Errorf("40 askers share %d connections", n)
	}
}
