package deploytest

import (
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/coredns/caddy/caddyfile"
)

// corefile is what the manifests have to agree with.
type corefile struct {
	blocks []caddyfile.ServerBlock
}

// parseCorefile reads the text as caddy does, with the environment that the pod would have. Imports find nothing.
func parseCorefile(text string, env map[string]string) (*corefile, error) {
	for k, v := range env {
		if err := os.Setenv(k, v); err != nil {
			return nil, err
		}
		defer func() { _ = os.Unsetenv(k) }() // the name is good: Setenv took it
	}
	// caddy logs that nothing matches an import.
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	blocks, err := caddyfile.Parse("Corefile", strings.NewReader(text), nil)
	if err != nil {
		return nil, err
	}
	return &corefile{blocks}, nil
}

// lines returns the arguments of every occurrence of a directive, or of a property of it when one is given.
func (c *corefile) lines(directive, property string) [][]string {
	var all [][]string
	for _, b := range c.blocks {
		tokens := b.Tokens[directive]
		for i := 0; i < len(tokens); {
			end := i + 1
			for end < len(tokens) && tokens[end].Line == tokens[i].Line {
				end++
			}
			var words []string
			for _, t := range tokens[i:end] {
				words = append(words, t.Text)
			}
			if want := property; want == "" && words[0] == directive || want != "" && words[0] == want {
				all = append(all, slices.DeleteFunc(words[1:], func(w string) bool { return w == "{" }))
			}
			i = end
		}
	}
	return all
}

// port returns the port that a directive with an optional [ADDRESS] listens on. It is 0 when the directive is missing.
func (c *corefile) port(directive string, byDefault int32) (int32, error) {
	var port int32
	for _, args := range c.lines(directive, "") {
		p := byDefault
		if len(args) > 0 {
			_, text, err := net.SplitHostPort(args[0])
			if err != nil {
				return 0, fmt.Errorf("%s: %w", directive, err)
			}
			n, err := strconv.ParseUint(text, 10, 16)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", directive, err)
			}
			p = int32(n)
		}
		if port != 0 && p != port {
			return 0, fmt.Errorf("%s is on ports %d and %d", directive, port, p)
		}
		port = p
	}
	return port, nil
}

// dnsPorts returns the ports of the server blocks' keys.
func (c *corefile) dnsPorts() []string {
	var ports []string
	for _, b := range c.blocks {
		for _, key := range b.Keys {
			port := "53"
			if i := strings.LastIndexByte(key, ':'); i >= 0 {
				port = key[i+1:]
			}
			ports = append(ports, port)
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// paths returns the absolute paths that occur in the text. written says which of them the server writes to.
func (c *corefile) paths() (all, written []string) {
	for _, b := range c.blocks {
		for _, tokens := range b.Tokens {
			for i, t := range tokens {
				if !strings.HasPrefix(t.Text, "/") {
					continue
				}
				all = append(all, t.Text)
				if i > 0 && (tokens[i-1].Text == "snapshot" || tokens[i-1].Text == "cache_dir" || tokens[i-1].Text == "embed") {
					written = append(written, t.Text)
				}
			}
		}
	}
	return all, written
}
