package main

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trident-dns/trident/bench/internal/contest"
	"github.com/trident-dns/trident/bench/internal/records"
	"github.com/trident-dns/trident/bench/internal/rig"

	"github.com/miekg/dns"
)

const (
	// burst is how many questions the cold row asks at once.
	burst = 1000
	// Not quite at once: a socket's receive buffer holds about 250 datagrams, and those that do not fit say nothing about
	// the server. connectDelay makes sure that all are there before the first connection is.
	gulp, gulpPace = 50, time.Millisecond
	connectDelay   = 50 * time.Millisecond
	// coldPatience is how long a server may take to start.
	coldPatience = 20 * time.Second
)

// coldSample is what one run of the cold row found out.
type coldSample struct {
	connections     int
	answers, failed int           // good ones, and others; what is missing to burst was dropped on the way
	took            time.Duration // until the last good answer
}

// cold asks each forwarder a burst of questions while it has no connection to its only upstream, over TLS.
func cold(s *stage) (*contest.Result, error) {
	upstreams, err := s.upstreams()
	if err != nil || s.contest.Profiles != "" { // too short a run for a profile
		return nil, err
	}
	rows := [][]string{{fmt.Sprintf("%s questions at once, cold TLS upstream", contest.Thousands(burst)), "connections", "answers", "failures", "took"}}
	for i := range len(s.forwarders(task{})) {
		name, sample, err := s.coldRun(i, upstreams[0])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		rows = append(rows, []string{name, strconv.Itoa(sample.connections), strconv.Itoa(sample.answers), strconv.Itoa(sample.failed),
			sample.took.Round(time.Millisecond).String()})
	}
	fmt.Printf("\n%s\n", contest.Table(rows))
	return nil, nil
}

// forwarders are those that take part, as far as they are installed.
func (s *stage) forwarders(t task) []contest.Contender {
	return slices.DeleteFunc(append(s.binaries.CoreDNS(t.coreDNS()), t.dnsdist()),
		func(c contest.Contender) bool { return !c.Installed() })
}

// coldRun is the run of forwarder number i.
func (s *stage) coldRun(i int, upstream *rig.NSD) (name string, sample coldSample, err error) {
	counter, err := newCounter(upstream.TLSAddr)
	if err != nil {
		return "", sample, err
	}
	defer counter.stop()
	c := s.forwarders(task{targets: []string{counter.addr()}, tls: true, ca: upstream.CertFile})[i]
	srv, err := c.Start(s.contest.Dir, false)
	if err != nil {
		return c.Name, sample, err
	}
	defer srv.Stop()
	// The upstream must not be asked before the burst, so the server is up when it accepts a connection.
	if err := srv.WaitForTCP(srv.Addr, coldPatience); err != nil {
		return c.Name, sample, err
	}
	before := counter.connections.Load() // health checks of dnsdist
	sample, err = askAtOnce(srv.Addr)
	sample.connections = int(counter.connections.Load() - before)
	return c.Name, sample, err
}

// askAtOnce sends the whole burst and counts the answers of the next five seconds.
func askAtOnce(addr string) (s coldSample, err error) {
	conn, err := dns.Dial("udp", addr)
	if err != nil {
		return s, err
	}
	defer conn.Close()
	start := time.Now()
	_ = conn.SetDeadline(start.Add(5 * time.Second))
	sent := make(chan error, 1)
	go func() {
		for i := range burst {
			m := new(dns.Msg).SetQuestion(records.Name(i), dns.TypeA)
			m.Id = uint16(i)
			if i%gulp == gulp-1 {
				time.Sleep(gulpPace)
			}
			if err := conn.WriteMsg(m); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for s.answers+s.failed < burst {
		r, err := conn.ReadMsg()
		if err != nil {
			break // time is up
		}
		if r.Rcode == dns.RcodeSuccess && len(r.Answer) == 1 {
			s.answers++
			s.took = time.Since(start)
		} else {
			s.failed++
		}
	}
	return s, <-sent
}

// counter passes TCP connections on to a server and counts them.
type counter struct {
	listener    net.Listener
	target      string
	connections atomic.Int64
	running     sync.WaitGroup

	mu      sync.Mutex // guards the following
	open    []net.Conn
	stopped bool
}

func newCounter(target string) (*counter, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &counter{listener: listener, target: target}
	c.running.Go(c.accept)
	return c, nil
}

func (c *counter) addr() string { return c.listener.Addr().String() }

func (c *counter) accept() {
	for {
		near, err := c.listener.Accept()
		if err != nil {
			return
		}
		c.connections.Add(1)
		c.running.Go(func() { c.connect(near) })
	}
}

func (c *counter) connect(near net.Conn) {
	defer near.Close()
	time.Sleep(connectDelay)
	far, err := net.Dial("tcp", c.target)
	if err != nil {
		return
	}
	defer far.Close()
	c.mu.Lock()
	c.open = append(c.open, near, far)
	stopped := c.stopped
	c.mu.Unlock()
	if stopped {
		return // stop has not seen these
	}
	c.running.Go(func() { pass(near, far) })
	pass(far, near)
}

// pass copies until one end closes, and then closes both.
func pass(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = from.Close()
}

func (c *counter) stop() {
	_ = c.listener.Close()
	c.mu.Lock()
	c.stopped = true
	for _, conn := range c.open {
		_ = conn.Close()
	}
	c.mu.Unlock()
	c.running.Wait()
}
