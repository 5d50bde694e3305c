package deploytest

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// cluster is what an overlay renders to, sorted by kind. Names are unique in each.
type cluster struct {
	configMaps  map[string]*corev1.ConfigMap
	services    map[string]*corev1.Service
	accounts    map[string]*corev1.ServiceAccount
	roles       map[string]*rbacv1.ClusterRole
	bindings    map[string]*rbacv1.ClusterRoleBinding
	workloads   map[string]*workload
	budgets     map[string]*policyv1.PodDisruptionBudget
	autoscalers map[string]*autoscalingv2.HorizontalPodAutoscaler
	policies    map[string]*networkingv1.NetworkPolicy
	monitors    map[string]*podMonitor
}

// workload is a Deployment or a DaemonSet.
type workload struct {
	kind     string
	replicas *int32 // nil: not said, or a DaemonSet
	selector *metav1.LabelSelector
	pod      *corev1.PodTemplateSpec
}

// render builds the kustomization in dir as kubectl does.
func render(dir string) (*cluster, error) {
	m, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	c := &cluster{
		configMaps: map[string]*corev1.ConfigMap{}, services: map[string]*corev1.Service{},
		accounts: map[string]*corev1.ServiceAccount{}, roles: map[string]*rbacv1.ClusterRole{},
		bindings: map[string]*rbacv1.ClusterRoleBinding{}, workloads: map[string]*workload{},
		budgets: map[string]*policyv1.PodDisruptionBudget{}, policies: map[string]*networkingv1.NetworkPolicy{},
		autoscalers: map[string]*autoscalingv2.HorizontalPodAutoscaler{}, monitors: map[string]*podMonitor{},
	}
	for _, r := range m.Resources() {
		doc, err := r.AsYAML()
		if err != nil {
			return nil, err
		}
		obj, err := decode(doc)
		if err != nil {
			return nil, err
		}
		if err := c.add(obj); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *cluster) add(obj metav1.Object) error {
	name := obj.GetName()
	namespaced := true
	switch o := obj.(type) {
	case *corev1.ConfigMap:
		c.configMaps[name] = o
	case *corev1.Service:
		c.services[name] = o
	case *corev1.ServiceAccount:
		c.accounts[name] = o
	case *rbacv1.ClusterRole:
		c.roles[name], namespaced = o, false
	case *rbacv1.ClusterRoleBinding:
		c.bindings[name], namespaced = o, false
	case *appsv1.Deployment:
		c.workloads[name] = &workload{"Deployment", o.Spec.Replicas, o.Spec.Selector, &o.Spec.Template}
	case *appsv1.DaemonSet:
		c.workloads[name] = &workload{"DaemonSet", nil, o.Spec.Selector, &o.Spec.Template}
	case *policyv1.PodDisruptionBudget:
		c.budgets[name] = o
	case *autoscalingv2.HorizontalPodAutoscaler:
		c.autoscalers[name] = o
	case *networkingv1.NetworkPolicy:
		c.policies[name] = o
	case *podMonitor:
		c.monitors[name] = o
	default:
		return fmt.Errorf("%s: type %T has no place in a cluster", name, obj)
	}
	if namespaced && obj.GetNamespace() != "kube-system" {
		return fmt.Errorf("%T %s is in namespace %q, want kube-system", obj, name, obj.GetNamespace())
	}
	return nil
}

// selects says whether a selector of labels, without expressions, picks the pod.
func selects(labels map[string]string, pod *corev1.PodTemplateSpec) bool {
	if len(labels) == 0 {
		return false
	}
	merged := maps.Clone(pod.Labels)
	maps.Copy(merged, labels)
	return maps.Equal(merged, pod.Labels)
}

// selected returns the workload whose pods the labels pick, or nil.
func (c *cluster) selected(labels map[string]string) *workload {
	for _, w := range c.workloads {
		if selects(labels, w.pod) {
			return w
		}
	}
	return nil
}
