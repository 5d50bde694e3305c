package upstream

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/dnstest"

	"github.com/quic-go/quic-go"
)

func TestDoQProtocolErrorsEndTheConnection(t *testing.T) {
	// RFC 9250, section 4.3.3.
	twice := func(q *dnstest.Query) {
		wire, _ := q.Answer().Pack()
		framed := append([]byte{byte(len(wire) >> 8), byte(len(wire))}, wire...)
		q.Stream.Write(append(framed, framed...))
		q.Stream.Close()
	}
	withID := func(q *dnstest.Query) {
		m := q.Answer()
		m.Id = 7
		q.Reply(m)
	}
	raw := func(b ...byte) dnstest.Script {
		return func(q *dnstest.Query) {
			q.Stream.Write(b)
			q.Stream.Close()
		}
	}
	for name, script := range map[string]dnstest.Script{
		"two replies":  twice,
		"message ID":   withID,
		"cut short":    raw(0, 40, 0, 0),
		"no length":    raw(0),
		"nothing":      raw(),
		"empty":        raw(0, 0),
		"stream reset": dnstest.Reset,
	} {
		t.Run(name, func(t *testing.T) {
			up := dnstest.NewQUIC(t, script)
			r := open(t, up, overSession(up, QUIC))
			refuse(t, r, Question{Msg: question("example.org.")}, 5*time.Second, ErrProtocol)
			up.Use(dnstest.A("192.0.2.1"))
			ask(t, r, "", "example.org.")
			want := 2
			if name == "stream reset" {
				want = 1 // one question of many; the connection is sound
			}
			if n := up.Conns(""); n != want {
				t.Errorf("%d connections, want %d", n, want)
			}
		})
	}
}

func TestDoQServerLearnsThatNobodyWaits(t *testing.T) {
	// RFC 9250, section 5.3.1.
	canceled := make(chan struct{})
	up := dnstest.NewQUIC(t, dnstest.Named(map[string]dnstest.Script{
		"first.example.": dnstest.A("192.0.2.1"),
		"example.org.": func(q *dnstest.Query) {
			<-q.Stream.Context().Done() // the side that we write to
			// A connection that has been silent is given up along with the question, and may be gone before the
			// stream's own end is told.
			var stream *quic.StreamError
			var conn *quic.ApplicationError
			cause := context.Cause(q.Stream.Context())
			if errors.As(cause, &stream) && stream.ErrorCode == doqRequestCancelled ||
				errors.As(cause, &conn) && conn.Remote && conn.ErrorCode == doqNoError {
				close(canceled)
				return
			}
			t.Errorf("the stream ended with %v", cause)
		},
	}))
	r := open(t, up, overSession(up, QUIC))
	ask(t, r, "udp", "first.example.") // dials, which may take longer than the next question waits
	refuse(t, r, Question{Msg: question("example.org.")}, 500*time.Millisecond, ErrTimeout)
	select {
	case <-canceled:
	case <-time.After(5 * time.Second):
		t.Error("neither stream nor connection were ended")
	}
}
