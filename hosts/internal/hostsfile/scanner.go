package hostsfile

import (
	"bytes"
	"errors"
	"io"
)

// maxField bounds a field, in octets. A domain name is at most 255 octets, each of which a backslash escape may write
// as four characters.
const maxField = 1024

// bufferSize is how much of the text is in memory at a time; more than maxField, so that a field always fits.
const bufferSize = 64 << 10

type token uint8

const (
	tokenField token = iota
	tokenLong        // a field longer than maxField, which was skipped
	tokenLine        // the end of a line
	tokenEnd         // the end of the text, in place of the end of the last line
)

// scanner splits text into fields and lines, in memory that does not grow with the length of a line. A line ends with
// LF, CRLF or a lone CR; a # starts a comment wherever it stands.
type scanner struct {
	r    io.Reader
	buf  []byte
	i, n int   // the unread part of buf
	err  error // from r
	line int   // number of the line that next reads, from 1
	bol  bool  // at the beginning of a line
	cr   bool  // the last octet was a CR: a LF that follows belongs to it
}

func newScanner(r io.Reader) *scanner {
	return &scanner{r: r, buf: make([]byte, bufferSize), bol: true}
}

// next returns the next token, and the field when it is one, valid until the next call.
func (s *scanner) next() (token, []byte, error) {
	if s.bol {
		s.line++
		s.bol = false
	}
	for {
		for s.i < s.n {
			switch c := s.buf[s.i]; {
			case c == '\n' && s.cr:
				s.i++
				s.cr = false
			case c == '\n' || c == '\r':
				s.i++
				s.cr = c == '\r'
				s.bol = true
				return tokenLine, nil, nil
			case isBlank(c):
				s.i++
				s.cr = false
			case c == '#':
				s.cr = false
				s.skipComment()
			default:
				s.cr = false
				return s.field()
			}
		}
		if err := s.fill(s.n); err != nil {
			return s.end(err)
		}
	}
}

// field returns the field at s.i.
func (s *scanner) field() (token, []byte, error) {
	start, long := s.i, false
	for {
		for s.i < s.n && !endsField[s.buf[s.i]] {
			s.i++
		}
		if s.i < s.n {
			break
		}
		if long = long || s.i-start > maxField; long {
			start = s.i // the rest is skipped without being kept
		}
		err := s.fill(start)
		start = 0
		if err != nil && !errors.Is(err, io.EOF) {
			return tokenEnd, nil, err
		}
		if err != nil {
			break
		}
	}
	if long || s.i-start > maxField {
		return tokenLong, nil, nil
	}
	return tokenField, s.buf[start:s.i], nil
}

func (s *scanner) skipComment() {
	for {
		rest := s.buf[s.i:s.n]
		if j := bytes.IndexAny(rest, "\r\n"); j >= 0 {
			s.i += j
			return
		}
		s.i = s.n
		if s.fill(s.n) != nil {
			return // next finds the same error
		}
	}
}

// skipLine reads on to the end of the line. A line ending in the middle of a read is next's to report.
func (s *scanner) skipLine() {
	if !s.bol {
		s.skipComment()
	}
}

// fill moves what is in buf from keep on to the front and reads more behind it.
func (s *scanner) fill(keep int) error {
	s.n = copy(s.buf, s.buf[keep:s.n])
	s.i -= keep
	if s.err != nil {
		return s.err
	}
	for range 100 { // a reader that returns nothing this often is broken
		n, err := s.r.Read(s.buf[s.n:])
		s.n += n
		s.err = err
		if n > 0 {
			return nil
		}
		if err != nil {
			break
		}
	}
	if s.err == nil {
		s.err = io.ErrNoProgress
	}
	return s.err
}

func (s *scanner) end(err error) (token, []byte, error) {
	if errors.Is(err, io.EOF) {
		return tokenEnd, nil, nil
	}
	return tokenEnd, nil, err
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\v' || c == '\f' }

var endsField = func() (t [256]bool) {
	for _, c := range " \t\v\f\r\n#" {
		t[c] = true
	}
	return t
}()
