package dnstest

import (
	"testing"
	"time"
)

// WaitFor returns when cond is true, and fails the test when it is not within five seconds. what says what was waited
// for.
func WaitFor(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for: %s", what)
		}
		<-time.After(time.Millisecond)
	}
}
