package kubernetes

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/rest"
)

// Addresses of this namespace's loopback. The API server is where pods find it, at the first address of the services;
// etcd where the Corefile of components/etcd-zones says that it is.
const (
	nodeAddress     = "10.0.0.1"
	apiAddress      = "10.96.0.1"
	etcdAddress     = "10.0.0.11"
	resolverAddress = "10.0.0.53"
	cableAddress    = "10.0.0.54" // our end of the cable to it
	adminToken      = "e2e-admin"
)

func addresses(t *testing.T) {
	t.Helper()
	commands := []string{"link set lo up"}
	for _, a := range []string{nodeAddress, apiAddress, etcdAddress} {
		commands = append(commands, "addr add "+a+"/32 dev lo")
	}
	if err := ip(commands...); err != nil {
		t.Fatal(err)
	}
}

// ip runs commands of ip(8) in the namespace of the calling thread.
func ip(commands ...string) error {
	for _, c := range commands {
		if out, err := exec.Command("ip", strings.Fields(c)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", c, err, out)
		}
	}
	return nil
}

// startAPI starts the API server and its etcd and returns both, and how an administrator reaches it.
func startAPI(t *testing.T, a *authority) (api, store *process, admin *rest.Config) {
	t.Helper()
	store = program(t, "etcd", "--name", "api", "--data-dir", filepath.Join(t.TempDir(), "api"),
		"--listen-client-urls", "http://127.0.0.1:2379", "--advertise-client-urls", "http://127.0.0.1:2379",
		"--listen-peer-urls", "http://127.0.0.1:2380", "--initial-advertise-peer-urls", "http://127.0.0.1:2380",
		"--initial-cluster", "api=http://127.0.0.1:2380", "--unsafe-no-fsync", "--log-level", "error")
	store.start(t)
	cert, key := a.issue(t, "apiserver", apiAddress, nodeAddress, "127.0.0.1")
	_, account := a.issue(t, "accounts")
	tokens := filepath.Join(a.dir, "tokens.csv")
	write(t, tokens, []byte(adminToken+",admin,1,system:masters\n"))
	api = program(t, "kube-apiserver", "--etcd-servers=http://127.0.0.1:2379",
		"--bind-address=0.0.0.0", "--secure-port=443", "--advertise-address="+nodeAddress,
		"--service-cluster-ip-range=10.96.0.0/16", "--authorization-mode=RBAC", "--token-auth-file="+tokens,
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+account,
		"--service-account-signing-key-file="+account, "--tls-cert-file="+cert, "--tls-private-key-file="+key,
		"--allow-privileged=true", "--profiling=false")
	api.start(t)
	admin = &rest.Config{Host: "https://" + apiAddress, BearerToken: adminToken, QPS: 200, Burst: 200,
		TLSClientConfig: rest.TLSClientConfig{CAFile: a.ca()}}
	readyAPI(t, api, admin)
	return api, store, admin
}

// readyAPI waits until the API server says that it is ready.
func readyAPI(t *testing.T, api *process, admin *rest.Config) {
	t.Helper()
	client, err := rest.HTTPClientFor(admin)
	if err != nil {
		t.Fatal(err)
	}
	client.Timeout = 10 * time.Second
	eventually(t, "the API server", func() error {
		select {
		case <-api.ended:
			t.Fatal("the API server has ended")
		default:
		}
		return get(client, admin.Host+"/readyz")
	})
}

// get returns an error unless the answer is 200.
func get(client *http.Client, url string) error {
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // only read
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	return nil
}

// startZones starts the etcd that the etcd plugin reads, which wants certificates of its clients.
func startZones(t *testing.T, a *authority) *process {
	t.Helper()
	cert, key := a.issue(t, "etcd", etcdAddress)
	a.issue(t, "client")
	url := "https://" + etcdAddress + ":2379"
	p := program(t, "etcd", "--name", "zones", "--data-dir", filepath.Join(t.TempDir(), "zones"),
		"--listen-client-urls", url, "--advertise-client-urls", url,
		"--listen-peer-urls", "http://127.0.0.1:2390", "--initial-advertise-peer-urls", "http://127.0.0.1:2390",
		"--initial-cluster", "zones=http://127.0.0.1:2390", "--unsafe-no-fsync", "--log-level", "error",
		"--cert-file", cert, "--key-file", key, "--client-cert-auth", "--trusted-ca-file", a.ca())
	p.start(t)
	return p
}

// put writes a key of the etcd of the zones, as soon as that answers.
func put(t *testing.T, a *authority, key, value string) {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{"https://" + etcdAddress + ":2379"}, TLS: a.client(t, "client")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // all is written
	eventually(t, "etcd", func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := c.Put(ctx, key, value)
		return err
	})
}

// startResolver answers www.example.com as a node's resolver would. It is on another machine, so to say: a namespace of
// its own, since the server wants port 53 of all addresses of its own.
func startResolver(t *testing.T) {
	t.Helper()
	conn, err := elsewhere()
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg)
		m.SetReply(q)
		if q.Question[0].Name == "www.example.com." && q.Question[0].Qtype == dns.TypeA {
			rr, _ := dns.NewRR("www.example.com. 60 IN A 192.0.2.80") // written by hand
			m.Answer = append(m.Answer, rr)
		} else {
			m.Rcode = dns.RcodeNameError
		}
		_ = w.WriteMsg(m) // the asker asks again
	})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.ActivateAndServe() // until the shutdown
	}()
	t.Cleanup(func() {
		_ = s.Shutdown() // it ends with the process at the latest
		<-ended
	})
}

// elsewhere returns a socket at port 53 of the resolver's address, in another namespace with a cable to this one.
func elsewhere() (conn net.PacketConn, err error) {
	var wg sync.WaitGroup
	thread, wired := make(chan int, 1), make(chan error, 1)
	wg.Go(func() {
		runtime.LockOSThread() // and never unlocked; the namespace lives as long as the socket
		if err = syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
			thread <- 0
			return
		}
		thread <- syscall.Gettid()
		if err = <-wired; err != nil {
			return
		}
		if err = ip("addr add "+resolverAddress+"/30 dev there", "link set there up"); err == nil {
			conn, err = net.ListenPacket("udp", resolverAddress+":53")
		}
	})
	if id := <-thread; id != 0 {
		wired <- ip(fmt.Sprintf("link add here type veth peer name there netns %d", id),
			"addr add "+cableAddress+"/30 dev here", "link set here up")
	}
	wg.Wait()
	return conn, err
}

// rootfs builds the image's root file system, adds what a node puts into a pod, and returns its path.
func rootfs(t *testing.T, files map[string][]byte) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "rootfs")
	if out, err := exec.Command(checkout+"/deploy/rootfs.sh", root).CombinedOutput(); err != nil {
		t.Fatalf("rootfs.sh: %v\n%s", err, out)
	}
	for path, text := range files {
		write(t, filepath.Join(root, path), text)
	}
	return root
}
