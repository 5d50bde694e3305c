package upstream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/quic-go/quic-go"
)

// Error codes of DNS over QUIC (RFC 9250, section 8.4).
const (
	doqNoError          = 0x0
	doqProtocolError    = 0x2
	doqRequestCancelled = 0x3
)

// newDoQ carries questions over QUIC, each on a stream of its own (RFC 9250).
func newDoQ(c Config, m *meters) carrier {
	config, settings := clientTLS(c, "doq"), quicConfig()
	settings.MaxIncomingUniStreams = -1
	p := newPool[*sessionConn](c, m, "quic", "udp", packing{pad: true})
	p.anyTurn.Store(true)
	p.connect = func(ctx context.Context) (*sessionConn, error) {
		link, err := dialQUIC(ctx, c, config, settings)
		if err != nil {
			return nil, err
		}
		return newSessionConn(p, &doqSession{quicLink: link}), nil
	}
	return p
}

// doqSession is a connection to a DoQ server.
type doqSession struct{ *quicLink }

func (s *doqSession) localAddr() net.Addr { return s.conn.LocalAddr() }
func (s *doqSession) shut()               { s.quicLink.shut(doqNoError) }

func (s *doqSession) exchange(ctx context.Context, x *exchange) error {
	x.setID(0) // section 4.2.1
	stream, err := s.conn.OpenStreamSync(ctx)
	if err != nil {
		return ofStream(err)
	}
	stop := context.AfterFunc(ctx, func() { abandon(stream) })
	defer stop()
	err = s.converse(stream, x)
	switch {
	case errors.Is(err, errLost):
		s.conn.CloseWithError(doqProtocolError, err.Error()) // section 4.3.3
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	case err != nil:
		abandon(stream)
		return ofStream(err)
	}
	return nil
}

// converse sends the question, ends its side of the stream, and reads the reply and the end of the other side (RFC
// 9250, section 4.2).
func (s *doqSession) converse(stream *quic.Stream, x *exchange) error {
	framed := binary.BigEndian.AppendUint16(make([]byte, 0, len(x.query)+2), uint16(len(x.query)))
	if _, err := stream.Write(append(framed, x.query...)); err != nil {
		return err
	}
	if err := stream.Close(); err != nil {
		return err
	}
	var prefix [2]byte
	if _, err := io.ReadFull(stream, prefix[:]); err != nil {
		return lostAtEOF(err)
	}
	size := int(binary.BigEndian.Uint16(prefix[:]))
	if size < headerSize {
		return fmt.Errorf("%w: message of %d bytes", errLost, size)
	}
	if cap(x.reply) < size {
		x.reply = make([]byte, size)
	}
	x.reply = x.reply[:size]
	if _, err := io.ReadFull(stream, x.reply); err != nil {
		return lostAtEOF(err)
	}
	if x.reply[0] != 0 || x.reply[1] != 0 {
		return fmt.Errorf("%w: message ID is not zero", errLost)
	}
	switch _, err := stream.Read(prefix[:1]); {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		return fmt.Errorf("%w: more than one reply", errLost)
	default:
		return err
	}
}

// lostAtEOF: a stream that ends before its message does breaks the protocol.
func lostAtEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: reply cut short", errLost)
	}
	return err
}

// abandon tells the peer that nobody waits for its reply any more (section 5.3.1).
func abandon(stream *quic.Stream) {
	stream.CancelRead(doqRequestCancelled)
	stream.CancelWrite(doqRequestCancelled)
}

// ofStream files an error of a stream: when the peer refused this question, or said why it closed the connection, asking
// again at once is no use.
func ofStream(err error) error {
	var (
		refused *quic.StreamError
		told    *quic.ApplicationError
	)
	if errors.As(err, &refused) || errors.As(err, &told) && told.Remote && told.ErrorCode != doqNoError {
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	return fmt.Errorf("%w: %w", ErrClosed, err)
}
