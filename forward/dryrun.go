package forward

import (
	"context"
	"fmt"
	"strings"

	"github.com/trident-dns/trident/internal/trial"
)

// tests are what can be tried of the block without serving it: host names are looked up, in the way that the block wants
// them looked up, and the files of tls are judged.
func (b *block) tests() []trial.Test {
	all := trial.Certificates(b.tlsFiles)
	seen := make(map[string]bool)
	for _, e := range b.to {
		if e.host == "" || seen[e.host] {
			continue
		}
		seen[e.host] = true
		all = append(all, trial.Test{Subject: "name " + e.host, Network: true, Run: func(ctx context.Context) []trial.Finding {
			return []trial.Finding{b.lookUp(ctx, e.host)}
		}})
	}
	return all
}

// lookUp looks a host name up once.
func (b *block) lookUp(ctx context.Context, host string) trial.Finding {
	ctx, cancel := context.WithTimeout(ctx, lookupBudget)
	defer cancel()
	addrs, _, err := newLookup(b)(ctx, host)
	if err != nil {
		return trial.Found(trial.Problem, "does not resolve: %v", err)
	}
	var usable []string
	for _, a := range addrs {
		if b.sends(a) {
			usable = append(usable, a.String())
		}
	}
	if len(usable) == 0 {
		return trial.Found(trial.Problem, "no address of the family of source_address %s, only %s", b.source, fmt.Sprint(addrs))
	}
	return trial.Found(trial.OK, "%s", strings.Join(usable, " "))
}
