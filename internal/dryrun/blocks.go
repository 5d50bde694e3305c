package dryrun

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coredns/caddy"
	"github.com/coredns/caddy/caddyfile"
	"github.com/coredns/coredns/core/dnsserver"
)

// snippet is the definition of one.
type snippet struct {
	name string
	line int
}

// unused returns the snippets of a Corefile that parses which nothing imports: what is in them has not been looked at.
func unused(path string, text []byte) []snippet {
	var defined []snippet
	imported := make(map[string]bool)
	depth := 0
	d := caddyfile.NewDispenser(path, bytes.NewReader(text))
	for d.Next() {
		switch word := d.Val(); {
		case word == "{":
			depth++
		case word == "}":
			depth--
		case word == "import":
			if d.NextArg() {
				imported[d.Val()] = true
			}
		case depth == 0 && len(word) > 2 && word[0] == '(' && word[len(word)-1] == ')':
			defined = append(defined, snippet{word[1 : len(word)-1], d.Line()})
		}
	}
	return slices.DeleteFunc(defined, func(s snippet) bool { return imported[s.name] })
}

// overlaps says which zones are served twice on one listener, which CoreDNS refuses when it makes its servers. Blocks
// with view may share a zone. Addresses of bind are compared as they are written.
func overlaps(blocks []caddyfile.ServerBlock) []string {
	var problems []string
	addresses := make(map[string][][]string) // of the blocks so far, by zone and port; none for all
	for _, b := range blocks {
		if len(b.Tokens["view"]) > 0 {
			continue
		}
		bound := bindAddresses(b.Tokens["bind"])
		for _, key := range b.Keys {
			for _, other := range addresses[key] {
				if clash(bound, other) {
					problems = append(problems, fmt.Sprintf("%s is served twice on one address", key))
				}
			}
			addresses[key] = append(addresses[key], bound)
		}
	}
	return problems
}

// bindAddresses returns the arguments of bind.
func bindAddresses(tokens []caddyfile.Token) []string {
	var all []string
	d := caddyfile.NewDispenserTokens("", tokens)
	for d.Next() {
		all = append(all, d.RemainingArgs()...)
		for d.NextBlock() {
			d.RemainingArgs() // except and the like: addresses, but not to bind to
		}
	}
	return all
}

// clash tells whether two lists of addresses have one in common.
func clash(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// certificates returns the files of a tls directive. c is a copy, which it moves.
func certificates(c *caddy.Controller) []string {
	at := *c
	if !at.Next() {
		return nil
	}
	files := at.RemainingArgs()
	root := dnsserver.GetConfig(c).Root
	for i, f := range files {
		if root != "" && !filepath.IsAbs(f) {
			files[i] = filepath.Join(root, f)
		}
	}
	if len(files) < 2 || len(files) > 3 || strings.Join(files, "") == "" {
		return nil // the plugin's business
	}
	return files
}
