package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// Every error of Exchange wraps exactly one of these.
var (
	// ErrTimeout: no reply came within ReadTimeout, or before the deadline of the context.
	ErrTimeout = errors.New("no reply in time")
	// ErrCanceled: the asker went away.
	ErrCanceled = errors.New("canceled by the asker")
	// ErrRefused: the resolver's host, or the network on the way there, said that nobody listens.
	ErrRefused = errors.New("connection refused or unreachable")
	// ErrDial: no connection could be made, for lack of an answer or of local resources.
	ErrDial = errors.New("cannot connect")
	// ErrTLS: the handshake failed or the certificate is not the resolver's.
	ErrTLS = errors.New("TLS handshake failed")
	// ErrClosed: a connection that was made for this question broke before the reply.
	ErrClosed = errors.New("connection closed before the reply")
	// ErrMalformed: the reply cannot be understood, also not in part.
	ErrMalformed = errors.New("malformed reply")
	// ErrMismatch: on a stream, the reply is to another question.
	ErrMismatch = errors.New("reply to another question")
	// ErrHTTP: the status or the media type of the response is not that of a DoH reply.
	ErrHTTP = errors.New("not a DNS response over HTTP")
	// ErrProtocol: the peer broke the rules of QUIC or of RFC 9250.
	ErrProtocol = errors.New("protocol error of the peer")
	// ErrRequest: the question cannot be put on the wire. No resolver will do better.
	ErrRequest = errors.New("question cannot be sent")
	// ErrLimited: the resolver's rate_limit or its bound on questions in flight is reached. Nothing was sent.
	ErrLimited = errors.New("limit of the upstream reached")
	// ErrUnsupported: signed questions, zone transfers and opcodes other than QUERY are never sent on. No resolver will do
	// better.
	ErrUnsupported = errors.New("question cannot be forwarded")
)

// reasons is the closed set of label values for failed attempts.
var reasons = [...]struct {
	err    error
	reason string
}{
	{ErrTimeout, "timeout"},
	{ErrCanceled, "canceled"},
	{ErrRefused, "refused"},
	{ErrDial, "dial"},
	{ErrTLS, "tls"},
	{ErrClosed, "closed"},
	{ErrMalformed, "malformed"},
	{ErrMismatch, "mismatch"},
	{ErrHTTP, "http"},
	{ErrProtocol, "protocol"},
	{ErrRequest, "request"},
	{ErrUnsupported, "unsupported"},
	{ErrLimited, "limited"},
}

// Reason names the sentinel that err wraps, in one word for a metric label: the set is closed, "other" stands for an
// error that is not from this package.
func Reason(err error) string {
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return r.reason
		}
	}
	return "other"
}

// ofContext turns the end of ctx into one of ours.
func ofContext(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ErrCanceled
	}
	return ErrTimeout
}

// ofDial files an error of connecting, handshake included, under its sentinel.
func ofDial(err error) error {
	if known(err) {
		return err
	}
	sentinel := ErrDial
	var (
		alert    tls.AlertError
		record   tls.RecordHeaderError
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
		verify   *tls.CertificateVerificationError
	)
	switch {
	case isRefused(err):
		sentinel = ErrRefused
	case errors.As(err, &alert), errors.As(err, &record), errors.As(err, &unknown), errors.As(err, &hostname),
		errors.As(err, &invalid), errors.As(err, &verify):
		sentinel = ErrTLS
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}

// ofConn files an error of an established connection under its sentinel.
func ofConn(err error) error {
	var netErr net.Error
	switch {
	case known(err):
		return err
	case isRefused(err):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return fmt.Errorf("%w: %w", ErrTimeout, err)
	}
	return fmt.Errorf("%w: %w", ErrClosed, err)
}

// isRefused tells the errors by which a host or a router says that a datagram or a SYN cannot arrive.
func isRefused(err error) bool {
	for _, errno := range []syscall.Errno{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
		syscall.EHOSTDOWN, syscall.EACCES, syscall.EPERM} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

func known(err error) bool {
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return true
		}
	}
	return false
}
