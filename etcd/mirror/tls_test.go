package mirror

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/etcdtest"
)

// selfSigned returns a certificate for the address, and the pool that trusts nothing else.
func selfSigned(t *testing.T, ip string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: "etcd"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.ParseIP(ip)},
		IsCA:         true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func serving(cert tls.Certificate) *tls.Config {
	return &tls.Config{NextProtos: []string{"h2"}, Certificates: []tls.Certificate{cert}}
}

// Certificates and authorities are replaced on disk while the process runs. No restart may be needed.
func TestRotatedCertificatesAreReadAgain(t *testing.T) {
	e := etcdtest.Start(t)
	e.Put("/s/1", "1")
	front := etcdtest.NewTLSFront(t, e)
	var trusted atomic.Pointer[x509.CertPool]
	rotate := func(server, client bool) {
		cert, pool := selfSigned(t, "127.0.0.1")
		if server {
			front.Config.Store(serving(cert))
		}
		if client {
			trusted.Store(pool)
		}
	}
	rotate(true, true)
	load := func() (*tls.Config, error) {
		if pool := trusted.Load(); pool != nil {
			return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
		}
		return nil, errors.New("file is being replaced")
	}
	s := newCopySink()
	f := open(t, Config{Endpoints: []string{front.Endpoint()}, TLS: load}).Subscribe(Prefix("/s/"), s, Position{})
	s.equals(t, e, "/s/")

	rotate(true, false)
	e.Bridge().Drop()
	eventually(t, "distrust", func() bool {
		err := f.Status().Err
		return err != nil && strings.Contains(err.Error(), "certificate")
	})
	trusted.Store(nil)
	eventually(t, "unreadable file", func() bool {
		err := f.Status().Err
		return err != nil && strings.Contains(err.Error(), "replaced")
	})
	rotate(true, true)
	e.Put("/s/2", "1")
	s.equals(t, e, "/s/")
}

// A login waits for a connection, and knows nothing when its time is up. The reason must not be lost.
func TestLoginTellsWhyThereIsNoConnection(t *testing.T) {
	e := etcdtest.Start(t)
	cert, _ := selfSigned(t, "127.0.0.1")
	front := etcdtest.NewTLSFront(t, e)
	front.Config.Store(serving(cert))
	f := open(t, Config{
		Endpoints: []string{front.Endpoint()},
		Login:     func() (Login, error) { return Login{"reader", "x"}, nil },
		TLS: func() (*tls.Config, error) {
			return &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}, nil
		},
	}).Subscribe(Prefix("/s/"), newCopySink(), Position{})
	eventually(t, "reason", func() bool {
		err := f.Status().Err
		return err != nil && strings.Contains(err.Error(), "certificate")
	})
}
