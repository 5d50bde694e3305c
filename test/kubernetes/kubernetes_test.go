package kubernetes

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// outage is for how long answers are looked at while a part is away. It is longer than the TTL of what etcd and the
// services answer, so that no cache stands in for them.
const outage = 40 * time.Second

// podMonitors stands for the custom resources of the Prometheus operator, of which the API server only has to know the
// kind: deploy/test decodes the objects.
const podMonitors = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: podmonitors.monitoring.coreos.com
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {plural: podmonitors, kind: PodMonitor}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

func TestTheManifestsInACluster(t *testing.T) {
	addresses(t)
	ca := newAuthority(t)
	api, store, admin := startAPI(t, ca)
	zones := startZones(t, ca)
	startResolver(t)
	client, err := kubernetes.NewForConfig(admin)
	if err != nil {
		t.Fatal(err)
	}
	apply := newApplier(t, admin, client)

	for _, text := range kubeadmCoreDNS(t) {
		apply.create(t, text)
	}
	apply.apply(t, []byte(podMonitors))
	for _, overlay := range []string{"base", "overlays/cluster", "overlays/nodelocal", "overlays/cluster-etcd"} {
		apply.overlay(t, overlay)
	}
	replaced(t, client)

	web := service(t, client, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.ServiceSpec{ClusterIP: "10.96.1.1", Ports: []corev1.ServicePort{{Name: "http", Port: 80}}},
	})
	service(t, client, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Name: "pg", Port: 5432}}},
	})
	slice := endpoints(t, client, "db", "10.1.0.1", "10.1.0.2")
	put(t, ca, "/skydns/org/example/services/api/a", `{"host":"192.0.2.10","port":8080,"ttl":10}`)

	server := startServer(t, ca, client)
	known := []question{
		{name: "kubernetes.default.svc.cluster.local", qtype: dns.TypeA, want: []string{apiAddress}},
		{name: "web.default.svc.cluster.local", qtype: dns.TypeA, want: []string{"10.96.1.1"}},
		{name: "web.default.svc.cluster.local", qtype: dns.TypeAAAA, want: []string{"NOERROR"}},
		{name: "db.default.svc.cluster.local", qtype: dns.TypeA, want: []string{"10.1.0.1", "10.1.0.2"}},
		{name: "db-0.db.default.svc.cluster.local", qtype: dns.TypeA, want: []string{"10.1.0.1"}},
		{name: "_http._tcp.web.default.svc.cluster.local", qtype: dns.TypeSRV, want: []string{"0 100 80 web.default.svc.cluster.local."}},
		{name: "_pg._tcp.db.default.svc.cluster.local", qtype: dns.TypeSRV, want: []string{"0 50 5432 db-0.db.default.svc.cluster.local.", "0 50 5432 db-1.db.default.svc.cluster.local."}},
		{name: "1.1.96.10.in-addr.arpa", qtype: dns.TypePTR, want: []string{"web.default.svc.cluster.local."}},
		{name: "2.0.1.10.in-addr.arpa", qtype: dns.TypePTR, want: []string{"db-1.db.default.svc.cluster.local."}},
		{name: "10-1-2-3.default.pod.cluster.local", qtype: dns.TypeA, want: []string{"10.1.2.3"}},
		{name: "no-such.default.svc.cluster.local", qtype: dns.TypeA, want: []string{"NXDOMAIN"}},
		{name: "www.example.com", qtype: dns.TypeA, want: []string{"192.0.2.80"}},
		{name: "api.services.example.org", qtype: dns.TypeA, want: []string{"192.0.2.10"}},
		{name: "api.services.example.org", qtype: dns.TypeSRV, want: []string{"10 100 8080 a.api.services.example.org."}},
		{name: "no-such.services.example.org", qtype: dns.TypeA, want: []string{"NXDOMAIN"}},
	}
	become(t, known...)

	t.Log("a cache on the node")
	cacheOnTheNode(t, client)

	t.Log("changes are seen")
	service(t, client, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "late"},
		Spec:       corev1.ServiceSpec{ClusterIP: "10.96.1.9", Ports: []corev1.ServicePort{{Port: 80}}},
	})
	slice.Endpoints = slice.Endpoints[:1]
	if _, err := client.DiscoveryV1().EndpointSlices("default").Update(t.Context(), slice, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	put(t, ca, "/skydns/org/example/services/api/a", `{"host":"192.0.2.11","port":8080,"ttl":10}`)
	if err := client.CoreV1().Services("default").Delete(t.Context(), web.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	changed := []question{
		{name: "late.default.svc.cluster.local", qtype: dns.TypeA, want: []string{"10.96.1.9"}},
		{name: "db.default.svc.cluster.local", qtype: dns.TypeA, want: []string{"10.1.0.1"}},
		{name: "api.services.example.org", qtype: dns.TypeA, want: []string{"192.0.2.11"}},
		{name: "web.default.svc.cluster.local", qtype: dns.TypeA, want: []string{"NXDOMAIN"}},
		{name: "www.example.com", qtype: dns.TypeA, want: []string{"192.0.2.80"}},
	}
	become(t, changed...)

	t.Log("without the API server, and without etcd")
	api.kill()
	store.kill()
	stay(t, outage/4, changed)
	zones.kill()
	stay(t, outage, changed)
	if err := get(&http.Client{Timeout: 10 * time.Second}, "http://127.0.0.1:8181/ready"); err != nil {
		t.Error(err)
	}

	t.Log("a server that starts while etcd is away has the zone from its snapshot, and cluster names wait for the API server")
	if err := server.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-server.ended
	server.start(t)
	become(t, question{name: "api.services.example.org", qtype: dns.TypeA, want: []string{"192.0.2.11"}},
		question{name: "late.default.svc.cluster.local", qtype: dns.TypeA, want: []string{"SERVFAIL"}})

	t.Log("and back")
	store.start(t)
	api.start(t)
	zones.start(t)
	readyAPI(t, api, admin)
	put(t, ca, "/skydns/org/example/services/api/a", `{"host":"192.0.2.12","port":8080,"ttl":10}`)
	service(t, client, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "after"},
		Spec:       corev1.ServiceSpec{ClusterIP: "10.96.1.10", Ports: []corev1.ServicePort{{Port: 80}}},
	})
	become(t, question{name: "api.services.example.org", qtype: dns.TypeA, want: []string{"192.0.2.12"}},
		question{name: "after.default.svc.cluster.local", qtype: dns.TypeA, want: []string{"10.96.1.10"}},
		question{name: "late.default.svc.cluster.local", qtype: dns.TypeA, want: []string{"10.96.1.9"}})
}

