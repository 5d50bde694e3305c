package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/miekg/dns"
)

// Question is what a client asked.
type Question struct {
	// Msg is the client's message. It is only read.
	Msg *dns.Msg
	// Proto is what the client used, "udp" or "tcp". The DNS transport asks the same way, unless the configuration says
	// otherwise; empty is "udp".
	Proto string
	// Waiter is told when the reply is late; nil: nobody is. Patience is how long it is not late, from the beginning of
	// Exchange; zero: late is only what a resolver owes that has become suspect.
	Waiter   Waiter
	Patience time.Duration
}

// Answer is what came back, or how far an attempt got.
type Answer struct {
	// Msg is the reply, which the caller may change. Nil when Exchange returned an error.
	Msg *dns.Msg
	// Proto is "udp" or "tcp": the way the question went in the end.
	Proto string
	// Local is the local end of the connection; nil when none was made.
	Local net.Addr
	// WireID is the message ID that the question had on its way to the resolver.
	WireID uint16
	// Sent is when the question first went out, zero when it did not. Received is when the reply came.
	Sent, Received time.Time
}

// Resolver is one upstream resolver. All methods are safe for concurrent use.
type Resolver struct {
	cfg    Config
	addr   string
	meters *meters
	// datagrams is nil unless the transport is DNS; streams carries what does not go there.
	datagrams carrier
	streams   carrier
	health    *health
	failures  rcodeSet // of probes
	poor      rcodeSet // of replies to questions
}

// Open returns a resolver for c. It dials nothing and never blocks; an error means that c makes no sense.
func Open(c Config) (*Resolver, error) {
	if !c.Addr.IsValid() || c.Addr.Port() == 0 {
		return nil, fmt.Errorf("upstream address %q: want an IP address and a port", c.Addr)
	}
	if c.Source.IsValid() && c.Source.Unmap().Is4() != c.Addr.Addr().Unmap().Is4() {
		return nil, fmt.Errorf("source address %s: not of the family of %s", c.Source, c.Addr)
	}
	if m := c.method(); m != http.MethodGet && m != http.MethodPost {
		return nil, fmt.Errorf("DoH method %q: want GET or POST", m)
	}
	r := &Resolver{cfg: c, addr: c.Addr.String(), health: newHealth(c), failures: newRcodeSet(c.Probe.FailRcodes)}
	r.poor = r.failures | newRcodeSet(c.PoorRcodes)
	r.health.prober = newProber(c, r.health, r.probe)
	r.meters = newMeters(c.Name, r.addr, r.health)
	r.health.prober.meters = r.meters
	var err error
	switch c.Transport {
	case DNS:
		r.datagrams = newUDP(c, r.meters, r.health)
		r.streams = newStreams(c, r.meters)
	case TLS:
		r.streams = newStreams(c, r.meters)
	case HTTPS:
		r.streams, err = newHTTPS(c, r.meters)
	case HTTPS3:
		r.streams, err = newHTTPS3(c, r.meters)
	case QUIC:
		r.streams = newDoQ(c, r.meters)
	default:
		err = fmt.Errorf("transport %s: want dns, tls, https, https3 or quic", c.Transport)
	}
	if err != nil {
		r.meters.release(r.health)
		return nil, err
	}
	if r.health.prober.periodic {
		r.health.prober.start()
	}
	return r, nil
}

// Addr returns address and port of the resolver, as they are in metrics and metadata.
func (r *Resolver) Addr() string { return r.addr }

// Transport returns the way in which r is asked.
func (r *Resolver) Transport() Transport { return r.cfg.Transport }

// Down tells whether the last MaxFails probes have all failed.
func (r *Resolver) Down() bool { return r.health.prober.down() }

// Failed is how a caller says that an attempt went wrong for which the resolver may be to blame. It starts probing,
// unless that is under way, until one probe is answered. Exchange does so by itself.
func (r *Resolver) Failed() { r.health.prober.start() }

// Hurry is how a caller says that no resolver of a set is well, and that questions wait: for the next two seconds r is
// probed every half a second at least.
func (r *Resolver) Hurry() { r.health.prober.hasten() }

// Close ends all background work and waits for it. Questions under way are finished, later ones are answered each on
// a connection of its own; they are not counted any more. It never fails and may be called again.
func (r *Resolver) Close() error {
	r.health.close()
	if r.datagrams != nil {
		r.datagrams.close()
	}
	r.streams.close()
	r.meters.release(r.health)
	return nil
}

