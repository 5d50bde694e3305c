package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/freeport"
	"github.com/trident-dns/trident/internal/proctest"
)

// pluginCfg reads the directives of CoreDNS's plugin.cfg in their order, from the module that we build with.
func pluginCfg(t *testing.T) []string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/coredns/coredns").Output()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(strings.TrimSpace(string(dir)), "plugin.cfg"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var names []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if name, _, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "#") {
			names = append(names, name)
		}
	}
	if len(names) < 50 {
		t.Fatalf("plugin.cfg has %d directives, expected CoreDNS's whole list", len(names))
	}
	return names
}

func TestDirectivesAreInTheOrderOfCoreDNS(t *testing.T) {
	got := directives()
	i := slices.Index(got, "fastudp")
	if i < 1 || got[i-1] != "shed" {
		t.Errorf("fastudp is not right after shed: %q", got)
	}
	if want := pluginCfg(t); !slices.Equal(slices.Delete(got, i, i+1), want) {
		t.Errorf("directives, without fastudp, %q\nwant CoreDNS's %q", got, want)
	}
}

// caddy panics when two plugins of one name are linked in, and so does Prometheus on a metric registered twice: no
// plugin of this binary may bring an in-tree twin of ours, nor the package whose metrics we took over.
func TestNoInTreeTwinIsLinkedIn(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "github.com/coredns/coredns/plugin/etcd/msg") {
		t.Error("the list of dependencies lacks one that is known to be there")
	}
	for _, twin := range []string{"plugin/hosts", "plugin/forward", "plugin/etcd", "plugin/pkg/proxy"} {
		if slices.Contains(deps, "github.com/coredns/coredns/"+twin) {
			t.Errorf("CoreDNS's %s is linked in", twin)
		}
	}
}

func TestTheCommandLine(t *testing.T) {
	bin := proctest.Build(t, ".")
	dir := t.TempDir()

	t.Run("plugins lists what was built in and nothing else", func(t *testing.T) {
		out, code := proctest.Run(t, dir, bin, "-plugins")
		var got []string
		for _, line := range strings.Split(out, "\n") {
			name := strings.TrimPrefix(strings.TrimSpace(line), "dns.")
			if slices.Contains(directives(), name) {
				got = append(got, name)
			}
		}
		want := []string{"fastudp"}
		for _, name := range pluginCfg(t) {
			if !slices.Contains(leftOut, name) {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if code != 0 || !slices.Equal(got, want) {
			t.Errorf("exit %d, plugins %q\nwant %q", code, got, want)
		}
	})

	t.Run("version shows ours and CoreDNS's", func(t *testing.T) {
		out, code := proctest.Run(t, dir, bin, "-version")
		if code != 0 || !strings.HasPrefix(out, "CoreDNS-1.15.0 Trident-"+version+"\n") {
			t.Errorf("exit %d, printed %q", code, out)
		}
	})

	t.Run("the build is a metric", func(t *testing.T) {
		addr := freeport.Addr(t)
		proctest.Start(t, dir, bin, "-conf", proctest.WriteFile(t, dir, "Corefile.metric",
			"example.org:0 {\n    bind 127.0.0.1\n    prometheus %s\n    whoami\n}\n", addr))
		want := `coredns="1.15.0",goversion="` + runtime.Version() + `",`
		var text []byte
		for end := time.Now().Add(proctest.Wait); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
			res, err := http.Get("http://" + addr + "/metrics")
			if err != nil {
				continue // not listening yet
			}
			text, err = io.ReadAll(res.Body)
			res.Body.Close()
			if err == nil && strings.Contains(string(text), "trident_build_info{"+want) {
				return
			}
		}
		t.Errorf("no trident_build_info with %s in\n%s", want, text)
	})

	for _, name := range leftOut {
		t.Run(name+" names the tag", func(t *testing.T) {
			file := proctest.WriteFile(t, t.TempDir(), "Corefile", "example.org:0 {\n    bind 127.0.0.1\n    %s\n}\n", name)
			out, code := proctest.Run(t, dir, bin, "-conf", file)
			if code == 0 || !strings.Contains(out, file+":3") || !strings.Contains(out, "-tags cloud") ||
				!strings.Contains(out, `"`+name+`"`) {
				t.Errorf("exit %d, printed %q; want the file, the line, the directive and the tag", code, out)
			}
		})
	}
}
