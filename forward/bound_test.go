package forward

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"
)

func TestAttemptsEndAtTheirDeadlineHoweverOftenContextsAreReused(t *testing.T) {
	up := dnstest.New(t, dnstest.Drop)
	m := handler(t, stanza("", up)).roster.current.Load().members[0]
	for i := range 30 {
		wait := time.Hour
		if i%3 == 0 {
			wait = 10 * time.Millisecond
		}
		deadline := time.Now().Add(wait)
		ctx, _, done := within(context.Background(), m, deadline)
		if got, ok := ctx.Deadline(); !ok || !got.Equal(deadline) || ctx.Err() != nil {
			t.Fatalf("round %d: deadline %v and error %v before it began", i, got, ctx.Err())
		}
		if wait < time.Hour {
			<-ctx.Done()
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) || time.Now().Before(deadline) {
				t.Fatalf("round %d: ended with %v, %s before the deadline", i, ctx.Err(), time.Until(deadline))
			}
		}
		done()
	}
}

func TestAttemptsEndWithTheirQuestion(t *testing.T) {
	up := dnstest.New(t, dnstest.Drop)
	m := handler(t, stanza("", up)).roster.current.Load().members[0]
	parent, cancel := context.WithCancel(t.Context())
	ctx, _, done := within(parent, m, time.Now().Add(time.Hour))
	defer done()
	cancel()
	<-ctx.Done()
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("ended with %v", ctx.Err())
	}
}
