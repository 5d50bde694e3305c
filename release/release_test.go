package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// checkout makes a small module with a program that prints its version.
func checkout(t *testing.T) *release {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":           "module example.org/small\n\ngo 1.26\n",
		"cmd/small/a.go":   "package main\n\nvar version = \"dev\"\n\nfunc main() { println(version) }\n",
		"LICENSE":          "licence\n",
		"man/coredns-x.7":  ".TH x 7\n",
		"man/not-a-page.c": "",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	man, err := manPages(filepath.Join(root, "man"))
	if err != nil {
		t.Fatal(err)
	}
	return &release{
		root: root, out: filepath.Join(t.TempDir(), "out"), version: "1.2.3", commit: "abc", time: time.Unix(1e9, 0).UTC(),
		platforms: []platform{{runtime.GOOS, runtime.GOARCH}}, programs: []string{"./cmd/small"}, documents: []string{"LICENSE"}, man: man,
	}
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(f)] = string(text)
	}
	return all
}

func TestTwoCheckoutsMakeTheSameBytes(t *testing.T) {
	var built []map[string]string
	for range 2 {
		r := checkout(t)
		if err := r.run(); err != nil {
			t.Fatal(err)
		}
		built = append(built, contents(t, r.out))
	}
	name := fmt.Sprintf("trident-1.2.3-%s-%s", runtime.GOOS, runtime.GOARCH)
	if len(built[0]) != 3 || built[0][name+".tar.gz"] == "" || built[0][name+".cdx.json"] == "" || built[0]["SHA256SUMS"] == "" {
		t.Fatalf("built %d files, want an archive, a list and checksums", len(built[0]))
	}
	for f, content := range built[0] {
		if built[1][f] != content {
			t.Errorf("%s differs", f)
		}
		if f == "SHA256SUMS" {
			continue
		}
		if line := fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(content)), f); !strings.Contains(built[0]["SHA256SUMS"], line) {
			t.Errorf("SHA256SUMS lacks %q", line)
		}
	}
}

func TestTheArchiveHoldsWhatItShould(t *testing.T) {
	r := checkout(t)
	if err := r.run(); err != nil {
		t.Fatal(err)
	}
	dir := fmt.Sprintf("trident-1.2.3-%s-%s", runtime.GOOS, runtime.GOARCH)
	packed, err := gzip.NewReader(strings.NewReader(contents(t, r.out)[dir+".tar.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	if packed.Name != "" || !packed.ModTime.IsZero() {
		t.Errorf("gzip has a name %q or a time %v", packed.Name, packed.ModTime)
	}
	var got []string
	for archive := tar.NewReader(packed); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %o", strings.TrimPrefix(h.Name, dir+"/"), h.Mode))
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || !h.ModTime.Equal(r.time) {
			t.Errorf("%s belongs to %d:%d %q and is of %v", h.Name, h.Uid, h.Gid, h.Uname, h.ModTime)
		}
		if filepath.Base(h.Name) != "small" {
			continue
		}
		binary := filepath.Join(t.TempDir(), "small")
		text, err := io.ReadAll(archive)
		if err == nil {
			err = os.WriteFile(binary, text, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(binary).CombinedOutput(); err != nil || string(out) != "1.2.3\n" {
			t.Errorf("the program says %q, %v", out, err)
		}
		if bytes.Contains(text, []byte(r.root)) {
			t.Error("the program knows where the checkout was")
		}
	}
	if want := []string{"LICENSE 644", "man/man7/coredns-x.7 644", "small 755"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheListOfModules(t *testing.T) {
	got := linked(&debug.BuildInfo{GoVersion: "go1.26.1", Deps: []*debug.Module{
		{Path: "github.com/a/b", Version: "v1.0.0+incompatible", Sum: "h1:x"},
		{Path: "example.org/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/new", Version: "v2.0.0"}},
	}})
	var refs []string
	for _, c := range got {
		refs = append(refs, c.PURL)
	}
	want := []string{"pkg:golang/std@1.26.1", "pkg:golang/github.com/a/b@v1.0.0%2Bincompatible", "pkg:golang/example.org/new@v2.0.0"}
	if !slices.Equal(refs, want) || got[1].Properties[0].Value != "h1:x" {
		t.Errorf("%+v, want %q", got, want)
	}
}

// Every reference leads somewhere, and none is defined twice: what readers of CycloneDX refuse.
func TestTheListOfModulesIsWhole(t *testing.T) {
	self, err := os.Executable() // a program with modules
	if err != nil {
		t.Fatal(err)
	}
	r := &release{version: "1.2.3", commit: "abc", time: time.Unix(1e9, 0).UTC()}
	text, err := r.bom("trident-1.2.3-x-y", []string{self})
	if err != nil {
		t.Fatal(err)
	}
	var doc bom
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Format != "CycloneDX" || doc.Spec != "1.6" || doc.Metadata.Timestamp != "2001-09-09T01:46:40Z" ||
		!regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(doc.Serial) {
		t.Errorf("%+v", doc)
	}
	refs := map[string]bool{doc.Metadata.Component.Ref: true}
	for _, c := range doc.Components {
		if refs[c.Ref] {
			t.Errorf("%s is there twice", c.Ref)
		}
		refs[c.Ref] = true
	}
	for _, d := range doc.Dependencies {
		for _, ref := range append(d.DependsOn, d.Ref) {
			if !refs[ref] {
				t.Errorf("%s leads nowhere", ref)
			}
		}
	}
}

func TestWhatIsAskedForIsChecked(t *testing.T) {
	for version, ok := range map[string]bool{"1.2.3": true, "1.2.3-rc.1": true, "": false, "v1.2.3": false, "1.2": false, "1.2.3 x": false} {
		if semantic.MatchString(version) != ok {
			t.Errorf("version %q: want %v", version, ok)
		}
	}
	got, err := parsePlatforms("linux/amd64, darwin/arm64")
	if err != nil || !slices.Equal(got, []platform{{"linux", "amd64"}, {"darwin", "arm64"}}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "linux", "linux/", "/amd64", "linux/amd64,"} {
		if _, err := parsePlatforms(bad); !errors.Is(err, errPlatform) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