// Exchange asks q, once: a retransmission, a new connection in place of a dead one and the repetition of a truncated
// question over TCP (with PreferUDP) belong to the same attempt. On error the Answer still says what had been sent, and
// from where. ErrLimited comes at once; nothing queues.
func (r *Resolver) Exchange(ctx context.Context, q Question) (answer Answer, err error) {
	start := time.Now()
	if err = r.health.begin(start); err != nil {
		r.meters.limited(err)
		return answer, err
	}
	x := newExchange()
	if q.Waiter != nil {
		x.await(&q, start, r.health.alarm.Load())
	}
	err = r.exchange(ctx, x, &q, &answer)
	lost := x.lost
	x.release()
	r.health.end()
	if err != nil {
		r.blame(err, time.Since(start))
		r.meters.failed(err)
		return answer, err
	}
	r.health.answered(&answer, lost, r.poor.has(answer.Msg.Rcode))
	r.meters.observe(answer.Msg.Rcode, time.Since(start).Seconds())
	return answer, nil
}

// exchange passes by reference what Exchange passes by value: the server calls this on a stack that has just begun to
// grow, and each time it has to grow costs as much as unpacking the reply.
func (r *Resolver) exchange(ctx context.Context, x *exchange, q *Question, answer *Answer) error {
	if r.datagrams != nil && r.overUDP(q) {
		err := r.try(ctx, x, r.datagrams, q.Msg, answer)
		switch {
		case err == nil && answer.Msg.Truncated && r.cfg.PreferUDP:
		case err != nil && errors.Is(err, errSpoofed):
		default:
			return err
		}
	}
	return r.try(ctx, x, r.streams, q.Msg, answer)
}

func (r *Resolver) overUDP(q *Question) bool {
	return !r.cfg.ForceTCP && (r.cfg.PreferUDP || q.Proto != "tcp")
}

// try asks m over one carrier.
func (r *Resolver) try(ctx context.Context, x *exchange, c carrier, m *dns.Msg, answer *Answer) (err error) {
	x.reset()
	*answer = Answer{}
	if x.query, x.qend, err = pack(x.query, m, c.limits()); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ofContext(ctx)
	}
	err = c.carry(ctx, x)
	answer.Proto, answer.Local, answer.WireID = x.proto, x.local, x.id
	answer.Sent, answer.Received = x.sent, x.received
	if err != nil {
		return err
	}
	return r.read(x, m, c == r.datagrams, answer)
}

// read unpacks the reply, and does what it says to us.
func (r *Resolver) read(x *exchange, m *dns.Msg, datagram bool, answer *Answer) error {
	reply, idle, err := unpack(x.reply, x.qend, m, datagram)
	if err != nil {
		return err
	}
	if idle != unsaid && x.stream != nil {
		x.stream.keepalive(idle)
	}
	if x.age > 0 {
		growOld(reply, x.age)
	}
	answer.Msg = reply
	return nil
}

// blame holds a failed attempt against the resolver, if it may be to blame. took is how long the attempt lasted.
func (r *Resolver) blame(err error, took time.Duration) {
	switch Reason(err) {
	case "request", "unsupported":
		return
	case "canceled":
		r.health.gaveUp(took)
		return
	case "timeout":
		if took < r.cfg.readTimeout() && took < patience(time.Duration(r.health.late.Load())) {
			r.health.gaveUp(took) // the asker had no time
			return
		}
		r.health.inVain(took)
	case "malformed", "mismatch", "http", "protocol":
		r.health.hear(r.health.now())
	}
	r.health.failed(max(took, r.cfg.readTimeout()))
	r.health.prober.start()
}

// errProbeRcode: the reply to a probe has an rcode that counts as failure.
var errProbeRcode = errors.New("rcode of the probe")

// probe asks for what the configuration says. Whatever rcode comes back, the resolver is alive, unless the configuration
// names it.
func (r *Resolver) probe(ctx context.Context) error {
	m := new(dns.Msg)
	m.SetQuestion(dns.Fqdn(r.cfg.Probe.domain()), dns.TypeNS)
	m.RecursionDesired = r.cfg.Probe.RecursionDesired
	x := newExchange()
	defer x.release()
	x.probe = true
	var answer Answer
	switch err := r.exchange(ctx, x, &Question{Msg: m}, &answer); {
	case errors.Is(err, ErrMalformed):
		return nil // somebody is there, which is all that a probe asks
	case err != nil:
		return err
	case r.failures.has(answer.Msg.Rcode):
		return errProbeRcode
	}
	return nil
}
