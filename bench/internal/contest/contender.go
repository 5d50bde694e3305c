// Package contest puts servers beside each other: each in its turn gets a core for itself and the same questions, first
// as many as it can answer, then seven in ten of that, and what it did is put into a table with stock CoreDNS as the
// measure.
package contest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/trident-dns/trident/bench/internal/rig"
)

// Contender is a server that takes part in a row.
type Contender struct {
	Name    string
	Command string // program, or path of it
	// Config writes the configuration for the given place and returns the arguments that make Command use it.
	Config func(Place) ([]string, error)
	// Profiled says that the contender can serve profiles.
	Profiled bool
	// Stock marks the measure for the others.
	Stock bool
}

// Place is where a contender shall serve.
type Place struct {
	Dir   string // for its files
	Port  string // of 127.0.0.1
	Pprof string // address for profiles, if any are wanted
}

// Installed tells whether the program of the contender exists.
func (c Contender) Installed() bool {
	_, err := exec.LookPath(c.Command)
	return err == nil
}

// Server is a running contender.
type Server struct {
	*rig.Process
	Addr  string
	pprof string // address of its profiles, or empty
}

// Start starts the contender on the core of servers, with its files in dir.
func (c Contender) Start(dir string, pprof bool) (*Server, error) {
	addr, port, err := rig.FreePort()
	if err != nil {
		return nil, err
	}
	place := Place{Dir: dir, Port: port}
	if pprof {
		if place.Pprof, _, err = rig.FreePort(); err != nil {
			return nil, err
		}
	}
	args, err := c.Config(place)
	if err != nil {
		return nil, err
	}
	p, err := rig.Start(rig.ServerCore, c.Command, args...)
	if err != nil {
		return nil, err
	}
	return &Server{Process: p, Addr: addr, pprof: place.Pprof}, nil
}

// Binaries are the two builds of CoreDNS.
type Binaries struct {
	Stock, Ours string
}

// CoreDNS returns stock, ours, and ours with fastudp, all with the same lines in their server block.
func (b Binaries) CoreDNS(lines string) []Contender {
	return []Contender{
		{Name: "stock", Command: b.Stock, Config: Corefile(lines), Profiled: true, Stock: true},
		{Name: "Trident", Command: b.Ours, Config: Corefile(lines), Profiled: true},
		{Name: "Trident with fastudp", Command: b.Ours, Config: Corefile("fastudp\n" + lines), Profiled: true},
	}
}

// Corefile configures CoreDNS with these lines in its only server block.
func Corefile(lines string) func(Place) ([]string, error) {
	return func(at Place) ([]string, error) {
		var b strings.Builder
		fmt.Fprintf(&b, ".:%s {\nbind 127.0.0.1\n", at.Port)
		if at.Pprof != "" {
			fmt.Fprintf(&b, "pprof %s\n", at.Pprof)
		}
		b.WriteString(strings.TrimSpace(lines) + "\n}\n")
		return ConfigFile(at.Dir, "Corefile", b.String(), "-quiet", "-conf")
	}
}

// ConfigFile writes text to a file in dir and returns args and after them the path of the file.
func ConfigFile(dir, name, text string, args ...string) ([]string, error) {
	path := filepath.Join(dir, name)
	return append(args, path), os.WriteFile(path, []byte(text), 0o600)
}
