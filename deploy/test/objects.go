package deploytest

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// podMonitor is the part of monitoring.coreos.com/v1 PodMonitor that the manifests use. What is not here is an unknown
// field to the test: add it from the operator's API reference when a manifest needs it.
type podMonitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Selector            metav1.LabelSelector `json:"selector"`
		PodMetricsEndpoints []struct {
			Port        string `json:"port,omitempty"`
			Interval    string `json:"interval,omitempty"`
			Relabelings []struct {
				Action       string   `json:"action"`
				SourceLabels []string `json:"sourceLabels"`
				Regex        string   `json:"regex"`
				Replacement  string   `json:"replacement,omitempty"`
				TargetLabel  string   `json:"targetLabel,omitempty"`
			} `json:"relabelings,omitempty"`
		} `json:"podMetricsEndpoints"`
	} `json:"spec"`
}

// kinds makes an empty object of every apiVersion and kind that a manifest may have.
var kinds = map[string]func() metav1.Object{
	"v1/ConfigMap":                                    func() metav1.Object { return new(corev1.ConfigMap) },
	"v1/Service":                                      func() metav1.Object { return new(corev1.Service) },
	"v1/ServiceAccount":                               func() metav1.Object { return new(corev1.ServiceAccount) },
	"apps/v1/DaemonSet":                               func() metav1.Object { return new(appsv1.DaemonSet) },
	"apps/v1/Deployment":                              func() metav1.Object { return new(appsv1.Deployment) },
	"autoscaling/v2/HorizontalPodAutoscaler":          func() metav1.Object { return new(autoscalingv2.HorizontalPodAutoscaler) },
	"monitoring.coreos.com/v1/PodMonitor":             func() metav1.Object { return new(podMonitor) },
	"networking.k8s.io/v1/NetworkPolicy":              func() metav1.Object { return new(networkingv1.NetworkPolicy) },
	"policy/v1/PodDisruptionBudget":                   func() metav1.Object { return new(policyv1.PodDisruptionBudget) },
	"rbac.authorization.k8s.io/v1/ClusterRole":        func() metav1.Object { return new(rbacv1.ClusterRole) },
	"rbac.authorization.k8s.io/v1/ClusterRoleBinding": func() metav1.Object { return new(rbacv1.ClusterRoleBinding) },
}

// decode makes the object of its own type from YAML. Unknown fields, fields that occur twice and kinds that are not in
// kinds are errors.
func decode(doc []byte) (metav1.Object, error) {
	var head metav1.TypeMeta
	if err := yaml.Unmarshal(doc, &head); err != nil {
		return nil, err
	}
	construct := kinds[head.APIVersion+"/"+head.Kind]
	if construct == nil {
		return nil, fmt.Errorf("no type for apiVersion %q, kind %q", head.APIVersion, head.Kind)
	}
	obj := construct()
	if err := yaml.UnmarshalStrict(doc, obj); err != nil {
		return nil, fmt.Errorf("%s: %w", head.Kind, err)
	}
	if obj.GetName() == "" {
		return nil, fmt.Errorf("%s without a name", head.Kind)
	}
	return obj, nil
}
