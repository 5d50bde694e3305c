package upstream

import (
	"errors"
	"fmt"
	"testing"
)

func TestEveryErrorHasAReasonOfItsOwn(t *testing.T) {
	seen := map[string]bool{"other": true}
	for _, r := range reasons {
		got := Reason(fmt.Errorf("doing something: %w", r.err))
		if seen[got] {
			t.Errorf("%v: reason %q is not its own", r.err, got)
		}
		seen[got] = true
	}
	if got := Reason(errors.New("foreign")); got != "other" {
		t.Errorf("a foreign error: reason %q", got)
	}
}
