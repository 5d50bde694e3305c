package deploytest

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/proctest"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// report is what -check-output json prints.
type report struct {
	OK                 bool
	Problems, Warnings int
	Findings           []struct{ Level, Plugin, Subject, Detail string }
}

// check has the binary check a Corefile, without the network, whose files are those of dir in the place of /etc/coredns.
func check(t *testing.T, bin, dir, corefile string) report {
	t.Helper()
	conf := proctest.WriteFile(t, dir, "Corefile", "%s", strings.NewReplacer("/etc/coredns/", dir+"/", "/var/lib/trident/", dir+"/").Replace(corefile))
	cmd := exec.Command(bin, "-check", "-check-offline", "-check-output", "json", "-conf", conf)
	cmd.Env = os.Environ()
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	out, err := cmd.Output()
	var r report
	if e := json.Unmarshal(out, &r); e != nil || r.OK != (err == nil) {
		t.Fatalf("-check: %v, %v\n%s", err, e, out)
	}
	return r
}

// build compiles the server in its own module.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "coredns")
	cmd := exec.Command("go", "build", "-o", bin, "./cmd/coredns")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the server: %v\n%s", err, out)
	}
	return bin
}

// etcCoredns makes what the pods have in /etc/coredns: the client certificate of etcd, and what the README has a cluster
// add in coredns-custom.
func etcCoredns(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"etcd-tls", "custom"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ca := dnstest.NewCA(t)
	cert, key := ca.Files(t, "client")
	for name, from := range map[string]string{"tls.crt": cert, "tls.key": key} {
		if err := os.Symlink(from, filepath.Join(dir, "etcd-tls", name)); err != nil {
			t.Fatal(err)
		}
	}
	proctest.WriteFile(t, filepath.Join(dir, "etcd-tls"), "ca.crt", "%s", ca.PEM())
	for name, text := range readmeCustom(t).Data {
		proctest.WriteFile(t, filepath.Join(dir, "custom"), name, "%s", text)
	}
	return dir
}

// readmeCustom is the ConfigMap in the README.
func readmeCustom(t *testing.T) *corev1.ConfigMap {
	t.Helper()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "   ~~~ yaml\n")
	doc, _, closed := strings.Cut(rest, "   ~~~\n")
	if !found || !closed {
		t.Fatal("the README has no ConfigMap")
	}
	cm := new(corev1.ConfigMap)
	if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll("\n"+doc, "\n   ", "\n")), cm); err != nil {
		t.Fatal(err)
	}
	for name := range cm.Data {
		if ext := filepath.Ext(name); ext != ".server" && ext != ".override" {
			t.Errorf("the README's key %s is imported by no Corefile", name)
		}
	}
	return cm
}

func TestOurBinaryAcceptsEveryCorefile(t *testing.T) {
	bin, dir := build(t), etcCoredns(t)
	checked := 0
	for overlay := range overlays {
		for name, cm := range mustRender(t, overlay).configMaps {
			checked++
			t.Run(overlay+" "+name, func(t *testing.T) {
				r := check(t, bin, dir, cm.Data["Corefile"])
				for _, f := range r.Findings {
					if f.Level == "problem" || f.Level == "warning" && !strings.Contains(f.Detail, "valid until") { // for an hour
						t.Errorf("%s: %s: %s: %s", f.Level, f.Plugin, f.Subject, f.Detail)
					}
				}
			})
		}
	}
	if checked != len(overlays) {
		t.Errorf("%d Corefiles in %d overlays", checked, len(overlays))
	}

	for _, tt := range []struct{ old, new, want string }{
		{"max_concurrent 1000", "max_concurrent many", "max_concurrent"},
		{"    loadbalance\n}", "    loadbalance\n", "Corefile"},
		{"    ready\n", "    readyy\n", "readyy"},
	} {
		t.Run("refused: "+tt.new, func(t *testing.T) {
			cf := mustRender(t, "base").configMaps["coredns"].Data["Corefile"]
			r := check(t, bin, dir, strings.Replace(cf, tt.old, tt.new, 1))
			var details []string
			for _, f := range r.Findings {
				if f.Level == "problem" {
					details = append(details, f.Subject+" "+f.Detail)
				}
			}
			if r.OK || !strings.Contains(strings.Join(details, "\n"), tt.want) {
				t.Errorf("ok %v, problems %q, want one about %q", r.OK, details, tt.want)
			}
		})
	}
	if got := slices.Sorted(maps.Keys(readmeCustom(t).Data)); len(got) != 2 {
		t.Errorf("keys of the README's ConfigMap: %q, want one of each kind", got)
	}
}
