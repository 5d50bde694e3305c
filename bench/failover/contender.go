package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// contender is a server that takes part.
type contender struct {
	name     string
	binary   string
	settings string // more lines for its forward block
}

// contenders returns those that only names, separated by commas, or all.
func contenders(stock, ours, only string) (chosen []contender, err error) {
	all := []contender{
		{name: "stock", binary: stock},
		{name: "ours", binary: ours},
		{name: "least_latency", binary: ours, settings: "policy least_latency"},
	}
	names := strings.Split(only, ",")
	for _, c := range all {
		if only != "" && !slices.Contains(names, c.name) {
			continue
		}
		if c.binary == "" {
			return nil, fmt.Errorf("the binary for %s is missing: give -stock and -ours", c.name)
		}
		chosen = append(chosen, c)
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no server %q: there are stock, ours and least_latency (ours with that policy)", only)
	}
	return chosen, nil
}

// corefile configures CoreDNS to forward to targets.
func corefile(port string, targets []string, settings ...string) string {
	return fmt.Sprintf(".:%s {\n    bind 127.0.0.1\n    forward . %s {\n        max_concurrent 100000\n        %s\n    }\n}\n",
		port, strings.Join(targets, " "), strings.Join(settings, "\n        "))
}

// writeCorefile puts text into a directory of its own, which the caller removes.
func writeCorefile(text string) (dir, path string, err error) {
	if dir, err = os.MkdirTemp("", "bench-failover"); err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, "Corefile")
	return dir, path, os.WriteFile(path, []byte(text), 0o600)
}
