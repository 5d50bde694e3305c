package main

import (
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
)

const (
	// burst is how many questions the cold row asks at once.
	burst = 1000
	// Not quite at once: a socket's receive buffer holds about 250 datagrams, and those that do not fit say nothing about
	// the server. connectDelay makes sure that all are there before the first connection is.
	gulp, gulpPace = 50, time.Millisecond
	connectDelay   = 50 * time.Millisecond
)

// coldSample is what one run of the cold row found out.
type coldSample struct {
	connections     int
	answers, failed int           // good ones, and others; what is missing to burst was dropped on the way
	took            time.Duration // until the last good answer
}

// cold asks each contender a burst of questions while it has no connection to its upstream.
func (b *bench) cold(contenders []contender) error {
	fmt.Printf("%-19s %12s %12s %12s %12s\n", fmt.Sprintf("cold, %d at once", burst), "connections", "answers", "failures", "took")
	for _, c := range contenders {
		counter, err := newCounter(b.upstreams[0].tlsAddr)
		if err != nil {
			return err
		}
		s, err := b.coldRun(c, counter)
		counter.stop()
		if err != nil {
			return fmt.Errorf("cold, %s: %w", c.name, err)
		}
		fmt.Printf("%-19s %12d %12d %12d %12s\n", c.name, s.connections, s.answers, s.failed, s.took.Round(time.Millisecond))
	}
	return nil
}

func (b *bench) coldRun(c contender, counter *counter) (coldSample, error) {
	s, err := c.start(b.dir, setup{targets: []string{counter.addr()}, ca: b.upstreams[0].certFile, tls: true})
	if err != nil {
		return coldSample{}, err
	}
	defer s.stop()
	// The upstream must not be asked before the burst, so the server is up when it accepts a connection.
	if err := accepts(s); err != nil {
		return coldSample{}, err
	}
	before := counter.connections.Load() // health checks of dnsdist
	sample, err := askAtOnce(s.addr)
	sample.connections = int(counter.connections.Load() - before)
	return sample, err
}

func accepts(s *server) error {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		conn, err := net.Dial("tcp", s.addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-s.ended:
			return fmt.Errorf("the process ended")
		case <-time.After(10 * time.Millisecond):
		}
	}
	return fmt.Errorf("does not accept connections after %v", patience)
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
			m := new(dns.Msg).SetQuestion(name(i), dns.TypeA)
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
