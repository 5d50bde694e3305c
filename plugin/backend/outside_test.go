package backend

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
)

// E17d: names that somebody else answers for are looked up side by side, so that an answer waits for the slowest of them
// and not for their sum.
func TestE17dNamesOutsideAreLookedUpTogether(t *testing.T) {
	var lines strings.Builder
	for i := range MaxOutside {
		fmt.Fprintf(&lines, "/skydns/test/zone/svc/%02d {\"host\":\"h%02d.example.org\",\"port\":1}\n", i, i)
	}
	m := newMemory(t, []string{"zone.test."}, lines.String())
	r := Resolver{Defaults()}
	for qtype, lookups := range map[uint16]int32{dns.TypeSRV: 2 * MaxOutside, dns.TypeA: MaxOutside} {
		synctest.Test(t, func(t *testing.T) {
			var asked atomic.Int32
			outside := func(context.Context, string, uint16) (*dns.Msg, error) {
				asked.Add(1)
				time.Sleep(time.Second)
				return new(dns.Msg), nil
			}
			start := time.Now()
			r.Lookup(t.Context(), m, Question{Name: "svc.zone.test.", Type: qtype, Outside: outside})
			if took := time.Since(start); took != time.Second || asked.Load() != lookups {
				t.Errorf("%s: %d lookups of 1 s took %v, want %d", dns.TypeToString[qtype], asked.Load(), took, lookups)
			}
		})
	}
}
