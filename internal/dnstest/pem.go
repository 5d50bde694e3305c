package dnstest

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
)

// CAFile writes the certificate of the server's authority to a file of the test, for programs that are configured by
// files, and returns its name.
func (s *Server) CAFile(t testing.TB) string {
	t.Helper()
	return writeFile(t, "ca.pem", s.ca.PEM())
}

// Files issues a certificate and writes it and its key to files of the test.
func (ca *CA) Files(t testing.TB, names ...string) (certFile, keyFile string) {
	t.Helper()
	pair := ca.Issue(t, names...)
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return writeFile(t, "cert.pem", pemCertificate(pair.Certificate[0])), writeFile(t, "key.pem", key)
}

func pemCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func writeFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
