// Package hostsfile reads the text of hosts files, hosts(5), and of lists of names. It is made for text that others
// wrote and that may be large, cut off, in another encoding or something else altogether: it takes memory that does
// not depend on the text, goes on after what it cannot use, and reports how much that was, why, and where.
package hostsfile

import (
	"errors"
	"io"
	"net/netip"
	"strings"

	"github.com/trident-dns/trident/hosts/internal/wire"
)

// Parse reads hosts(5) lines, an address and its names, and calls add for every name, which is in wire format, lower
// case and valid until add returns. IPv4-mapped addresses are given as IPv4, the zone of an IPv6 address is dropped.
func Parse(r io.Reader, add func(name []byte, a netip.Addr) error) (Report, error) {
	p := parser{add: add}
	return p.run(r)
}

// ParseList reads a list of names: hosts(5) lines, whose address does not matter, or lines of one domain name each.
// With below, add is told of a name that was written *.name and stands for everything below it too.
//
// Names of one label and localhost.localdomain on a line with an address are what a hosts file has for the machine
// itself: they are left out. A bare name must have two labels, so that a web page served in place of a list does not
// look like one.
func ParseList(r io.Reader, add func(name []byte, below bool) error) (Report, error) {
	p := parser{addList: add}
	return p.run(r)
}

type parser struct {
	add     func(name []byte, a netip.Addr) error
	addList func(name []byte, below bool) error

	s      *scanner
	report Report
	name   []byte
	bare   []byte // copy of the name on the current line, for messages

	rawAddr [maxField]byte // the address field that lastAddr came from: the lines of a list mostly share it
	rawLen  int
	addr    netip.Addr
}

func (p *parser) run(r io.Reader) (Report, error) {
	text, err := decode(r)
	if err != nil {
		return p.report, err
	}
	p.s = newScanner(text)
	for {
		done, err := p.parseLine()
		if done || err != nil {
			return p.report, err
		}
	}
}

// parseLine reads one line. done reports the end of the text.
func (p *parser) parseLine() (done bool, err error) {
	tok, field, err := p.s.next()
	if err != nil {
		return true, err
	}
	switch tok {
	case tokenEnd, tokenLine:
		return tok == tokenEnd, nil
	case tokenLong:
		p.report.problem(p.s.line, TooLong, "first field is longer than %d octets", maxField)
		p.s.skipLine()
		return false, nil
	}
	if p.setAddr(field) {
		return p.parseNames()
	}
	if p.addList != nil {
		return p.parseBare(field)
	}
	p.report.problem(p.s.line, BadAddress, "%q is not an IP address", excerpt(field))
	p.s.skipLine()
	return false, nil
}

// setAddr makes field the address of the line, unless it is none.
func (p *parser) setAddr(field []byte) bool {
	if p.rawLen > 0 && string(field) == string(p.rawAddr[:p.rawLen]) {
		return true
	}
	if !looksLikeAddr(field) {
		return false
	}
	a, ok := ParseAddr(string(field))
	if !ok {
		return false
	}
	p.rawLen = copy(p.rawAddr[:], field)
	p.addr = a
	return true
}

// ParseAddr parses an address as hosts files have it.
func ParseAddr(text string) (netip.Addr, bool) {
	text, _, _ = strings.Cut(text, "%")
	a, err := netip.ParseAddr(text)
	return a.Unmap(), err == nil
}

// parseNames reads the names behind the address.
func (p *parser) parseNames() (done bool, err error) {
	line := p.s.line
	for n := 0; ; n++ {
		tok, field, err := p.s.next()
		if err != nil {
			return true, err
		}
		switch tok {
		case tokenEnd, tokenLine:
			if n == 0 {
				p.report.problem(line, NoName, "address %s without a name", p.addr)
			}
			return tok == tokenEnd, nil
		case tokenLong:
			p.report.problem(line, TooLong, "name longer than %d octets", maxField)
		default:
			if err := p.parseName(line, field); err != nil {
				return true, err
			}
		}
	}
}

func (p *parser) parseName(line int, field []byte) error {
	below := false
	if p.addList != nil {
		if field, below = cutStar(field); !below && isOwnName(field) {
			return nil
		}
	}
	if !p.setName(line, field) {
		return nil
	}
	if p.addList != nil {
		return p.keep(line, field, p.addList(p.name, below))
	}
	return p.keep(line, field, p.add(p.name, p.addr))
}

// parseBare reads the rest of a line of a list that starts with field, which must be a name and the only one.
func (p *parser) parseBare(field []byte) (done bool, err error) {
	line := p.s.line
	field, below := cutStar(field)
	switch {
	case !isHostName(field):
		p.report.problem(line, BadName, "%q is neither an IP address nor a domain name", excerpt(field))
		p.s.skipLine()
		return false, nil
	case !below && isOwnName(field):
		p.report.problem(line, BadName, "%q is not a domain name of two labels", excerpt(field))
		p.s.skipLine()
		return false, nil
	case !p.setName(line, field):
		p.s.skipLine()
		return false, nil
	}
	p.bare = append(p.bare[:0], field...)
	tok, more, err := p.s.next() // field is no longer valid, p.name is
	switch {
	case err != nil:
		return true, err
	case tok == tokenField || tok == tokenLong:
		p.report.problem(line, BadName, "%q is followed by %q: a line has one name", excerpt(p.bare), excerpt(more))
		p.s.skipLine()
		return false, nil
	}
	return tok == tokenEnd, p.keep(line, p.bare, p.addList(p.name, below))
}

// setName puts field into p.name, unless it is no domain name.
func (p *parser) setName(line int, field []byte) bool {
	for _, c := range field {
		if c >= 0x80 || c == 0 {
			p.report.problem(line, BadEncoding, "name %q is not ASCII", excerpt(field))
			return false
		}
	}
	name, err := wire.Append(p.name[:0], field)
	if err != nil {
		p.report.problem(line, BadName, "name %q: %v", excerpt(field), err)
		return false
	}
	p.name = name
	return true
}

// keep counts what the receiver did with an entry.
func (p *parser) keep(line int, field []byte, err error) error {
	switch {
	case err == nil:
		p.report.Names++
		return nil
	case errors.Is(err, ErrSkip):
		p.report.problem(line, OverLimit, "name %q: %v", excerpt(field), err)
		return nil
	}
	return err
}
