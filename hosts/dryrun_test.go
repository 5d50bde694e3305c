package hosts

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trident-dns/trident/hosts/internal/source"
	"github.com/trident-dns/trident/internal/trial"

	"github.com/coredns/caddy"
)

// try runs the set-up and then what it offers, and returns a line "level subject: detail" a finding.
func try(t *testing.T, block string) []string {
	t.Helper()
	c := caddy.NewTestController("dns", block)
	p := trial.Begin(c)
	if err := setup(c); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range p.Run(t.Context(), false) {
		lines = append(lines, fmt.Sprintf("%v %s: %s", f.Level, f.Subject, f.Detail))
	}
	return lines
}

func TestADryRunReadsEverySourceAndKeepsNothing(t *testing.T) {
	lists := http.NewServeMux()
	lists.HandleFunc("/good", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ads.example\ntracker.example") })
	lists.HandleFunc("/hosts", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "10.0.0.9 nine.example") })
	web := httptest.NewServer(lists)
	defer web.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hosts":   "10.0.0.1 a.example b.example\n",
		"some":    "10.0.0.1 a.example\nnonsense\n",
		"empty":   "# nothing\n",
		"useless": "nonsense\n",
		"d/one":   "10.0.0.2 c.example\n",
		"d/two":   "10.0.0.3 d.example\n10.0.0.4 e.example\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cache := filepath.Join(dir, "cache")
	for _, tt := range []struct {
		block string
		want  []string // beginnings of the findings
	}{
		{"hosts DIR/hosts", []string{"ok file DIR/hosts: 2 entries"}},
		{"hosts DIR/some", []string{"warning file DIR/some: 1 entries, and 1 that cannot be used: line 2:"}},
		{"hosts DIR/empty", []string{"warning file DIR/empty: no entries"}},
		{"hosts DIR/useless", []string{"problem file DIR/useless: not one usable line"}},
		{"hosts DIR/missing", []string{"problem file DIR/missing: stat DIR/missing: no such file"}},
		{"hosts DIR/d", []string{"problem file DIR/d: not a regular file"}},
		{"hosts {\nfile DIR/d DIR/*.none\n}", []string{
			"ok file DIR/d, DIR/d/one: 1 entries", "ok file DIR/d, DIR/d/two: 2 entries", "warning file DIR/*.none: no file matches",
		}},
		{"hosts {\nurl WEB/hosts WEB/gone\ncache_dir DIR/cache\n}", []string{
			"ok url WEB/hosts: 1 entries", "problem url WEB/gone: server answers 404", "ok cache_dir DIR/cache: will be made",
		}},
		{"hosts {\nblock WEB/good DIR/missing\nallow DIR/useless\n}", []string{
			"ok block WEB/good: 2 entries", "problem block DIR/missing: stat", "problem allow DIR/useless: not one usable line",
		}},
		{"hosts {\nurl WEB/hosts\ncache_dir DIR/hosts\n}", []string{
			"ok url WEB/hosts", "problem cache_dir DIR/hosts: not a directory",
		}},
	} {
		fill := strings.NewReplacer("DIR", dir, "WEB", web.URL).Replace
		got := try(t, fill(tt.block))
		if len(got) != len(tt.want) {
			t.Errorf("%q\nwant %q of %s", got, tt.want, tt.block)
			continue
		}
		for i, want := range tt.want {
			if !strings.HasPrefix(got[i], fill(want)) {
				t.Errorf("%q, want %q of %s", got[i], want, tt.block)
			}
		}
	}
	if _, err := os.Stat(cache); err == nil {
		t.Error("a dry run made cache_dir")
	}
}

func TestADryRunCountsOnTheCopyOfAListWhoseServerIsAway(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "10.0.0.9 nine.example")
	}))
	cache := t.TempDir()
	u := source.OpenURL(source.URLConfig{URL: web.URL, Refresh: defaultURLRefresh, CacheDir: cache}, newObserver())
	eventually(t, "the list is loaded", u.Ready)
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	web.Close()
	got := try(t, fmt.Sprintf("hosts {\nurl %s\ncache_dir %s\n}", web.URL, cache))
	if len(got) != 2 || !strings.HasPrefix(got[0], "warning url "+web.URL+": the copy on disk with 1 entries is served") {
		t.Errorf("%q", got)
	}
}
