package kubernetes

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// nodeDNS is where the cache on every node answers.
const nodeDNS = "169.254.20.10"

// cacheOnTheNode runs the pod of the DaemonSet beside the server of the cluster, and a second one in its place as a
// rollout does. There is no kube-proxy, so the Service kube-dns is where that server is.
func cacheOnTheNode(t *testing.T, client *kubernetes.Clientset) {
	t.Helper()
	set, err := client.AppsV1().DaemonSets("kube-system").Get(t.Context(), "node-dns", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := client.CoreV1().ConfigMaps("kube-system").Get(t.Context(), "node-dns", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	root := rootfs(t, map[string][]byte{
		"etc/coredns/Corefile": []byte(config.Data["Corefile"]),
		"etc/resolv.conf":      []byte("nameserver " + resolverAddress + "\n"),
	})
	pod := set.Spec.Template.Spec
	theInterface(t, root, pod.InitContainers[0])

	first, second := nodeServer(t, root, pod), nodeServer(t, root, pod)
	first.start(t)
	nodeAnswers(t, pod)
	second.start(t)
	nodeAnswers(t, pod)
	if err := first.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-first.ended:
	case <-time.After(time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second):
		t.Error("the first one does not end in its time of grace")
	}
	nodeAnswers(t, pod)
	second.kill()
}

// theInterface starts the init container, which keeps the interface, and waits until its startup probe succeeds.
func theInterface(t *testing.T, root string, ct corev1.Container) {
	t.Helper()
	args, probe := ct.Args, ct.StartupProbe.Exec.Command
	if ip("link add probe type dummy") == nil {
		_ = ip("link del probe") // or it stays, in a network that ends with the test
	} else {
		t.Log("this kernel has no dummy interfaces: the address is on lo")
		for _, a := range [][]string{args, probe} {
			a[slices.Index(a, "-name")+1] = "lo"
		}
	}
	keeper := &process{bin: ct.Command[0], args: args, attr: &syscall.SysProcAttr{Chroot: root}}
	keeper.owned(t)
	keeper.start(t)
	eventually(t, "the interface", func() error {
		p := &process{bin: probe[0], args: probe[1:], attr: &syscall.SysProcAttr{Chroot: root}}
		p.start(t)
		<-p.ended
		if code := p.cmd.ProcessState.ExitCode(); code != 0 {
			return fmt.Errorf("%s: exit code %d: %s", filepath.Base(p.bin), code, p.log.Bytes())
		}
		return nil
	})
}

// nodeServer is the server of the pod, not started yet.
func nodeServer(t *testing.T, root string, pod corev1.PodSpec) *process {
	ct := pod.Containers[0]
	p := &process{
		bin: "/coredns", args: ct.Args,
		env: []string{"KUBE_DNS_SERVICE_HOST=127.0.0.1", "HOST_IP=" + nodeAddress},
		attr: &syscall.SysProcAttr{
			Chroot:      root,
			Credential:  &syscall.Credential{Uid: uint32(*ct.SecurityContext.RunAsUser), Gid: uint32(*ct.SecurityContext.RunAsGroup)},
			AmbientCaps: []uintptr{10}, // CAP_NET_BIND_SERVICE
		},
	}
	p.owned(t)
	return p
}

// nodeAnswers waits until the probes succeed, and asks for names of the cluster and of elsewhere.
func nodeAnswers(t *testing.T, pod corev1.PodSpec) {
	t.Helper()
	client := &http.Client{Timeout: 5 * time.Second}
	for _, p := range []*corev1.Probe{pod.Containers[0].StartupProbe, pod.Containers[0].LivenessProbe, pod.Containers[0].ReadinessProbe} {
		url := "http://" + p.HTTPGet.Host + ":" + p.HTTPGet.Port.String() + p.HTTPGet.Path
		eventually(t, url, func() error { return get(client, url) })
	}
	eventually(t, "metrics", func() error { return get(client, "http://"+nodeAddress+":9253/metrics") })
	for _, q := range []question{
		{name: "web.default.svc.cluster.local", qtype: dns.TypeA, want: []string{"10.96.1.1"}},
		{name: "2.0.1.10.in-addr.arpa", qtype: dns.TypePTR, want: []string{"db-1.db.default.svc.cluster.local."}},
		{name: "no-such.default.svc.cluster.local", qtype: dns.TypeA, want: []string{"NXDOMAIN"}},
		{name: "www.example.com", qtype: dns.TypeA, want: []string{"192.0.2.80"}},
	} {
		q.at = nodeDNS
		eventually(t, "asking "+nodeDNS, q.right)
	}
}
