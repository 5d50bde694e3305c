package trial

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pair makes a self-signed certificate that is valid from and until so many days from now, and its key, in PEM form.
func pair(t *testing.T, from, until int) (cert, key []byte) {
	t.Helper()
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "trial"}, IsCA: true,
		NotBefore: now.AddDate(0, 0, from), NotAfter: now.AddDate(0, 0, until),
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
}

func TestCertificatesAreJudged(t *testing.T) {
	good, goodKey := pair(t, -1, 90)
	old, oldKey := pair(t, -90, -1)
	ending, endingKey := pair(t, -90, 3)
	early, earlyKey := pair(t, 1, 90)
	dir := t.TempDir()
	files := map[string][]byte{
		"good": good, "good.key": goodKey, "old": old, "old.key": oldKey, "early": early, "early.key": earlyKey,
		"ending": ending, "ending.key": endingKey, "both": append(append([]byte{}, old...), good...),
		"text": []byte("no certificate\n"),
		"torn": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("torn")}),
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		files  string
		levels []Level
		detail string // of the last finding
	}{
		{"", nil, ""},
		{"good", []Level{OK}, "1 certificates"},
		{"good good.key", []Level{OK}, "matches its key"},
		{"good good.key good", []Level{OK, OK}, "valid until"},
		{"good old.key", []Level{Problem}, "private key does not match"},
		{"good missing.key", []Level{Problem}, "no such file"},
		{"missing", []Level{Problem}, "no such file"},
		{"old old.key", []Level{Problem}, ErrExpired.Error()},
		{"old", []Level{Problem}, ErrExpired.Error()},
		{"early early.key", []Level{Problem}, ErrNotYet.Error()},
		{"ending ending.key", []Level{Warning}, "valid until"},
		{"both", []Level{Warning}, "1 of 2 certificates can be used"},
		{"text", []Level{Problem}, ErrNoCertificate.Error()},
		{"torn", []Level{Problem}, "torn"},
	} {
		t.Run(tt.files, func(t *testing.T) {
			var paths []string
			for _, f := range strings.Fields(tt.files) {
				paths = append(paths, filepath.Join(dir, f))
			}
			var p Plan
			p.Add(Certificates(paths)...)
			found := p.Run(context.Background(), true)
			if len(found) != len(tt.levels) {
				t.Fatalf("%d findings %+v, want %d", len(found), found, len(tt.levels))
			}
			for i, f := range found {
				if f.Level != tt.levels[i] {
					t.Errorf("%+v, want level %v", f, tt.levels[i])
				}
			}
			if n := len(found); n > 0 && !strings.Contains(found[n-1].Detail, tt.detail) {
				t.Errorf("%q, want it to say %q", found[n-1].Detail, tt.detail)
			}
		})
	}
}
