package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// contender is a forwarder that takes part.
type contender struct {
	name   string
	binary string
	// config writes the configuration for a server on that port to dir and returns the arguments that make binary use it.
	config func(dir, port string, s setup) ([]string, error)
}

// setup is what a contender shall do.
type setup struct {
	targets []string // addresses and ports of the upstreams
	tls     bool
	ca      string // file with the authority of the upstreams' certificates
}

// server is a running contender.
type server struct {
	*process
	addr string
}

// contenders returns all that can take part. Stock comes first: the others are compared with it.
func contenders(stock, ours string) []contender {
	all := []contender{
		{name: "stock", binary: stock, config: corefile("")},
		{name: "ours", binary: ours, config: corefile("")},
	}
	if out, err := exec.Command(ours, "-plugins").CombinedOutput(); err == nil && strings.Contains(string(out), "fastudp") {
		all = append(all, contender{name: "ours, fastudp", binary: ours, config: corefile("fastudp")})
	}
	if path, err := exec.LookPath("dnsdist"); err == nil {
		all = append(all, contender{name: "dnsdist", binary: path, config: dnsdist})
	}
	return all
}

func (c contender) start(dir string, s setup) (*server, error) {
	addr, port, err := freePort()
	if err != nil {
		return nil, err
	}
	args, err := c.config(dir, port, s)
	if err != nil {
		return nil, err
	}
	p, err := startProcess(serverCore, c.binary, args...)
	if err != nil {
		return nil, err
	}
	return &server{process: p, addr: addr}, nil
}

// wait returns when the server passes questions on.
func (s *server) wait() error { return waitFor(s.process, s.addr) }

// corefile configures CoreDNS, with one more directive if need be.
func corefile(directive string) func(dir, port string, s setup) ([]string, error) {
	return func(dir, port string, s setup) ([]string, error) {
		scheme, settings := "", ""
		if s.tls {
			scheme, settings = "tls://", fmt.Sprintf("    tls %s\n    tls_servername %s\n", s.ca, tlsName)
		}
		text := fmt.Sprintf(".:%s {\n  bind 127.0.0.1\n  %s\n  forward . %s {\n    max_concurrent 100000\n%s  }\n}\n",
			port, directive, scheme+strings.Join(s.targets, " "+scheme), settings)
		path := filepath.Join(dir, "Corefile")
		return []string{"-conf", path, "-quiet"}, os.WriteFile(path, []byte(text), 0o600)
	}
}

// dnsdist configures dnsdist.
func dnsdist(dir, port string, s setup) ([]string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "setLocal('127.0.0.1:%s')\n", port)
	for _, target := range s.targets {
		tls := ""
		if s.tls {
			tls = fmt.Sprintf(", tls='openssl', subjectName='%s', caStore='%s'", tlsName, s.ca)
		}
		fmt.Fprintf(&b, "newServer{address='%s', checkName='%s'%s}\n", target, name(0), tls)
	}
	path := filepath.Join(dir, "dnsdist.conf")
	return []string{"--supervised", "--disable-syslog", "-C", path}, os.WriteFile(path, []byte(b.String()), 0o600)
}
