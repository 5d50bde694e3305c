package deploytest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

const manifests = "../kubernetes"

// overlays are the kustomizations that are applied, and what each must have.
var overlays = map[string][]string{
	"base": {"Deployment coredns"}, "overlays/cluster": {"Deployment coredns"},
	"overlays/cluster-etcd": {"Deployment coredns"}, "overlays/nodelocal": {"DaemonSet node-dns"},
}

func TestEveryManifestIsAnObjectOfItsAPI(t *testing.T) {
	n := 0
	err := filepath.WalkDir(manifests, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		if d.Name() == "kustomization.yaml" {
			if err := yaml.UnmarshalStrict(text, new(types.Kustomization)); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			return nil
		}
		for i, doc := range strings.Split(string(text), "\n---\n") {
			if _, err := decode([]byte(doc)); err != nil {
				t.Errorf("%s: document %d: %v", path, i+1, err)
			}
		}
		return nil
	})
	if err != nil || n < 15 {
		t.Errorf("%d files (%v)", n, err)
	}
}

func TestUnknownFieldsAndKindsAreErrors(t *testing.T) {
	for _, doc := range []string{
		"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {portz: []}\n",
		"apiVersion: v1\nkind: Service\nmetadata: {name: a, name: b}\n",
		"apiVersion: v1\nkind: Service\nmetadata: {}\n",
		"apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: a}\n",
		"apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: a}\nspec: {selectorr: {}}\n",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: two}\n",
	} {
		if obj, err := decode([]byte(doc)); err == nil {
			t.Errorf("decoded to %T:\n%s", obj, doc)
		}
	}
	if obj, err := decode([]byte("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n")); err != nil {
		t.Error(err)
	} else if _, ok := obj.(*appsv1.Deployment); !ok {
		t.Errorf("a Deployment decoded to %T", obj)
	}
}

func mustRender(t *testing.T, overlay string) *cluster {
	t.Helper()
	c, err := render(filepath.Join(manifests, overlay))
	if err != nil {
		t.Fatalf("%s: %v", overlay, err)
	}
	return c
}

func TestTheObjectsOfEveryOverlayFit(t *testing.T) {
	dirs, err := filepath.Glob(manifests + "/overlays/*")
	if err != nil || len(dirs)+1 != len(overlays) {
		t.Fatalf("%d overlays (%v), the test knows %d", len(dirs), err, len(overlays)-1)
	}
	for name, want := range overlays {
		t.Run(name, func(t *testing.T) {
			c := mustRender(t, name)
			var got []string
			for n, w := range c.workloads {
				got = append(got, w.kind+" "+n)
			}
			if !slices.Equal(got, want) {
				t.Errorf("workloads %q, want %q", got, want)
			}
			for _, p := range c.problems() {
				t.Error(p)
			}
		})
	}
}

func TestEveryPodMonitorHasItsPods(t *testing.T) {
	monitors := mustRender(t, "overlays/cluster-etcd").monitors
	if len(monitors) != 2 {
		t.Fatalf("%d monitors, want those of the cluster's and the nodes' DNS", len(monitors))
	}
	for name, m := range monitors {
		if mustRender(t, "overlays/cluster").selected(m.Spec.Selector.MatchLabels) == nil &&
			mustRender(t, "overlays/nodelocal").selected(m.Spec.Selector.MatchLabels) == nil {
			t.Errorf("PodMonitor %s: no overlay has such pods", name)
		}
	}
	cf, err := parseCorefile(mustRender(t, "overlays/nodelocal").configMaps["node-dns"].Data["Corefile"], env)
	if err != nil {
		t.Fatal(err)
	}
	port, err := cf.port("prometheus", 9153)
	relabelings := monitors["node-dns"].Spec.PodMetricsEndpoints[0].Relabelings
	last := relabelings[len(relabelings)-1]
	if err != nil || port != 9253 || last.Replacement != "$1:9253" || last.TargetLabel != "__address__" {
		t.Errorf("the nodes' metrics are at port %d (%v), the monitor asks %+v", port, err, last)
	}
}
