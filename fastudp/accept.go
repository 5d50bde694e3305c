package fastudp

import (
	"encoding/binary"
	"reflect"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/trident-dns/trident/fastudp/internal/mmsg"

	"github.com/miekg/dns"
)

const headerSize = 12 // RFC 1035, section 4.1.1

// serve answers one datagram by the rules of miekg/dns's server, and releases it.
func (t *tenure) serve(l *lane, d *mmsg.Datagram) {
	m := d.Bytes()
	if len(m) < headerSize {
		d.Release()
		return
	}
	req := new(dns.Msg)
	action := accept(header(m), t.opcodes)
	if action == dns.MsgAccept && req.Unpack(m) != nil {
		action = dns.MsgReject
	} else if action != dns.MsgAccept {
		unpackHeader(req, m)
	}
	if action == dns.MsgIgnore {
		d.Release()
		return
	}

	w := newResponse(t, l, &d.From)
	if action == dns.MsgAccept {
		w.verify(req, m)
	}
	d.Release() // the message has copies of its own of all that it keeps
	if action != dns.MsgAccept {
		w.reject(req, action)
		return
	}
	t.server.ServeDNS(t.ctx, w, req)
}

// header reads the header of a message of at least headerSize bytes.
func header(m []byte) dns.Header {
	return dns.Header{
		Id:      binary.BigEndian.Uint16(m),
		Bits:    binary.BigEndian.Uint16(m[2:]),
		Qdcount: binary.BigEndian.Uint16(m[4:]),
		Ancount: binary.BigEndian.Uint16(m[6:]),
		Nscount: binary.BigEndian.Uint16(m[8:]),
		Arcount: binary.BigEndian.Uint16(m[10:]),
	}
}

// unpackHeader sets the header of req and leaves its sections empty.
func unpackHeader(req *dns.Msg, m []byte) {
	var alone [headerSize]byte // without the counts, which promise sections
	copy(alone[:4], m)
	_ = req.Unpack(alone[:]) // a header alone always unpacks
}

// accept is dnsserver's rule: miekg/dns's default, and the opcodes that plugins of the listener have asked for.
func accept(h dns.Header, opcodes map[int]struct{}) dns.MsgAcceptAction {
	action := dns.DefaultMsgAcceptFunc(h)
	if action != dns.MsgRejectNotImplemented {
		return action
	}
	if _, ok := opcodes[opcodeOf(h)]; !ok {
		return action
	}
	if h.Qdcount != 1 {
		return dns.MsgReject
	}
	return dns.MsgAccept
}

func opcodeOf(h dns.Header) int { return int(h.Bits>>11) & 0xF }

// reject answers a question that is refused before any plugin sees it. What of it could be unpacked goes back with
// the reply, but for its records.
func (w *response) reject(req *dns.Msg, action dns.MsgAcceptAction) {
	opcode := req.Opcode
	req.SetRcodeFormatError(req)
	req.Zero = false
	if action == dns.MsgRejectNotImplemented {
		req.Opcode, req.Rcode = opcode, dns.RcodeNotImplemented
	}
	req.Answer, req.Ns, req.Extra = nil, nil, nil
	_ = w.WriteMsg(req) // a client that sent this is owed no more than the attempt
}

// allowedOpcodes are those that plugins have asked for with Config.AllowOpcode, joined over the blocks of the listener.
// CoreDNS keeps them to itself; without them fastudp would turn away what the listener lets through (UPDATE, for
// dynupdate). A test fails when a version of CoreDNS has them elsewhere.
func allowedOpcodes(srv *dnsserver.Server) map[int]struct{} {
	field := reflect.ValueOf(srv).Elem().FieldByName("allowedOpcodes")
	if field.Kind() != reflect.Map {
		return nil
	}
	opcodes := make(map[int]struct{}, field.Len())
	for _, k := range field.MapKeys() {
		if k.CanInt() {
			opcodes[int(k.Int())] = struct{}{}
		}
	}
	return opcodes
}
