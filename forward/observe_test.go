package forward

import (
	"context"
	"net"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/coredns/coredns/plugin/metadata"
	"github.com/coredns/coredns/plugin/pkg/dnstest"
	"github.com/coredns/coredns/plugin/test"
	scripted "github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/shared"

	_ "github.com/coredns/coredns/plugin/dnstap"
	tap "github.com/dnstap/golang-dnstap"
	"github.com/miekg/dns"
	ot "github.com/opentracing/opentracing-go"
	otext "github.com/opentracing/opentracing-go/ext"
	"github.com/opentracing/opentracing-go/mocktracer"
	"google.golang.org/protobuf/proto"
)

// handler returns a block's handler outside of a server.
func handler(t testing.TB, text string) *Forward {
	t.Helper()
	f := newForward(mustParse(t, text))
	owner := shared.New()
	t.Cleanup(owner.Release)
	if err := f.start(owner); err != nil {
		t.Fatal(err)
	}
	return f
}

// ask puts a question for example.org. to f.
func ask(ctx context.Context, f *Forward) (*dns.Msg, int, error) {
	m := new(dns.Msg)
	m.SetQuestion("example.org.", dns.TypeA)
	w := dnstest.NewRecorder(&test.ResponseWriter{})
	rcode, err := f.ServeDNS(ctx, w, m)
	return w.Msg, rcode, err
}

func TestMetadataNamesTheUpstreamThatAnswered(t *testing.T) {
	silent, up := scripted.New(t, scripted.Drop), scripted.New(t, scripted.A("192.0.2.1"))
	f := handler(t, stanza("policy sequential\nread_timeout 50ms\nmax_fails 0", silent, up))
	ctx := metadata.ContextWithMetadata(context.Background())
	if _, _, err := ask(ctx, f); err != nil {
		t.Fatal(err)
	}
	value := metadata.ValueFunc(ctx, "forward/upstream")
	if value == nil || value() != up.Addr().String() {
		t.Errorf("metadata does not name %s", up.Addr())
	}
}

func TestEachAttemptHasASpanOfItsOwnBelowTheQuestions(t *testing.T) {
	silent, up := scripted.New(t, scripted.Drop), scripted.New(t, scripted.A("192.0.2.1"))
	f := handler(t, stanza("policy sequential\nread_timeout 50ms\nmax_fails 0", silent, up))
	tracer := mocktracer.New()
	parent := tracer.StartSpan("question")
	if _, _, err := ask(ot.ContextWithSpan(context.Background(), parent), f); err != nil {
		t.Fatal(err)
	}
	spans := tracer.FinishedSpans()
	if len(spans) != 2 {
		t.Fatalf("%d spans, want one for each of two attempts", len(spans))
	}
	for i, peer := range []string{silent.Addr().String(), up.Addr().String()} {
		s := spans[i]
		if s.OperationName != "connect" || s.Tag(string(otext.PeerAddress)) != peer ||
			s.ParentID != parent.Context().(mocktracer.MockSpanContext).SpanID {
			t.Errorf("span %d: %s, want a connect to %s below the question's", i, s, peer)
		}
	}
	if spans[0].Tag("error") != true || spans[1].Tag("error") != nil {
		t.Error("the span that failed is not the one marked so")
	}
}

// E12: a retry had the time of the first attempt, and the raw question not the ID that went over the wire.
func TestDnstapReportsEveryAttemptAsItWas(t *testing.T) {
	sent := make(chan scripted.Query, 10)
	silent := scripted.New(t, func(q *scripted.Query) { sent <- *q })
	up := scripted.New(t, func(q *scripted.Query) { sent <- *q; scripted.A("192.0.2.1")(q) })
	socket := filepath.Join(t.TempDir(), "tap.sock")
	input, err := tap.NewFrameStreamSockInputFromPath(socket)
	if err != nil {
		t.Fatal(err)
	}
	frames := make(chan []byte, 100)
	go input.ReadInto(frames)

	before := time.Now()
	s := start(t, ".:0 {\ndnstap "+socket+" full\n"+
		stanza("policy sequential\nread_timeout 50ms\nmax_fails 0", silent, up)+"\n}")
	wantA(t, s.Ask(t, "example.org.", dns.TypeA), "192.0.2.1")

	var messages []*tap.Message
	for len(messages) < 3 {
		select {
		case frame := <-frames:
			var d tap.Dnstap
			if err := proto.Unmarshal(frame, &d); err != nil {
				t.Fatal(err)
			}
			switch d.Message.GetType() {
			case tap.Message_FORWARDER_QUERY, tap.Message_FORWARDER_RESPONSE:
				messages = append(messages, d.Message)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%d forwarder messages, want a question, a question and its reply", len(messages))
		}
	}
	for i, want := range []struct {
		kind tap.Message_Type
		up   *scripted.Server
	}{
		{tap.Message_FORWARDER_QUERY, silent}, {tap.Message_FORWARDER_QUERY, up}, {tap.Message_FORWARDER_RESPONSE, up},
	} {
		m := messages[i]
		if m.GetType() != want.kind || tapAddr(m.ResponseAddress, m.ResponsePort) != want.up.Addr() ||
			m.GetSocketProtocol() != tap.SocketProtocol_UDP {
			t.Errorf("message %d: %v", i, m)
		}
	}
	first, second := <-sent, <-sent
	for first.Client != tapAddr(messages[0].QueryAddress, messages[0].QueryPort) {
		first = second // a retransmission over the wire is not an attempt
		second = <-sent
	}
	checkRaw(t, messages[0].QueryMessage, first.Msg.Id)
	if tapTime(messages[0]).Before(before) || tapTime(messages[1]).Sub(tapTime(messages[0])) < 40*time.Millisecond {
		t.Errorf("questions at %s and %s after the start at %s, the second after a time-out of 50ms", tapTime(messages[0]),
			tapTime(messages[1]), before)
	}
	reply := new(dns.Msg)
	if err := reply.Unpack(messages[2].ResponseMessage); err != nil {
		t.Fatal(err)
	}
	checkRaw(t, messages[1].QueryMessage, reply.Id)
}

func checkRaw(t *testing.T, raw []byte, id uint16) {
	t.Helper()
	m := new(dns.Msg)
	if err := m.Unpack(raw); err != nil || m.Id != id || m.Question[0].Name != "example.org." {
		t.Errorf("raw question %v (error %v), want ID %d", m, err, id)
	}
}

func tapAddr(ip []byte, port *uint32) netip.AddrPort {
	addr, _ := netip.AddrFromSlice(net.IP(ip))
	return netip.AddrPortFrom(addr, uint16(*port))
}

func tapTime(m *tap.Message) time.Time {
	return time.Unix(int64(m.GetQueryTimeSec()), int64(m.GetQueryTimeNsec()))
}
