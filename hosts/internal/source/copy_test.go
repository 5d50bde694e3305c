package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func copyOf(t testing.TB, cfg URLConfig, text string) []byte {
	t.Helper()
	w, err := newCopy(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer w.abandon()
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.finish(validators{ETag: `"x"`}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(copyPath(cfg))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestADamagedCopyIsNoCopy(t *testing.T) {
	cfg := URLConfig{URL: "http://a.example/", CacheDir: t.TempDir()}
	good := copyOf(t, cfg, "10.0.0.1 a\n")
	if c, err := parseCopy(cfg, bytes.NewReader(good)); err != nil || c.validators.ETag != `"x"` || c.part.Entries() != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	for what, b := range map[string][]byte{
		"empty": nil, "cut in the header": good[:100], "cut in the text": good[:len(good)-3],
		"longer":         append(bytes.Clone(good), "10.0.0.2 b\n"...),
		"changed":        bytes.Replace(good, []byte("10.0.0.1"), []byte("10.0.0.2"), 1),
		"of another URL": bytes.Replace(good, []byte("a.example"), []byte("b.example"), 1),
	} {
		if _, err := parseCopy(cfg, bytes.NewReader(b)); !errors.Is(err, errBadCopy) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := readCopy(URLConfig{URL: "http://other.example/", CacheDir: cfg.CacheDir}); !errors.Is(err, errNoCopy) {
		t.Errorf("of a URL without one: %v", err)
	}
}

func TestACacheDirThatCannotBeMade(t *testing.T) {
	s := newSite(t)
	s.serve("10.0.0.1 a\n")
	file := filepath.Join(t.TempDir(), "file")
	save(t, file, "")
	u, r := open(t, URLConfig{URL: s.URL, Refresh: slow, CacheDir: filepath.Join(file, "dir")})
	within(t, patient, "loaded", u.Ready)
	if !r.saw("not kept") {
		t.Errorf("nobody was told: %v", r.all())
	}
}

// Whatever is on disk, it is a copy with the right checksum or refused.
func FuzzParseCopy(f *testing.F) {
	cfg := URLConfig{URL: "http://a.example/", CacheDir: f.TempDir()}
	good := copyOf(f, cfg, "10.0.0.1 a\n")
	f.Add(good)
	f.Add(good[:copyHeaderSize])
	f.Add([]byte(fmt.Sprintf(`{"trident_hosts_copy":1,"url":"http://a.example/","size":-1}%8192s`, "")))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseCopy(cfg, bytes.NewReader(b))
		if err == nil && (len(b) < copyHeaderSize || c.part.Hosts == nil) {
			t.Fatalf("accepted: %+v", c)
		}
	})
}
