package kubernetes

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"text/template"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// applier does what kubectl does with manifests.
type applier struct {
	objects dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

func newApplier(t *testing.T, admin *rest.Config, client *kubernetes.Clientset) *applier {
	t.Helper()
	objects, err := dynamic.NewForConfig(admin)
	if err != nil {
		t.Fatal(err)
	}
	return &applier{objects, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))}
}

func (a *applier) resource(t *testing.T, obj *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	gvk := obj.GroupVersionKind()
	var r dynamic.ResourceInterface
	// A kind that was only just defined takes a moment to be served.
	eventually(t, gvk.String(), func() error {
		m, err := a.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		if err != nil {
			a.mapper.Reset()
			return err
		}
		r = a.objects.Resource(m.Resource)
		if ns := obj.GetNamespace(); ns != "" {
			r = a.objects.Resource(m.Resource).Namespace(ns)
		}
		return nil
	})
	return r
}

// overlay applies a kustomization of deploy/kubernetes: kubectl apply --server-side --force-conflicts -k.
func (a *applier) overlay(t *testing.T, name string) {
	t.Helper()
	k := krusty.MakeKustomizer(krusty.MakeDefaultOptions())
	rendered, err := k.Run(filesys.MakeFsOnDisk(), filepath.Join(checkout, "deploy/kubernetes", name))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rendered.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		a.apply(t, text)
	}
}

// apply is one object of it. The API server refuses fields that it does not know.
func (a *applier) apply(t *testing.T, text []byte) {
	t.Helper()
	obj := parse(t, text)
	body, err := obj.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	force := true
	r := a.resource(t, obj)
	eventually(t, obj.GetKind()+" "+obj.GetName(), func() error {
		_, err := r.Patch(t.Context(), obj.GetName(), types.ApplyPatchType, body,
			metav1.PatchOptions{FieldManager: "kubectl", Force: &force, FieldValidation: metav1.FieldValidationStrict})
		return err
	})
}

// create makes an object as kubeadm does.
func (a *applier) create(t *testing.T, text []byte) {
	t.Helper()
	obj := parse(t, text)
	obj.SetResourceVersion("")
	_, err := a.resource(t, obj).Create(context.Background(), obj, metav1.CreateOptions{FieldManager: "kubeadm"})
	if err != nil {
		t.Fatalf("%s %s: %v", obj.GetKind(), obj.GetName(), err)
	}
}

func parse(t *testing.T, text []byte) *unstructured.Unstructured {
	t.Helper()
	obj := new(unstructured.Unstructured)
	if err := yaml.Unmarshal(text, &obj.Object); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return obj
}

// kubeadmCoreDNS is the DNS that kubeadm of this version gives to a cluster: the manifests in its source, which are
// templates in string constants.
func kubeadmCoreDNS(t *testing.T) [][]byte {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").Output()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(strings.TrimSpace(string(dir)), "cmd/kubeadm/app/phases/addons/dns/manifests.go")
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil || !strings.Contains(text, "apiVersion:") {
			return true
		}
		var b bytes.Buffer
		err = template.Must(template.New("").Parse(text)).Execute(&b, map[string]any{
			"DNSIP": "10.96.0.10", "DNSDomain": "cluster.local", "Replicas": 2, "DeploymentName": "coredns",
			"Image": "registry.k8s.io/coredns/coredns:v1", "ControlPlaneTaintKey": "node-role.kubernetes.io/control-plane",
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b.Bytes())
		return true
	})
	if len(all) != 6 {
		t.Fatalf("%s has %d manifests, want 6", path, len(all))
	}
	return all
}
