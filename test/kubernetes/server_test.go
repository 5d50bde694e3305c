package kubernetes

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// account is what a pod of the Deployment has in /var/run/secrets/kubernetes.io/serviceaccount.
const account = "var/run/secrets/kubernetes.io/serviceaccount/"

// startServer starts our binary as a node starts the pod of the Deployment: what it is given is read from the API server.
func startServer(t *testing.T, a *authority, client *kubernetes.Clientset) *process {
	t.Helper()
	deployment, err := client.AppsV1().Deployments("kube-system").Get(t.Context(), "coredns", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := client.CoreV1().ConfigMaps("kube-system").Get(t.Context(), "coredns", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod := deployment.Spec.Template.Spec
	seconds := int64(3600)
	token, err := client.CoreV1().ServiceAccounts("kube-system").CreateToken(t.Context(), pod.ServiceAccountName,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	mayReadNothingElse(t, a, token.Status.Token)

	files := map[string][]byte{
		"etc/coredns/Corefile": []byte(config.Data["Corefile"]),
		"etc/resolv.conf":      []byte("nameserver " + resolverAddress + "\n"),
		account + "token":      []byte(token.Status.Token),
		account + "namespace":  []byte("kube-system"),
	}
	for to, from := range map[string]string{
		account + "ca.crt": "ca.crt", "etc/coredns/etcd-tls/ca.crt": "ca.crt",
		"etc/coredns/etcd-tls/tls.crt": "client.crt", "etc/coredns/etcd-tls/tls.key": "client.key",
	} {
		if files[to], err = os.ReadFile(filepath.Join(a.dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	server := &process{
		bin: "/coredns", args: pod.Containers[0].Args,
		env: []string{"KUBERNETES_SERVICE_HOST=" + apiAddress, "KUBERNETES_SERVICE_PORT=443"},
		attr: &syscall.SysProcAttr{
			Chroot:      rootfs(t, files),
			Credential:  &syscall.Credential{Uid: uint32(*pod.SecurityContext.RunAsUser), Gid: uint32(*pod.SecurityContext.RunAsGroup)},
			AmbientCaps: []uintptr{10}, // CAP_NET_BIND_SERVICE
		},
	}
	server.owned(t)
	server.start(t)
	probes(t, pod.Containers[0])
	return server
}

// probes waits until the probes of the container succeed.
func probes(t *testing.T, ct corev1.Container) {
	t.Helper()
	ports := make(map[string]string)
	for _, p := range ct.Ports {
		ports[p.Name] = strconv.Itoa(int(p.ContainerPort))
	}
	for _, p := range []*corev1.Probe{ct.StartupProbe, ct.LivenessProbe, ct.ReadinessProbe} {
		url := "http://127.0.0.1:" + ports[p.HTTPGet.Port.StrVal] + p.HTTPGet.Path
		client := &http.Client{Timeout: time.Duration(p.TimeoutSeconds) * time.Second}
		eventually(t, url, func() error { return get(client, url) })
	}
	eventually(t, "metrics", func() error { return get(http.DefaultClient, "http://127.0.0.1:"+ports["metrics"]+"/metrics") })
}

// mayReadNothingElse checks the rights that the manifests give: what the kubernetes plugin reads, and no secrets.
func mayReadNothingElse(t *testing.T, a *authority, token string) {
	t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "https://" + apiAddress, BearerToken: token,
		TLSClientConfig: rest.TLSClientConfig{CAFile: a.ca()}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := client.DiscoveryV1().EndpointSlices("").List(ctx, metav1.ListOptions{}); err != nil {
		t.Errorf("the account may not list endpoint slices: %v", err)
	}
	if _, err := client.CoreV1().Secrets("kube-system").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("the account lists secrets: %v, want it forbidden", err)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}}
	if _, err := client.CoreV1().Services("default").Create(ctx, service, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("the account makes services: %v, want it forbidden", err)
	}
}
