package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/trident-dns/trident/bench/internal/contest"
	"github.com/trident-dns/trident/bench/internal/records"
	"github.com/trident-dns/trident/bench/internal/rig"
)

// hostsNames is how many names the hosts file has.
const hostsNames = 100_000

// hosts has servers answer from a file of names: hosts files, or what the peer has in their place.
func hosts(s *stage) (*contest.Result, error) {
	file, err := s.file("hosts", records.HostsFile(hostsNames))
	if err != nil {
		return nil, err
	}
	var unbound strings.Builder
	for i := range hostsNames {
		fmt.Fprintf(&unbound, "local-data: '%s A %s'\n", records.Name(i), records.Address(i))
	}
	included, err := s.file("unbound.data", unbound.String())
	if err != nil {
		return nil, err
	}
	questions, err := s.questions(hostsNames)
	if err != nil {
		return nil, err
	}
	zone := records.ZoneFile(hostsNames)
	contenders := append(s.binaries.CoreDNS("hosts "+file),
		dnsmasq("no-resolv\nno-hosts\naddn-hosts="+file),
		unboundServer(fmt.Sprintf("local-zone: %s static\ninclude: %s", records.Zone, included), ""),
		contest.Contender{Name: "NSD", Command: "nsd", Config: func(at contest.Place) ([]string, error) {
			return rig.NSDConfig(at.Dir, at.Port, zone, "")
		}},
	)
	result := s.contest.Run(contest.Row{
		Name: "hosts", Title: fmt.Sprintf("hosts, %s names", contest.Thousands(hostsNames)), Questions: questions, Probe: records.Probe(),
		Contenders: contenders,
	})
	return &result, nil
}

// dnsmasq configures dnsmasq with more lines.
func dnsmasq(lines string) contest.Contender {
	return contest.Contender{Name: "dnsmasq", Command: "dnsmasq", Config: func(at contest.Place) ([]string, error) {
		return contest.ConfigFile(at.Dir, "dnsmasq.conf", fmt.Sprintf(
			"port=%s\nlisten-address=127.0.0.1\nbind-interfaces\nuser=\ngroup=\npid-file=\n%s\n", at.Port, lines), "--keep-in-foreground", "-C")
	}}
}

// unboundServer configures Unbound with one thread, more lines of its section server, and further sections.
func unboundServer(server, sections string) contest.Contender {
	return contest.Contender{Name: "Unbound", Command: "unbound", Config: func(at contest.Place) ([]string, error) {
		return contest.ConfigFile(at.Dir, "unbound.conf", fmt.Sprintf(`server:
interface: 127.0.0.1
port: %s
num-threads: 1
username: ""
chroot: ""
directory: %q
pidfile: ""
use-syslog: no
logfile: unbound.log
verbosity: 0
do-not-query-localhost: no
module-config: iterator
num-queries-per-thread: 8192
outgoing-range: 16384
%s
%s
`, at.Port, filepath.Clean(at.Dir), server, sections), "-d", "-c")
	}}
}
