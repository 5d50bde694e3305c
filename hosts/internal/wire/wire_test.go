package wire

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

func TestWhatIsNoName(t *testing.T) {
	long := strings.Repeat("a", 63)
	for text, want := range map[string]error{
		"": ErrEmpty, "..": ErrEmpty, "a..b": ErrEmpty, ".a": ErrEmpty,
		long + "a.b":                ErrLongLabel,
		long + ".":                  nil,
		strings.Repeat("a.", 127):   nil,
		strings.Repeat("a.", 128):   ErrLongName,
		strings.Repeat(long+".", 4): ErrLongName,
		`a\`:                        ErrBadEscape,
		`a\2`:                       ErrBadEscape,
		`a\256`:                     ErrBadEscape,
		`a\.b`:                      nil,
		".":                         nil,
	} {
		if _, err := Append(nil, text); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

// The form is the one that miekg/dns packs, and the text leads back to it. What it refuses, it says why.
func FuzzAppend(f *testing.F) {
	for _, s := range []string{"a.b.", "EXAMPLE.org", `a\.b\065\000.c`, ".", "", "a..b", `\`, strings.Repeat("x.", 140)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		prefix := []byte("kept")
		got, err := Append(bytes.Clone(prefix), text)
		if err != nil {
			if !errors.Is(err, ErrEmpty) && !errors.Is(err, ErrLongLabel) && !errors.Is(err, ErrLongName) &&
				!errors.Is(err, ErrBadEscape) {
				t.Fatalf("error outside of the set: %v", err)
			}
			if !bytes.Equal(got, prefix) {
				t.Fatalf("an error changed the prefix: %q", got)
			}
			return
		}
		name := got[len(prefix):]
		if len(name) != Len(name) || len(name) > MaxName {
			t.Fatalf("length %d, Len %d", len(name), Len(name))
		}
		back := string(AppendText(nil, name))
		if n, ok := dns.IsDomainName(back); !ok || n != Labels(name) && back != "." {
			t.Fatalf("%q becomes %q, with %d labels", text, back, n)
		}
		buf := make([]byte, 300)
		n, err := dns.PackDomainName(back, buf, 0, nil, false)
		if err != nil || !bytes.Equal(buf[:n], name) {
			t.Fatalf("%q packs to %q (%v), want %q", back, buf[:n], err, name)
		}
	})
}
