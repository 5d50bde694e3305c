package dryrun

import (
	"bytes"
	"context"
	"slices"

	"github.com/coredns/caddy"
	"github.com/coredns/caddy/caddyfile"
	"github.com/trident-dns/trident/internal/trial"
)

const serverType = "dns"

// corefile stands for the plugin in findings about the Corefile as such.
const corefile = "corefile"

// setUp are the directives whose set-up is run: Trident's own, and root, which says where their files are.
var setUp = []string{"root", "hosts", "etcd", "forward", "fastudp"}

// Options of a check.
type Options struct {
	// Offline skips what needs the network.
	Offline bool
	// SetUp names directives whose set-up is run beside that of Trident's plugins.
	SetUp []string
}

// Run checks the Corefile in input. It returns soon after ctx ends; what is not done by then is reported as a problem.
// Standard log output is taken over meanwhile, so that two checks must not run at once.
func Run(ctx context.Context, input caddy.Input, o Options) []trial.Finding {
	r := &run{path: input.Path(), directives: caddy.ValidDirectives(serverType), run: append(o.SetUp, setUp...)}
	lines, restore := capture()
	defer restore()
	if !r.parse(input.Body(), lines) {
		return r.findings
	}
	plan := r.setUp(lines)
	return append(r.findings, plan.Run(ctx, o.Offline)...)
}

// run is one check.
type run struct {
	path       string
	directives []string // in the order of set-up
	run        []string // those whose set-up is run
	blocks     []caddyfile.ServerBlock
	findings   []trial.Finding
}

func (r *run) add(f trial.Finding, file string, line int, plugin, subject string) {
	f.File, f.Line, f.Plugin, f.Subject = file, line, plugin, subject
	r.findings = append(r.findings, f)
}

// parse reads the server blocks, and reports whether there is something to go on with.
func (r *run) parse(text []byte, lines *logged) bool {
	var err error
	r.blocks, err = caddyfile.Parse(r.path, bytes.NewReader(text), r.directives)
	for _, f := range lines.take() {
		r.add(f, r.path, 0, corefile, "syntax")
	}
	if err != nil {
		r.add(trial.Found(trial.Problem, "%v", err), r.path, 0, corefile, "syntax")
		return false
	}
	for _, s := range unused(r.path, text) {
		r.add(trial.Found(trial.Warning, "never imported: only its braces were checked"), r.path, s.line, corefile,
			"snippet "+s.name)
	}
	if len(r.blocks) == 0 {
		r.add(trial.Found(trial.Problem, "no server block"), r.path, 0, corefile, "syntax")
		return false
	}
	return true
}

// setUp runs what can be run of the set-up, in CoreDNS's order, and returns what is to be tried afterwards. A directive
// that is refused does not keep the others from being looked at.
func (r *run) setUp(lines *logged) *trial.Plan {
	base := caddy.NewTestController(serverType, "") // whose instance has a context that exists nowhere else
	plan := trial.Begin(base)
	blocks, err := base.Context().InspectServerBlocks(r.path, r.blocks)
	if err != nil {
		r.add(trial.Found(trial.Problem, "%v", err), r.path, 0, corefile, "zones")
		return plan
	}
	r.blocks = blocks
	for _, problem := range overlaps(blocks) {
		r.add(trial.Found(trial.Problem, "%s", problem), r.path, 0, corefile, "zones")
	}
	for _, directive := range r.directives {
		for i, b := range blocks {
			if tokens := b.Tokens[directive]; len(tokens) > 0 {
				r.directive(*base, plan, lines, i, directive, tokens)
			}
		}
	}
	return plan
}

// directive checks one directive of the server block number index. base is a copy of the controller of the check.
func (r *run) directive(base caddy.Controller, plan *trial.Plan, lines *logged, index int, name string,
	tokens []caddyfile.Token) {
	file, line := r.place(tokens[0])
	plan.At(file, line, name)
	c := &base
	c.Dispenser = caddyfile.NewDispenserTokens(r.path, tokens)
	c.ServerBlockIndex, c.ServerBlockKeys = index, r.blocks[index].Keys
	c.Key = c.ServerBlockKeys[0]
	action, err := caddy.DirectiveAction(serverType, name)
	switch {
	case err != nil:
		r.add(trial.Found(trial.Problem, "this binary has no such plugin: %v", err), file, line, name, "plugin")
		return
	case !slices.Contains(r.run, name):
		if name == "tls" {
			plan.Add(trial.Certificates(certificates(c))...)
		}
		r.add(trial.Found(trial.OK, "known, and its block is well formed"), file, line, name, "syntax")
		return
	}
	err = action(c)
	warnings := lines.take()
	for _, f := range warnings {
		r.add(f, file, line, name, "set-up")
	}
	if err != nil {
		r.add(trial.Found(trial.Problem, "%v", err), file, line, name, "set-up")
	} else if len(warnings) == 0 {
		r.add(trial.Found(trial.OK, "accepted"), file, line, name, "set-up")
	}
}

// place is where a token was written.
func (r *run) place(t caddyfile.Token) (file string, line int) {
	if t.File != "" {
		return t.File, t.Line
	}
	return r.path, t.Line
}
