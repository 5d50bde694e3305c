package main

import (
	"fmt"
	"strings"

	"github.com/trident-dns/trident/bench/internal/contest"
	"github.com/trident-dns/trident/bench/internal/records"
	"github.com/trident-dns/trident/bench/internal/rig"
)

// task is what forwarders shall do.
type task struct {
	targets []string // addresses and ports of the upstreams
	tls     bool
	ca      string // file with the authority of the upstreams' certificates
	cache   bool   // keep answers
}

// forwardUDP has servers pass all questions on to two upstreams.
func forwardUDP(s *stage) (*contest.Result, error) {
	return s.forward("forward-udp", "forward over UDP", false)
}

// forwardDoT has them do so over TLS.
func forwardDoT(s *stage) (*contest.Result, error) {
	return s.forward("forward-dot", "forward over TLS", true)
}

func (s *stage) forward(rowName, title string, tls bool) (*contest.Result, error) {
	upstreams, err := s.upstreams()
	if err != nil {
		return nil, err
	}
	questions, err := s.questions(upstreamNames)
	if err != nil {
		return nil, err
	}
	t := newTask(upstreams, tls)
	contenders := append(s.binaries.CoreDNS(t.coreDNS()), t.dnsdist(), t.unbound())
	if !tls {
		contenders = append(contenders, t.dnsmasq())
	}
	result := s.contest.Run(contest.Row{
		Name: rowName, Title: title, Questions: questions, Probe: records.Probe(), Contenders: contenders,
	})
	return &result, nil
}

func newTask(upstreams []*rig.NSD, tls bool) task {
	t := task{tls: tls, ca: upstreams[0].CertFile}
	for _, u := range upstreams {
		if tls {
			t.targets = append(t.targets, u.TLSAddr)
		} else {
			t.targets = append(t.targets, u.Addr)
		}
	}
	return t
}

// coreDNS is the directive for CoreDNS. Only the bound on questions in flight is not the default: stock would refuse some.
func (t task) coreDNS() string {
	scheme, settings := "", ""
	if t.tls {
		scheme, settings = "tls://", fmt.Sprintf("tls %s\ntls_servername %s\n", t.ca, rig.TLSName)
	}
	return fmt.Sprintf("forward . %s {\nmax_concurrent 100000\n%s}", scheme+strings.Join(t.targets, " "+scheme), settings)
}

func (t task) dnsdist() contest.Contender {
	return contest.Contender{Name: "dnsdist", Command: "dnsdist", Config: func(at contest.Place) ([]string, error) {
		var b strings.Builder
		fmt.Fprintf(&b, "setLocal('127.0.0.1:%s')\n", at.Port)
		for _, target := range t.targets {
			tls := ""
			if t.tls {
				tls = fmt.Sprintf(", tls='openssl', subjectName='%s', caStore='%s'", rig.TLSName, t.ca)
			}
			fmt.Fprintf(&b, "newServer{address='%s', checkName='%s'%s}\n", target, records.Name(0), tls)
		}
		if t.cache {
			fmt.Fprintf(&b, "getPool(''):setCache(newPacketCache(%d))\n", cacheEntries)
		}
		return contest.ConfigFile(at.Dir, "dnsdist.conf", b.String(), "--supervised", "--disable-syslog", "-C")
	}}
}

func (t task) unbound() contest.Contender {
	server, more := "", ""
	if t.tls {
		server, more = fmt.Sprintf("tls-cert-bundle: %q\n", t.ca), "forward-tls-upstream: yes\n"
	}
	if !t.cache {
		more += "forward-no-cache: yes\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "forward-zone:\nname: .\n%s", more)
	for _, target := range t.targets {
		target = strings.Replace(target, ":", "@", 1)
		if t.tls {
			target += "#" + rig.TLSName
		}
		fmt.Fprintf(&b, "forward-addr: %s\n", target)
	}
	return unboundServer(server, b.String())
}

func (t task) dnsmasq() contest.Contender {
	entries := 0
	if t.cache {
		entries = cacheEntries
	}
	var b strings.Builder
	fmt.Fprintf(&b, "no-resolv\nno-hosts\ndns-forward-max=10000\ncache-size=%d", entries)
	for _, target := range t.targets {
		b.WriteString("\nserver=" + strings.Replace(target, ":", "#", 1))
	}
	return dnsmasq(b.String())
}
