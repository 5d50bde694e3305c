package skydns

import (
	"bytes"
	"math"
)

// decodePlain reads a value of the shape that programs write: an object of known fields in lower case, strings of ASCII
// with no escapes but those of quotes and backslashes, whole numbers without quotes. It reports false for all others, whether they are good or not, and
// takes a tenth of the time of encoding/json: most of what a list of a million records takes is this.
func decodePlain(data []byte) (form, bool) {
	var f form
	s := scanner{data: data}
	if !s.next('{') {
		return f, false
	}
	for first := true; ; first = false {
		if first && s.next('}') {
			return f, s.atEnd()
		}
		name, escapes, ok := s.raw()
		if !ok || escapes || !s.next(':') || !s.field(&f, name) {
			return f, false
		}
		if s.next('}') {
			return f, s.atEnd()
		}
		if !s.next(',') {
			return f, false
		}
	}
}

// scanner is a place in a value.
type scanner struct {
	data []byte
	at   int
}

// field reads the value of a field into f.
func (s *scanner) field(f *form, name []byte) (ok bool) {
	switch string(name) {
	case "host":
		f.Host, ok = s.string()
	case "text":
		f.Text, ok = s.string()
	case "group":
		f.Group, ok = s.string()
	case "type":
		f.Type, ok = s.string()
	case "rdata":
		f.RData, ok = s.string()
	case "port":
		f.Port, ok = s.number()
	case "priority":
		f.Priority, ok = s.number()
	case "weight":
		f.Weight, ok = s.number()
	case "ttl":
		f.TTL, ok = s.number()
	case "targetstrip":
		f.TargetStrip, ok = s.number()
	case "mail":
		f.Mail, ok = s.flag()
	}
	return ok
}

func (s *scanner) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// next goes past c, and white space before it, when it is next.
func (s *scanner) next(c byte) bool {
	s.space()
	if s.at < len(s.data) && s.data[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *scanner) atEnd() bool {
	s.space()
	return s.at == len(s.data)
}

// raw goes past a string and returns what is between the quotes, and whether there is any escape in it.
func (s *scanner) raw() (text []byte, escapes, ok bool) {
	if !s.next('"') {
		return nil, false, false
	}
	for i := s.at; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			text = s.data[s.at:i]
			s.at = i + 1
			return text, escapes, true
		case c < 0x20 || c >= 0x80:
			return nil, false, false
		case c == '\\':
			escapes = true
			i++
		}
	}
	return nil, false, false
}

func (s *scanner) string() (string, bool) {
	text, escapes, ok := s.raw()
	if !ok || !escapes {
		return string(text), ok
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			// Quotes are what external-dns writes into text. The rest is for encoding/json.
			if i++; text[i] != '"' && text[i] != '\\' {
				return "", false
			}
		}
		b = append(b, text[i])
	}
	return string(b), true
}

func (s *scanner) number() (number, bool) {
	negative := s.next('-')
	start, n := s.at, 0
	if !negative {
		s.space()
		start = s.at
	}
	for s.at < len(s.data) && '0' <= s.data[s.at] && s.data[s.at] <= '9' {
		if n = 10*n + int(s.data[s.at]-'0'); n > math.MaxUint32 {
			return 0, false
		}
		s.at++
	}
	// JSON has no numbers with a zero before them.
	if s.at == start || s.data[start] == '0' && s.at > start+1 {
		return 0, false
	}
	if negative {
		n = -n
	}
	return number(n), true
}

func (s *scanner) flag() (flag, bool) {
	s.space()
	rest := s.data[s.at:]
	switch {
	case bytes.HasPrefix(rest, []byte("true")):
		s.at += len("true")
		return true, true
	case bytes.HasPrefix(rest, []byte("false")):
		s.at += len("false")
		return false, true
	}
	return false, false
}
