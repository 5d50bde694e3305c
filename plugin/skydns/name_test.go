package skydns

import (
	"strings"
	"testing"

	"github.com/miekg/dns"
)

func TestPrefixesAsPeopleWriteThem(t *testing.T) {
	for in, want := range map[string]Prefix{
		"/skydns": "/skydns", "skydns": "/skydns", "skydns/": "/skydns", "/a/b": "/a/b", "a//b/": "/a/b", "/": "", "": "",
	} {
		if got := ParsePrefix(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestKeysAndNames(t *testing.T) {
	for _, tt := range []struct{ prefix, key, name string }{
		{"/skydns", "/skydns/test/zone/a", "a.zone.test."},
		{"/skydns", "/skydns/test/zone/a/", "a.zone.test."},
		{"/skydns", "/skydns/test//zone/a", "a.zone.test."},
		{"/skydns", "/skydns/Test/ZONE/A", "a.zone.test."},
		{"/skydns", "/skydns/test/zone/10.0.0.1", "10.0.0.1.zone.test."},
		{"/skydns", "/skydns/test/zone/_sip/_tcp", "_tcp._sip.zone.test."},
		{"/skydns", "/skydns/test/zone/*/x", "x.*.zone.test."},
		{"/skydns", "/skydns/test/zone/host:app:80", "host:app:80.zone.test."},
		{"/skydns", "/skydns/test/zone/ä", `\195\164.zone.test.`},
		{"/skydns", "/skydns/test/zone/a\\.b", `a\.b.zone.test.`},
		{"/skydns", "/skydns/test/zone/a\\047b", `a/b.zone.test.`},
		{"/skydns", "/skydns", "."},
		{"/skydns", "/skydns/", "."},
		{"/a/b", "/a/b/test/x", "x.test."},
		{"", "/test/x", "x.test."},
	} {
		path, err := Prefix(tt.prefix).Path(tt.key)
		if err != nil {
			t.Errorf("%s: %v", tt.key, err)
			continue
		}
		if got := NameOf(path); got != tt.name {
			t.Errorf("%s: got name %s, want %s", tt.key, got, tt.name)
		}
		if got := PathOf(tt.name); got != path {
			t.Errorf("%s: got path %q for the name, %q for the key", tt.key, got, path)
		}
		if got := PathOf(strings.ToUpper(tt.name)); got != path {
			t.Errorf("%s in upper case: got path %q, want %q", tt.name, got, path)
		}
	}
}

func TestKeysThatAreNoNames(t *testing.T) {
	for _, key := range []string{
		"/skydns/test/a..b", "/skydns/test/.a", "/skydns/test/a.", "/skydns/test/a\\",
		"/skydns/test/" + strings.Repeat("a", 64), "/skydns" + strings.Repeat("/abcdefg", 32), "/other/a", "/skydnsx/a",
	} {
		if path, err := Prefix("/skydns").Path(key); ReasonOf(err) != ReasonName {
			t.Errorf("%s: got %q, %v, want reason %q", key, path, err, ReasonName)
		}
	}
}

func TestStrippingLabels(t *testing.T) {
	for _, tt := range []struct {
		path string
		n    int
		want string
	}{
		{"test/zone/a", 0, "test/zone/a"}, {"test/zone/a", 1, "test/zone"}, {"test/zone/a", 2, "test"},
		{"test/zone/a", 3, "test/zone/a"}, {"test/zone/a", 255, "test/zone/a"}, {"", 1, ""},
	} {
		if got := StripPath(tt.path, tt.n); got != tt.want {
			t.Errorf("%s less %d: got %s, want %s", tt.path, tt.n, got, tt.want)
		}
	}
}

// FuzzPath: every key gives a name that can be packed and that has the path of the key, whatever its case, or an error
// with a reason.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"test/zone/a", "Test//x/", `a\.b/c`, `a\047/b`, "ä/1.2.3", "*", `\`, "a b/\"", "\x00/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, rest string) {
		path, err := Prefix("/skydns").Path("/skydns/" + rest)
		if err != nil {
			if ReasonOf(err) != ReasonName {
				t.Fatalf("%q: %v", rest, err)
			}
			return
		}
		name := NameOf(path)
		var buf [255]byte
		end, err := dns.PackDomainName(name, buf[:], 0, nil, false)
		if err != nil {
			t.Fatalf("%q: name %q: %v", rest, name, err)
		}
		asked, _, err := dns.UnpackDomainName(buf[:end], 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := PathOf(asked); got != path {
			t.Fatalf("%q: path %q, and %q when its name is asked for", rest, path, got)
		}
		again, err := Prefix("/skydns").Path("/skydns/" + path)
		if err != nil || again != path {
			t.Fatalf("%q: path %q becomes %q, %v", rest, path, again, err)
		}
	})
}

func TestLowerIsCanonicalName(t *testing.T) {
	for _, name := range []string{
		"", ".", "a", "a.", "A.", "a.B", `a\.`, `a\\.`, `a\.b.`, `\065.`, "ä.", "Ä.b.", "*.a-1._b.", strings.Repeat("x", 300) + ".",
	} {
		if got, want := Lower(name), dns.CanonicalName(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
