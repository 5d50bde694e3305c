// Package wire holds domain names in the form that the tables of hosts keep and compare: uncompressed wire format
// (RFC 1035 section 3.1), lower case. A name in this form ends with itself: it needs no length beside it, and every
// suffix that starts at a label is a name too.
package wire

import "errors"

// MaxName and MaxLabel are the limits of RFC 1035 section 2.3.4, in octets; MaxName counts the length octets and the
// root.
const (
	MaxName  = 255
	MaxLabel = 63
)

// The ways in which text is no domain name. Append returns nothing else.
var (
	ErrEmpty     = errors.New("empty label")
	ErrLongLabel = errors.New("label longer than 63 octets")
	ErrLongName  = errors.New("name longer than 255 octets")
	ErrBadEscape = errors.New("unfinished escape")
)

// Append appends the name that text presents (RFC 1035 section 5.1, with or without the final dot) to dst, lower
// case. When text is no domain name it returns dst as it was, and why.
func Append[T ~string | ~[]byte](dst []byte, text T) ([]byte, error) {
	start := len(dst)
	if len(text) == 1 && text[0] == '.' {
		return append(dst, 0), nil
	}
	if len(text) == 0 {
		return dst, ErrEmpty
	}
	label := len(dst) // index of the length octet of the label being written
	dst = append(dst, 0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch c {
		case '.':
			if err := checkLabel(len(dst) - label - 1); err != nil {
				return dst[:start], err
			}
			dst[label] = byte(len(dst) - label - 1)
			label = len(dst)
			dst = append(dst, 0)
			continue
		case '\\':
			var n int
			if c, n = unescape(text[i+1:]); n == 0 {
				return dst[:start], ErrBadEscape
			}
			i += n
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
		if len(dst)-start > MaxName {
			return dst[:start], ErrLongName
		}
	}
	if n := len(dst) - label - 1; n > 0 { // no final dot
		if err := checkLabel(n); err != nil {
			return dst[:start], err
		}
		dst[label] = byte(n)
		dst = append(dst, 0)
	}
	if len(dst)-start > MaxName {
		return dst[:start], ErrLongName
	}
	return dst, nil
}

func checkLabel(n int) error {
	switch {
	case n == 0:
		return ErrEmpty
	case n > MaxLabel:
		return ErrLongLabel
	}
	return nil
}

// unescape reads what follows a backslash: three decimal digits, or one character that stands for itself. It returns
// the octet and how many characters it took, 0 when there is none.
func unescape[T ~string | ~[]byte](text T) (byte, int) {
	if len(text) == 0 {
		return 0, 0
	}
	if text[0] < '0' || text[0] > '9' {
		return text[0], 1
	}
	if len(text) < 3 {
		return 0, 0
	}
	v := 0
	for i := range 3 {
		d := text[i]
		if d < '0' || d > '9' {
			return 0, 0
		}
		v = v*10 + int(d-'0')
	}
	if v > 255 {
		return 0, 0
	}
	return byte(v), 3
}

// Len returns the length of the name at the start of b, which must hold one: what Append made, or a suffix of it.
func Len(b []byte) int {
	n := 0
	for b[n] != 0 {
		n += int(b[n]) + 1
	}
	return n + 1
}

// Labels returns how many labels the name at the start of b has, the root not counted.
func Labels(b []byte) int {
	n := 0
	for i := 0; b[i] != 0; i += int(b[i]) + 1 {
		n++
	}
	return n
}

// AppendText appends the presentation form of the name at the start of b, with the final dot.
func AppendText(dst, b []byte) []byte {
	if b[0] == 0 {
		return append(dst, '.')
	}
	for i := 0; b[i] != 0; i += int(b[i]) + 1 {
		for _, c := range b[i+1 : i+1+int(b[i])] {
			dst = appendChar(dst, c)
		}
		dst = append(dst, '.')
	}
	return dst
}

// appendChar escapes what miekg/dns escapes, so that the text packs to the same octets.
func appendChar(dst []byte, c byte) []byte {
	switch {
	case plain[c]:
		return append(dst, c)
	case ' ' <= c && c <= '~':
		return append(dst, '\\', c)
	}
	return append(dst, '\\', '0'+c/100, '0'+c/10%10, '0'+c%10)
}

// plain marks the characters that stand for themselves.
var plain = func() (t [256]bool) {
	for c := byte('!'); c <= '~'; c++ {
		switch c {
		case '.', '\'', '@', ';', '(', ')', '"', '\\':
		default:
			t[c] = true
		}
	}
	return t
}()
