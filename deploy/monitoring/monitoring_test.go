package monitoring

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// board is what is looked at of the dashboard.
type board struct {
	UID    string
	Panels []struct {
		ID          int
		Type        string
		Title       string
		Description string
		GridPos     struct{ X, Y, W, H int }
		Targets     []struct{ RefID, Expr string }
	}
}

// rules is a file of Prometheus rules.
type rules struct {
	Groups []group `json:"groups"`
}

type group struct {
	Name  string `json:"name"`
	Rules []rule `json:"rules"`
}

type rule struct {
	Alert       string            `json:"alert,omitempty"`
	Record      string            `json:"record,omitempty"`
	Expr        string            `json:"expr"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

func dashboard(t *testing.T) (b board) {
	t.Helper()
	if err := json.Unmarshal(read(t, "dashboard.json"), &b); err != nil {
		t.Fatal(err)
	}
	return b
}

func alerts(t *testing.T) (all []rule) {
	t.Helper()
	var r rules
	if err := yaml.Unmarshal(read(t, "alerts.yaml"), &r); err != nil {
		t.Fatal(err)
	}
	for _, g := range r.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestEveryMetricAndLabelExists(t *testing.T) {
	known := registered(t)
	used := make(map[string]bool)
	for _, p := range dashboard(t).Panels {
		for _, target := range p.Targets {
			for _, f := range faults(target.Expr, known, used) {
				t.Errorf("panel %q: %s in %s", p.Title, f, target.Expr)
			}
		}
	}
	// Whoever reads the dashboard must not miss what the plugins tell.
	for name := range known {
		if ours.MatchString(name) && !used[name] {
			t.Errorf("%s is in no panel", name)
		}
	}
	for _, a := range alerts(t) {
		for _, f := range faults(a.Expr, known, used) {
			t.Errorf("%s: %s", a.Alert, f)
		}
	}
}

var ours = regexp.MustCompile(`^(trident|coredns_(hosts|forward|proxy|etcd|fastudp))_`)

func TestPanelsDoNotOverlapAndExplainThemselves(t *testing.T) {
	b := dashboard(t)
	if b.UID == "" {
		t.Error("no uid: an import would make a second dashboard")
	}
	ids, titles := make(map[int]bool), make(map[string]bool)
	taken := make(map[[2]int]string)
	for _, p := range b.Panels {
		if ids[p.ID] || titles[p.Title] {
			t.Errorf("panel %d %q is there twice", p.ID, p.Title)
		}
		ids[p.ID], titles[p.Title] = true, true
		if p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
			t.Errorf("panel %q has no description or no expression", p.Title)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("panel %q overlaps %q or the right edge", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

func TestEveryAlertIsExplainedAndTried(t *testing.T) {
	manual := string(read(t, "README.md"))
	var tried struct {
		Tests []struct {
			Rules []struct {
				Name   string `json:"alertname"`
				Expect []any  `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		} `json:"tests"`
	}
	if err := yaml.Unmarshal(read(t, "alerts_test.yaml"), &tried); err != nil {
		t.Fatal(err)
	}
	fires, quiet := make(map[string]bool), make(map[string]bool)
	for _, group := range tried.Tests {
		for _, r := range group.Rules {
			if len(r.Expect) > 0 {
				fires[r.Name] = true
			} else {
				quiet[r.Name] = true
			}
		}
	}
	seen := make(map[string]bool)
	for _, a := range alerts(t) {
		if seen[a.Alert] {
			t.Errorf("%s is there twice", a.Alert)
		}
		seen[a.Alert] = true
		if !fires[a.Alert] || !quiet[a.Alert] {
			t.Errorf("%s: alerts_test.yaml does not show it firing and not firing", a.Alert)
		}
		if severity := a.Labels["severity"]; !slices.Contains([]string{"critical", "warning", "info"}, severity) {
			t.Errorf("%s has severity %q", a.Alert, severity)
		}
		if a.Annotations["summary"] == "" {
			t.Errorf("%s has no summary", a.Alert)
		}
		if strings.Count(manual, "| `"+a.Alert+"` |") != 1 {
			t.Errorf("%s is not in the table of README.md", a.Alert)
		}
	}
	for _, name := range regexp.MustCompile("(?m)^\\| `(Trident\\w+)` \\|").FindAllStringSubmatch(manual, -1) {
		if !seen[name[1]] {
			t.Errorf("%s is in README.md and does not exist", name[1])
		}
	}
}

// Grafana fills these in when it asks.
var variables = strings.NewReplacer("$__rate_interval", "5m", "$job", ".*", "$instance", ".*")

func TestPromtoolAcceptsEveryExpressionAndTriesTheAlerts(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: apt-get install prometheus")
	}
	var g group
	for _, p := range dashboard(t).Panels {
		for _, target := range p.Targets {
			g.Rules = append(g.Rules, rule{
				Record: fmt.Sprintf("panel%d:%s", p.ID, strings.ToLower(target.RefID)), Expr: variables.Replace(target.Expr),
			})
		}
	}
	g.Name = "panels"
	text, err := yaml.Marshal(rules{Groups: []group{g}})
	if err != nil {
		t.Fatal(err)
	}
	panels := filepath.Join(t.TempDir(), "panels.yaml")
	if err := os.WriteFile(panels, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"check", "rules", panels}, {"check", "rules", "alerts.yaml"}, {"test", "rules", "alerts_test.yaml"},
	} {
		if out, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