// replaced checks that nothing of kubeadm's server is left, and that what belongs to the cluster is.
func replaced(t *testing.T, client *kubernetes.Clientset) {
	t.Helper()
	d, err := client.AppsV1().Deployments("kube-system").Get(t.Context(), "coredns", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod := d.Spec.Template.Spec
	if len(pod.Containers) != 1 || pod.Containers[0].Image != "trident:dev" || len(pod.Containers[0].Ports) != 5 {
		t.Errorf("the containers of the Deployment: %+v", pod.Containers)
	}
	if *d.Spec.Replicas != 2 || d.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue() != 0 {
		t.Errorf("%d replicas, %+v", *d.Spec.Replicas, d.Spec.Strategy.RollingUpdate)
	}
	s, err := client.CoreV1().Services("kube-system").Get(t.Context(), "kube-dns", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Spec.ClusterIP != "10.96.0.10" || len(s.Spec.Ports) != 3 {
		t.Errorf("the Service has address %s and ports %+v", s.Spec.ClusterIP, s.Spec.Ports)
	}
	// The API server's own checks of a pod: fields, priority class, account.
	dry := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "coredns", Labels: d.Spec.Template.Labels}, Spec: pod}
	p, err := client.CoreV1().Pods("kube-system").Create(t.Context(), dry, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil || p.Spec.Priority == nil || *p.Spec.Priority < 2_000_000_000 {
		t.Errorf("a pod of the Deployment: %v, priority %v", err, p.Spec.Priority)
	}
}

func service(t *testing.T, client *kubernetes.Clientset, s *corev1.Service) *corev1.Service {
	t.Helper()
	made, err := client.CoreV1().Services("default").Create(t.Context(), s, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// endpoints makes the slice of a service whose pods are named service-0, service-1, ...
func endpoints(t *testing.T, client *kubernetes.Clientset, service string, ips ...string) *discoveryv1.EndpointSlice {
	t.Helper()
	name, port, ready := "pg", int32(5432), true
	s := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: service + "-1", Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: &name, Port: &port}},
	}
	for i, ip := range ips {
		host := service + "-" + string(rune('0'+i))
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{ip}, Hostname: &host, Conditions: discoveryv1.EndpointConditions{Ready: &ready},
		})
	}
	made, err := client.DiscoveryV1().EndpointSlices("default").Create(t.Context(), s, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}
