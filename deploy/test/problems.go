package deploytest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// env is what the kubelet would put into the environment of a pod for a Corefile to use, beside what the manifest says.
var env = map[string]string{"KUBE_DNS_SERVICE_HOST": "10.96.0.10", "HOST_IP": "192.0.2.1"}

// problems returns what does not fit in the objects of an overlay, each as a sentence; nil when all does.
func (c *cluster) problems() []string {
	var p problems
	for _, name := range slices.Sorted(maps.Keys(c.workloads)) {
		w := c.workloads[name]
		p.in = w.kind + " " + name
		main := w.container("coredns")
		if main == nil {
			p.add("no container coredns")
			continue
		}
		p.names(c, w)
		p.safety(w, main)
		p.memory(main)
		config := c.config(w, main)
		if config == nil {
			p.add("args %q name no key of a ConfigMap that is mounted", main.Args)
			continue
		}
		cf, err := parseCorefile(config.Data["Corefile"], env)
		if err != nil {
			p.add("Corefile: %v", err)
			continue
		}
		p.corefile(w, main, cf)
	}
	p.references(c)
	return p.list
}

// problems collects them; in says where the next ones are.
type problems struct {
	in   string
	list []string
}

func (p *problems) add(format string, args ...any) {
	p.list = append(p.list, p.in+": "+fmt.Sprintf(format, args...))
}

func (w *workload) container(name string) *corev1.Container {
	for i := range w.pod.Spec.Containers {
		if w.pod.Spec.Containers[i].Name == name {
			return &w.pod.Spec.Containers[i]
		}
	}
	return nil
}

// volume returns the volume that is mounted at or above path in the container, at the deepest of the mount points.
func (w *workload) volume(ct *corev1.Container, path string) (*corev1.Volume, *corev1.VolumeMount) {
	var best *corev1.VolumeMount
	for i, m := range ct.VolumeMounts {
		if (path == m.MountPath || strings.HasPrefix(path, m.MountPath+"/")) && (best == nil || len(m.MountPath) > len(best.MountPath)) {
			best = &ct.VolumeMounts[i]
		}
	}
	if best == nil {
		return nil, nil
	}
	for i := range w.pod.Spec.Volumes {
		if w.pod.Spec.Volumes[i].Name == best.Name {
			return &w.pod.Spec.Volumes[i], best
		}
	}
	return nil, best
}

// config returns the ConfigMap with the file that -conf names.
func (c *cluster) config(w *workload, ct *corev1.Container) *corev1.ConfigMap {
	i := slices.Index(ct.Args, "-conf")
	if i < 0 || i+1 == len(ct.Args) {
		return nil
	}
	path := ct.Args[i+1]
	v, m := w.volume(ct, path)
	if v == nil || v.ConfigMap == nil {
		return nil
	}
	for _, item := range v.ConfigMap.Items {
		if m.MountPath+"/"+item.Path == path && item.Key == "Corefile" {
			if cm := c.configMaps[v.ConfigMap.Name]; cm != nil && cm.Data["Corefile"] != "" {
				return cm
			}
		}
	}
	return nil
}
