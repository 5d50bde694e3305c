package etcd_test

import (
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/trident-dns/trident/etcd"
	"github.com/trident-dns/trident/internal/dnstest"
	"github.com/trident-dns/trident/internal/etcdtest"
	"github.com/trident-dns/trident/test/server"

	"github.com/miekg/dns"
)

// replaceFile puts content in the place of a file at once, as whoever rotates secrets does.
func replaceFile(t *testing.T, path string, content []byte) {
	t.Helper()
	next := path + ".new"
	if err := os.WriteFile(next, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// E30: password and certificates come from files, all of which are read again, and the name in etcd's certificate need
// not be that of the endpoint.
func TestE30SecretsAreReadAgainFromTheirFiles(t *testing.T) {
	etcd.StaleSoon(t) // and tries again often
	e := etcdtest.Start(t)
	put(e, `/skydns/test/zone/a {"host":"10.0.0.1"}`)
	e.EnableAuth()
	e.AddUser("reader", "old:with colon", "/skydns/test/zone")
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }

	front := etcdtest.NewTLSFront(t, e)
	rotate := func() {
		ca := dnstest.NewCA(t)
		cert, key := ca.Files(t, "client")
		serverCert := ca.Issue(t, "etcd.internal")
		config := &tls.Config{
			NextProtos: []string{"h2"}, Certificates: []tls.Certificate{serverCert},
			ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.Client().RootCAs,
		}
		front.Config.Store(config)
		replaceFile(t, file("ca"), ca.PEM())
		replaceFile(t, file("cert"), readFile(t, cert))
		replaceFile(t, file("key"), readFile(t, key))
	}
	rotate()
	replaceFile(t, file("login"), []byte("reader:old:with colon\n"))
	s := server.Start(t, fmt.Sprintf(`.:0 {
		etcd zone.test {
			endpoint %s
			tls %s %s %s
			tls_servername etcd.internal
			credentials_file %s
		}
	}`, front.Endpoint(), file("cert"), file("key"), file("ca"), file("login")))
	loaded(t, s, "zone.test.")
	wantAnswer(t, s, "a.zone.test.", dns.TypeA, "NOERROR [10.0.0.1]")

	for what, change := range map[string]func(){
		"certificates": rotate,
		"password": func() {
			e.SetPassword("reader", "new")
			replaceFile(t, file("login"), []byte("reader new\n"))
		},
	} {
		change()
		e.Bridge().Drop()
		address := fmt.Sprintf("10.0.1.%d", len(what))
		e.Put("/skydns/test/zone/a", fmt.Sprintf(`{"host":%q}`, address))
		within(t, 30*time.Second, "a change after other "+what, func() bool {
			return answer(s.Ask(t, "a.zone.test.", dns.TypeA)) == "NOERROR ["+address+"]"
		})
	}
}
