package hostsfile

import "bytes"

// cutStar splits *.name.
func cutStar(field []byte) (name []byte, below bool) { return bytes.CutPrefix(field, []byte("*.")) }

// isOwnName reports whether name is one that hosts files have for the machine itself, or an address by mistake.
func isOwnName(name []byte) bool {
	name = bytes.TrimSuffix(name, []byte("."))
	if bytes.IndexByte(name, '.') < 0 || string(name) == "localhost.localdomain" {
		return true
	}
	_, isAddr := ParseAddr(string(name))
	return isAddr
}

// isHostName reports whether name consists of what names of hosts are made of, and the underscore. A list of plain
// names is checked this strictly because the syntax of other kinds of list has names in it too.
func isHostName(name []byte) bool {
	for _, c := range name {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_':
		default:
			return false
		}
	}
	return len(name) > 0
}

// excerpt copies as much of field as a log line should have.
func excerpt(field []byte) []byte { return bytes.Clone(field[:min(len(field), 64)]) }

// looksLikeAddr tells names from addresses without the cost of failing to parse one: the lines of a list of names all
// start with a name.
func looksLikeAddr(field []byte) bool {
	for _, c := range field {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'f', 'A' <= c && c <= 'F', c == '.', c == ':':
		case c == '%':
			return true
		default:
			return false
		}
	}
	return true
}
