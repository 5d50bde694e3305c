package deploytest

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Each row breaks a good overlay in one place; what it breaks must be found, and nothing else.
func TestWhatDoesNotFitIsFound(t *testing.T) {
	type pod = *corev1.PodSpec
	edit := func(old, now string) func(*cluster, pod) {
		return func(c *cluster, _ pod) {
			for _, cm := range c.configMaps {
				cm.Data["Corefile"] = strings.ReplaceAll(cm.Data["Corefile"], old, now)
			}
		}
	}
	no, zero := false, int64(0)
	for _, tt := range []struct {
		name    string
		overlay string
		fault   func(c *cluster, p pod)
		want    string
	}{
		{"selector", "cluster", func(c *cluster, _ pod) { c.workloads["coredns"].pod.Labels["k8s-app"] = "x" }, "does not pick its own pods"},
		{"account", "cluster", func(_ *cluster, p pod) { p.ServiceAccountName = "x" }, `no ServiceAccount "x"`},
		{"spread", "cluster", func(_ *cluster, p pod) {
			p.TopologySpreadConstraints[0].LabelSelector.MatchLabels["k8s-app"] = "x"
		}, "counts other pods"},
		{"volume", "cluster", func(_ *cluster, p pod) { p.Volumes = p.Volumes[:len(p.Volumes)-1] }, `mounts volume "cache"`},
		{"config map", "cluster", func(c *cluster, _ pod) { delete(c.configMaps, "coredns") }, `no ConfigMap "coredns"`},
		{"-conf", "cluster", func(_ *cluster, p pod) { p.Containers[0].Args[1] = "/etc/Corefile" }, "name no key of a ConfigMap"},
		{"priority", "cluster", func(_ *cluster, p pod) { p.PriorityClassName = "" }, "evicted"},
		{"dnsPolicy", "nodelocal", func(_ *cluster, p pod) { p.DNSPolicy = corev1.DNSClusterFirst }, "ask itself"},
		{"root user", "cluster", func(_ *cluster, p pod) { p.SecurityContext.RunAsUser = &zero }, "user of the image"},
		{"writable root", "cluster", func(_ *cluster, p pod) { p.Containers[0].SecurityContext.ReadOnlyRootFilesystem = &no }, "can be written"},
		{"capability", "cluster", func(_ *cluster, p pod) { p.Containers[0].SecurityContext.Capabilities.Add = nil }, "NET_BIND_SERVICE alone"},
		{"memory limit", "cluster", func(_ *cluster, p pod) {
			p.Containers[0].Env[0].ValueFrom.ResourceFieldRef.Divisor = resource.MustParse("1M")
		}, "GOMEMLIMIT"},
		{"probe's port", "cluster", func(_ *cluster, p pod) {
			p.Containers[0].ReadinessProbe.HTTPGet.Port = intstr.FromInt32(8080)
		}, "readinessProbe asks"},
		{"probe's name", "cluster", func(_ *cluster, p pod) {
			p.Containers[0].LivenessProbe.HTTPGet.Port = intstr.FromString("x")
		}, "livenessProbe asks"},
		{"health's port", "nodelocal", edit("health 169.254.20.10:8080", "health 169.254.20.10:8082"), "port 8082"},
		{"metrics' port", "cluster", edit("prometheus :9153", "prometheus :9154"), "prometheus is at port 9154"},
		{"DNS port", "cluster", edit(".:53", ".:1053"), "listens on [1053]"},
		{"lameduck", "cluster", edit("lameduck 10s", "lameduck 40s"), "terminationGracePeriodSeconds"},
		{"no lameduck", "cluster", edit("lameduck 10s", ""), "lameduck is 0s"},
		{"grace", "cluster", func(_ *cluster, p pod) { p.TerminationGracePeriodSeconds = &zero }, "terminationGracePeriodSeconds"},
		{"certificate", "cluster-etcd", func(_ *cluster, p pod) {
			ct := &p.Containers[0]
			ct.VolumeMounts = slices.DeleteFunc(ct.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == "etcd-tls" })
		}, "nothing is mounted at /etc/coredns/etcd-tls/"},
		{"snapshot", "cluster-etcd", edit("/var/lib/trident/", "/etc/coredns/custom/"), "cannot be written to"},
		{"snapshot nowhere", "cluster-etcd", edit("/var/lib/trident/", "/data/"), "nothing is mounted at /data/"},
		{"stale", "nodelocal", edit("serve_stale 1h", "keepttl"), "lacks cache serve_stale"},
		{"no bound", "cluster", edit("max_concurrent 1000", ""), "lacks forward max_concurrent"},
		{"no loop", "cluster", edit("\n    loop\n", "\n"), "lacks loop"},
		{"host ports", "nodelocal", func(_ *cluster, p pod) {
			p.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 53, Protocol: "UDP"}}
		}, "could not surge"},
		{"target port", "cluster", func(c *cluster, _ pod) {
			c.services["kube-dns"].Spec.Ports[0].TargetPort = intstr.FromString("x")
		}, "which no container has"},
		{"annotation", "cluster", func(c *cluster, _ pod) {
			c.services["kube-dns"].Annotations["prometheus.io/port"] = "9100"
		}, "no container has port 9100"},
		{"budget", "cluster", func(c *cluster, _ pod) {
			c.budgets["coredns"].Spec.Selector.MatchLabels["k8s-app"] = "x"
		}, "PodDisruptionBudget coredns: the selector picks no pods"},
		{"replicas", "cluster", func(c *cluster, _ pod) { c.workloads["coredns"].replicas = new(int32) }, "set them back"},
		{"scale target", "cluster", func(c *cluster, _ pod) {
			c.autoscalers["coredns"].Spec.ScaleTargetRef.Name = "x"
		}, `no Deployment "x"`},
		{"policy port", "cluster", func(c *cluster, _ pod) {
			*c.policies["coredns"].Spec.Ingress[0].Ports[0].Port = intstr.FromString("x")
		}, "ingress to x/UDP"},
		{"monitor", "cluster-etcd", func(c *cluster, _ pod) {
			c.monitors["coredns"].Spec.PodMetricsEndpoints[0].Port = "x"
		}, `no container has a port named "x"`},
		{"role", "cluster", func(c *cluster, _ pod) { delete(c.roles, "system:coredns") }, "no ClusterRole"},
		{"subject", "cluster", func(c *cluster, _ pod) {
			c.bindings["system:coredns"].Subjects[0].Namespace = "default"
		}, "no ServiceAccount default/coredns"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := mustRender(t, "overlays/"+tt.overlay)
			for _, w := range c.workloads {
				tt.fault(c, &w.pod.Spec)
			}
			all := strings.Join(c.problems(), "\n")
			if all == "" || !strings.Contains(all, tt.want) {
				t.Errorf("found %q, want %q", all, tt.want)
			}
		})
	}
}
