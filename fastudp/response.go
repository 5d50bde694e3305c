package fastudp

import (
	"bytes"
	"crypto/tls"
	"errors"
	"net"

	"github.com/trident-dns/trident/fastudp/internal/mmsg"

	"github.com/miekg/dns"
)

// errClosedWriter is returned for what is written after Close, as miekg/dns does.
var errClosedWriter = errors.New("fastudp: write after Close")

var (
	_ dns.ResponseWriter   = (*response)(nil)
	_ dns.ConnectionStater = (*response)(nil)
)

// response is the dns.ResponseWriter of one question. It is never used for a second one: plugins and what decorates
// writers may keep it, and write late. A reply that has been queued counts as written. Like miekg/dns's it is for one
// goroutine at a time.
type response struct {
	tenure *tenure
	lane   *lane
	writer dns.Writer // nil, or what decorates this response's raw writes

	peer   mmsg.Peer
	remote net.UDPAddr
	ip     [16]byte // of remote

	tsigStatus     error
	tsigRequestMAC string
	tsigTimersOnly bool
	closed         bool
}

func newResponse(t *tenure, l *lane, from *mmsg.Peer) *response {
	w := &response{tenure: t, lane: l, peer: *from}
	w.peer.Store(&w.remote, &w.ip)
	if t.decorate != nil {
		w.writer = t.decorate(w)
	}
	return w
}

// verify checks the TSIG of the question m, if it has one. Plugins ask for the outcome.
func (w *response) verify(req *dns.Msg, m []byte) {
	if sig := req.IsTsig(); sig != nil {
		w.tsigStatus = w.tenure.secrets.verify(m, sig)
		w.tsigRequestMAC = sig.MAC
	}
}

// WriteMsg packs m, signs it if it ends with a TSIG record, and queues it.
func (w *response) WriteMsg(m *dns.Msg) error {
	if w.closed {
		return errClosedWriter
	}
	if m.IsTsig() != nil {
		data, mac, err := w.tenure.secrets.sign(m, w.tsigRequestMAC, w.tsigTimersOnly)
		w.tsigRequestMAC = mac
		if err != nil {
			return err
		}
		return w.hand(data)
	}
	if w.writer != nil { // may keep what it is given
		data, err := m.Pack()
		if err != nil {
			return err
		}
		return w.hand(data)
	}
	buf := replyBuffers.Get().(*replyBuffer)
	data, err := m.PackBuffer(buf[:])
	if err != nil {
		replyBuffers.Put(buf)
		return err
	}
	if &data[0] != &buf[0] { // it was too small
		replyBuffers.Put(buf)
		buf = nil
	}
	return w.queue(data, buf)
}

// hand passes packed bytes, which are nobody else's, through what decorates the writer.
func (w *response) hand(data []byte) error {
	if w.writer == nil {
		return w.queue(data, nil)
	}
	_, err := w.writer.Write(data)
	return err
}

// Write queues a copy of m as it is.
func (w *response) Write(m []byte) (int, error) {
	if w.closed {
		return 0, errClosedWriter
	}
	if len(m) == 0 {
		return 0, nil
	}
	var (
		buf  *replyBuffer
		data []byte
	)
	if len(m) <= len(buf) {
		buf = replyBuffers.Get().(*replyBuffer)
		data = buf[:copy(buf[:], m)]
	} else {
		data = bytes.Clone(m)
	}
	if err := w.queue(data, buf); err != nil {
		return 0, err
	}
	return len(m), nil
}

// queue has the lane send data, which lies in buf unless that is nil.
func (w *response) queue(data []byte, buf *replyBuffer) error {
	o := outgoing{Message: mmsg.Message{Data: data, To: &w.peer}, buf: buf}
	if err := w.lane.out.put(o); err != nil {
		o.release()
		w.lane.front.count.unsent.Inc()
		return err
	}
	return nil
}

// LocalAddr is the address that the socket is bound to.
func (w *response) LocalAddr() net.Addr { return w.lane.local }

// RemoteAddr is the client's address.
func (w *response) RemoteAddr() net.Addr { return &w.remote }

// TsigStatus is the outcome of checking the question's TSIG: nil when it was good, and when there was none.
func (w *response) TsigStatus() error { return w.tsigStatus }

// TsigTimersOnly says how the next replies are signed (RFC 8945, section 5.3.1).
func (w *response) TsigTimersOnly(b bool) { w.tsigTimersOnly = b }

// Hijack changes nothing: a datagram's writer stays usable after its handler returns in any case.
func (w *response) Hijack() {}

// ConnectionState is nil: there is no TLS.
func (w *response) ConnectionState() *tls.ConnectionState { return nil }

// Close makes later writes fail. The socket stays open, it is everybody's.
func (w *response) Close() error {
	if w.closed {
		return errClosedWriter
	}
	w.closed = true
	return nil
}
