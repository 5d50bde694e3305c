package deploytest

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// names checks what a workload refers to within itself and its account.
func (p *problems) names(c *cluster, w *workload) {
	if !selects(w.selector.MatchLabels, w.pod) {
		p.add("the selector %v does not pick its own pods %v", w.selector.MatchLabels, w.pod.Labels)
	}
	if c.accounts[w.pod.Spec.ServiceAccountName] == nil {
		p.add("no ServiceAccount %q", w.pod.Spec.ServiceAccountName)
	}
	for _, t := range w.pod.Spec.TopologySpreadConstraints {
		if !selects(t.LabelSelector.MatchLabels, w.pod) {
			p.add("spread over %s counts other pods: %v", t.TopologyKey, t.LabelSelector.MatchLabels)
		}
	}
	for _, ct := range slices.Concat(w.pod.Spec.InitContainers, w.pod.Spec.Containers) {
		for _, m := range ct.VolumeMounts {
			if !slices.ContainsFunc(w.pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
				p.add("container %s mounts volume %q, which is not there", ct.Name, m.Name)
			}
		}
	}
	for _, v := range w.pod.Spec.Volumes {
		if v.ConfigMap == nil || v.ConfigMap.Optional != nil && *v.ConfigMap.Optional {
			continue
		}
		cm := c.configMaps[v.ConfigMap.Name]
		if cm == nil {
			p.add("no ConfigMap %q", v.ConfigMap.Name)
			continue
		}
		for _, item := range v.ConfigMap.Items {
			if _, ok := cm.Data[item.Key]; !ok {
				p.add("ConfigMap %s has no key %q", cm.Name, item.Key)
			}
		}
	}
}

// references checks what other objects say about workloads.
func (p *problems) references(c *cluster) {
	for name, s := range c.services {
		p.in = "Service " + name
		w := c.selected(s.Spec.Selector)
		if w == nil {
			p.add("the selector picks no pods")
			continue
		}
		for _, port := range s.Spec.Ports {
			if !w.hasPort(port.TargetPort, port.Protocol) {
				p.add("port %s leads to %s, which no container has", port.Name, port.TargetPort.String())
			}
		}
		for annotation, value := range s.Annotations {
			if annotation == "prometheus.io/port" && !w.hasPort(intstr.Parse(value), corev1.ProtocolTCP) {
				p.add("annotation %s: no container has port %s", annotation, value)
			}
		}
	}
	for name, b := range c.budgets {
		p.in = "PodDisruptionBudget " + name
		if w := c.selected(b.Spec.Selector.MatchLabels); w == nil {
			p.add("the selector picks no pods")
		} else if w.replicas != nil && b.Spec.MinAvailable != nil && int32(b.Spec.MinAvailable.IntValue()) >= *w.replicas {
			p.add("it lets no pod go: %d of %d must stay", b.Spec.MinAvailable.IntValue(), *w.replicas)
		}
	}
	for name, a := range c.autoscalers {
		p.in = "HorizontalPodAutoscaler " + name
		w := c.workloads[a.Spec.ScaleTargetRef.Name]
		if w == nil || w.kind != a.Spec.ScaleTargetRef.Kind {
			p.add("no %s %q", a.Spec.ScaleTargetRef.Kind, a.Spec.ScaleTargetRef.Name)
			continue
		}
		if w.replicas != nil {
			p.add("the workload says %d replicas: every apply would set them back", *w.replicas)
		}
		for _, m := range a.Spec.Metrics {
			if r := m.ContainerResource; r != nil && (w.container(r.Container) == nil || w.container(r.Container).Resources.Requests.Cpu().IsZero()) {
				p.add("container %q is not there or requests no cpu", r.Container)
			}
		}
	}
	for name, n := range c.policies {
		p.in = "NetworkPolicy " + name
		w := c.selected(n.Spec.PodSelector.MatchLabels)
		if w == nil {
			p.add("the selector picks no pods")
			continue
		}
		for _, rule := range n.Spec.Ingress {
			for _, port := range rule.Ports {
				if !w.hasPort(*port.Port, *port.Protocol) {
					p.add("ingress to %s/%s, which no container has", port.Port.String(), *port.Protocol)
				}
			}
		}
	}
	for name, m := range c.monitors {
		p.in = "PodMonitor " + name
		w := c.selected(m.Spec.Selector.MatchLabels)
		if w == nil {
			continue // of a workload that is in another overlay; TestEveryPodMonitorHasItsPods looks there
		}
		for _, e := range m.Spec.PodMetricsEndpoints {
			if e.Port != "" && !w.hasPort(intstr.FromString(e.Port), corev1.ProtocolTCP) {
				p.add("no container has a port named %q", e.Port)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.bindings)) {
		p.in = "ClusterRoleBinding " + name
		b := c.bindings[name]
		if c.roles[b.RoleRef.Name] == nil {
			p.add("no ClusterRole %q", b.RoleRef.Name)
		}
		for _, s := range b.Subjects {
			if s.Kind == "ServiceAccount" && (c.accounts[s.Name] == nil || c.accounts[s.Name].Namespace != s.Namespace) {
				p.add("no ServiceAccount %s/%s", s.Namespace, s.Name)
			}
		}
	}
}

// hasPort says whether a container declares the port, by name or number.
func (w *workload) hasPort(port intstr.IntOrString, protocol corev1.Protocol) bool {
	return w.portNumber(port, protocol) != 0
}

// portNumber returns the number of a declared port, or 0.
func (w *workload) portNumber(port intstr.IntOrString, protocol corev1.Protocol) int32 {
	for _, ct := range w.pod.Spec.Containers {
		for _, cp := range ct.Ports {
			if cp.Protocol == protocol && (port.Type == intstr.String && cp.Name == port.StrVal ||
				port.Type == intstr.Int && cp.ContainerPort == port.IntVal) {
				return cp.ContainerPort
			}
		}
	}
	return 0
}
