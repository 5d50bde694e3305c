//go:build linux

package fastudp

import (
	"net"
	"sync/atomic"
	"testing"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"

	"github.com/miekg/dns"
)

// late is what shed does, made visible: it keeps replies, and writes them when it likes.
type late struct {
	hold atomic.Bool
	held chan func()
	seen atomic.Int64
}

func (l *late) decorate(*dnsserver.Server) dns.DecorateWriter {
	return func(w dns.Writer) dns.Writer { return lateWriter{l, w} }
}

type lateWriter struct {
	late  *late
	inner dns.Writer
}

func (w lateWriter) Write(data []byte) (int, error) {
	if !w.late.hold.Load() {
		return w.inner.Write(data)
	}
	w.late.seen.Add(1)
	w.late.held <- func() { _, _ = w.inner.Write(data) }
	return len(data), nil
}

var lates = &late{held: make(chan func(), 1<<10)}

// keep has lates keep what is written until the test ends.
func (l *late) keep(t *testing.T) {
	l.hold.Store(true)
	l.seen.Store(0)
	t.Cleanup(func() { l.hold.Store(false) })
}

func setupLate(c *caddy.Controller) error {
	dnsserver.GetConfig(c).UDPDecorateWriterFunc = lates.decorate
	return nil
}

func TestWhatDecoratesWritersDecoratesOursAndMayWriteLate(t *testing.T) {
	const address, n = "dns://127.0.0.1:0", 100
	s := start(t, address, ".:0 {\n bind 127.0.0.1\n late\n fastudp\n echo\n}")
	c, err := net.Dial("udp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	lates.keep(t)
	for i := range n {
		if _, err := c.Write(question(t, uint16(i), "a.plain.")); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "every reply is held", func() bool { return lates.seen.Load() == n })
	seen := make(map[uint16]bool)
	for range n {
		(<-lates.held)()
	}
	for len(seen) < n {
		m := read(t, c)
		if m.Answer[0].(*dns.TXT).Txt[0] != "a.plain." {
			t.Fatalf("a reply that was held came out as\n%v", m)
		}
		seen[m.Id] = true
	}
}

func TestShedAndFastudpServeTogether(t *testing.T) {
	const address = "dns://127.0.0.1:0"
	s := start(t, address, ".:0 {\n bind 127.0.0.1\n shed\n fastudp\n echo\n}")
	before := value(datagramsTotal.WithLabelValues(address, "sent"))
	for range 50 {
		s.Ask(t, "a.plain.", dns.TypeTXT)
	}
	eventually(t, "all replies went through the lanes", func() bool {
		return value(datagramsTotal.WithLabelValues(address, "sent"))-before == 50
	})
}

// The directive in the second block covers the hook of the first, as CoreDNS takes the last hook of a listener.
func TestADecoratorOfAnotherBlockOfTheListenerIsKept(t *testing.T) {
	const address = "dns://127.0.0.1:0"
	s := start(t, address, corefile(
		"plain:0 {\n bind 127.0.0.1\n late\n echo\n}",
		"example:0 {\n bind 127.0.0.1\n fastudp\n echo\n}"))
	lates.keep(t)
	c, err := net.Dial("udp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write(question(t, 1, "a.plain.")); err != nil {
		t.Fatal(err)
	}
	(<-lates.held)()
	read(t, c)
	if lates.seen.Load() != 1 {
		t.Error("the decorator of the first block was passed by")
	}
}
