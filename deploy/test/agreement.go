package deploytest

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// drain is how long CoreDNS may take, after lameduck, to answer what is in progress.
const drain = 5 * time.Second

// corefile checks that the pod and its Corefile agree.
func (p *problems) corefile(w *workload, ct *corev1.Container, cf *corefile) {
	for _, probe := range []struct {
		name, path, directive string
		port                  int32
		probe                 *corev1.Probe
	}{
		{"startupProbe", "/health", "health", 8080, ct.StartupProbe},
		{"livenessProbe", "/health", "health", 8080, ct.LivenessProbe},
		{"readinessProbe", "/ready", "ready", 8181, ct.ReadinessProbe},
	} {
		want, err := cf.port(probe.directive, probe.port)
		switch {
		case err != nil:
			p.add("Corefile: %v", err)
		case want == 0:
			p.add("the Corefile has no %s", probe.directive)
		case probe.probe == nil || probe.probe.HTTPGet == nil:
			p.add("no %s", probe.name)
		case probe.probe.HTTPGet.Path != probe.path || number(w, probe.probe.HTTPGet.Port) != want:
			p.add("%s asks %s at port %s, %s is at %s, port %d", probe.name, probe.probe.HTTPGet.Path,
				probe.probe.HTTPGet.Port.String(), probe.directive, probe.path, want)
		}
	}
	p.ports(w, cf)
	p.ending(w, cf)
	p.paths(w, ct, cf)
	p.resilience(cf)
}

// number is the number of a port that a probe names.
func number(w *workload, port intstr.IntOrString) int32 {
	if port.Type == intstr.Int {
		return port.IntVal
	}
	return w.portNumber(port, corev1.ProtocolTCP)
}

// ports compares the server's listeners with the ports that containers declare. A pod on the host's network declares
// none: they would keep two of its pods from being on one node during a rollout.
func (p *problems) ports(w *workload, cf *corefile) {
	metrics, err := cf.port("prometheus", 9153)
	if err != nil || metrics == 0 {
		p.add("Corefile: prometheus: port %d (%v)", metrics, err)
	}
	if w.pod.Spec.HostNetwork {
		for _, ct := range w.pod.Spec.Containers {
			if len(ct.Ports) > 0 {
				p.add("container %s declares ports on the host's network: a rollout could not surge", ct.Name)
			}
		}
		return
	}
	if w.portNumber(intstr.FromString("metrics"), corev1.ProtocolTCP) != metrics {
		p.add("prometheus is at port %d, the port metrics is not", metrics)
	}
	dns := []string{strconv.Itoa(int(w.portNumber(intstr.FromString("dns"), corev1.ProtocolUDP)))}
	if !slices.Equal(cf.dnsPorts(), dns) || !w.hasPort(intstr.Parse(dns[0]), corev1.ProtocolTCP) {
		p.add("the Corefile listens on %v, the containers' port dns is %v", cf.dnsPorts(), dns)
	}
}

// ending checks that the server has the time to end as it wants.
func (p *problems) ending(w *workload, cf *corefile) {
	var lameduck time.Duration
	for _, args := range cf.lines("health", "lameduck") {
		lameduck, _ = time.ParseDuration(args[0])
	}
	grace := w.pod.Spec.TerminationGracePeriodSeconds
	if lameduck < 5*time.Second {
		p.add("lameduck is %v: nodes go on sending questions for longer", lameduck)
	}
	if grace == nil || time.Duration(*grace)*time.Second < lameduck+drain {
		p.add("terminationGracePeriodSeconds is shorter than lameduck (%v) and %v more", lameduck, drain)
	}
}

// paths checks that what the Corefile names is mounted, and can be written to if the server writes to it. The node's
// resolv.conf is in every pod.
func (p *problems) paths(w *workload, ct *corev1.Container, cf *corefile) {
	all, written := cf.paths()
	for _, path := range all {
		v, m := w.volume(ct, path)
		switch write := slices.Contains(written, path); {
		case path == "/etc/resolv.conf":
		case v == nil || !holds(v, strings.TrimPrefix(path, m.MountPath+"/")):
			p.add("Corefile: nothing is mounted at %s", path)
		case write && (m.ReadOnly || v.EmptyDir == nil && v.PersistentVolumeClaim == nil):
			p.add("Corefile: %s cannot be written to", path)
		}
	}
}

// holds says whether a file may be in the volume: all but in a ConfigMap of which the manifest lists other files.
func holds(v *corev1.Volume, file string) bool {
	return v.ConfigMap == nil || len(v.ConfigMap.Items) == 0 ||
		slices.ContainsFunc(v.ConfigMap.Items, func(i corev1.KeyToPath) bool { return i.Path == file })
}

// resilience checks what every Corefile of a cluster has for bad days.
func (p *problems) resilience(cf *corefile) {
	for _, want := range [][2]string{{"cache", "serve_stale"}, {"forward", "max_concurrent"}, {"loop", ""}, {"loadbalance", ""}, {"reload", ""}, {"errors", ""}} {
		if len(cf.lines(want[0], want[1])) == 0 {
			p.add("the Corefile lacks %s", strings.TrimSpace(want[0]+" "+want[1]))
		}
	}
}
