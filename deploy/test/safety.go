package deploytest

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// safety checks what a pod of a cluster's DNS must not go without.
func (p *problems) safety(w *workload, ct *corev1.Container) {
	spec := w.pod.Spec
	if !strings.HasPrefix(spec.PriorityClassName, "system-") {
		p.add("priorityClassName is %q: DNS would be evicted before what depends on it", spec.PriorityClassName)
	}
	if spec.DNSPolicy != corev1.DNSDefault {
		p.add("dnsPolicy is %q: the server would ask itself", spec.DNSPolicy)
	}
	sc := ct.SecurityContext
	if sc == nil {
		p.add("no securityContext")
		return
	}
	pod := spec.SecurityContext
	user, nonRoot := sc.RunAsUser, sc.RunAsNonRoot
	if user == nil {
		user = pod.RunAsUser
	}
	if nonRoot == nil {
		nonRoot = pod.RunAsNonRoot
	}
	if user == nil || *user != imageUser || nonRoot == nil || !*nonRoot {
		p.add("it does not run as the user of the image, %d", imageUser)
	}
	if sc.ReadOnlyRootFilesystem == nil || !*sc.ReadOnlyRootFilesystem {
		p.add("the root file system can be written to")
	}
	if sc.AllowPrivilegeEscalation == nil || *sc.AllowPrivilegeEscalation {
		p.add("allowPrivilegeEscalation is not false")
	}
	if caps := sc.Capabilities; caps == nil || !slices.Equal(caps.Drop, []corev1.Capability{"ALL"}) ||
		!slices.Equal(caps.Add, []corev1.Capability{"NET_BIND_SERVICE"}) {
		p.add("its capabilities are not NET_BIND_SERVICE alone: the file's could not be had, and it would not start")
	}
}

// imageUser is the user that the image names.
const imageUser int64 = 65532

// memory checks that GOMEMLIMIT follows the limit and leaves something for what is not the Go heap.
func (p *problems) memory(ct *corev1.Container) {
	vars := make(map[string]string)
	for _, e := range ct.Env {
		if r := e.ValueFrom; r != nil && r.ResourceFieldRef != nil && r.ResourceFieldRef.Resource == "limits.memory" &&
			(r.ResourceFieldRef.ContainerName == "" || r.ResourceFieldRef.ContainerName == ct.Name) {
			// As the kubelet does: divided and rounded up.
			d := r.ResourceFieldRef.Divisor.Value()
			vars[e.Name] = strconv.FormatInt((ct.Resources.Limits.Memory().Value()+d-1)/d, 10)
			continue
		}
		value := e.Value
		for name, v := range vars {
			value = strings.ReplaceAll(value, "$("+name+")", v)
		}
		vars[e.Name] = value
	}
	limit := ct.Resources.Limits.Memory().Value()
	soft, err := strconv.ParseInt(vars["GOMEMLIMIT"], 10, 64)
	if err != nil || limit == 0 || soft > limit*97/100 || soft < limit*80/100 {
		p.add("GOMEMLIMIT is %q, the limit %d: want 80 to 97 %% of it", vars["GOMEMLIMIT"], limit)
	}
	if ct.Resources.Requests.Memory().IsZero() || ct.Resources.Requests.Cpu().IsZero() {
		p.add("no requests")
	}
}
