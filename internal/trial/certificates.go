package trial

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"
)

// soon is how long before its end a certificate is worth a warning: whoever renews them automatically does so earlier.
const soon = 14 * 24 * time.Hour

// Why a file of certificates is of no use.
var (
	// ErrNoCertificate says that a file has no PEM block of a certificate.
	ErrNoCertificate = errors.New("no certificate in PEM form")
	// ErrExpired says that a certificate is not valid any more.
	ErrExpired = errors.New("certificate has expired")
	// ErrNotYet says that a certificate is not valid yet.
	ErrNotYet = errors.New("certificate is not valid yet")
)

// Certificates returns tests of the files that a tls property names: none, CA, CERT KEY, or CERT KEY CA.
func Certificates(files []string) []Test {
	var tests []Test
	if len(files) >= 2 {
		tests = append(tests, localTest("certificate "+files[0], func(now time.Time) Finding {
			return keyPair(files[0], files[1], now)
		}))
	}
	if len(files) == 1 || len(files) == 3 {
		ca := files[len(files)-1]
		tests = append(tests, localTest("authority "+ca, func(now time.Time) Finding { return authority(ca, now) }))
	}
	return tests
}

func localTest(subject string, look func(now time.Time) Finding) Test {
	return Test{Subject: subject, Run: func(context.Context) []Finding { return []Finding{look(time.Now())} }}
}

// keyPair judges a certificate, those that follow it in its file, and its key.
func keyPair(certFile, keyFile string, now time.Time) Finding {
	if _, err := tls.LoadX509KeyPair(certFile, keyFile); err != nil {
		return Found(Problem, "key %s: %v", keyFile, err)
	}
	certs, err := readCertificates(certFile)
	if err != nil {
		return Found(Problem, "%v", err)
	}
	for _, c := range certs {
		if err := validAt(c, now); err != nil {
			return Found(Problem, "%v", err)
		}
	}
	return lasting(certs, now, "matches its key, valid until")
}

// authority judges the certificates that others are verified with. An expired one among several does no harm.
func authority(file string, now time.Time) Finding {
	certs, err := readCertificates(file)
	if err != nil {
		return Found(Problem, "%v", err)
	}
	var valid []*x509.Certificate
	var expired error
	for _, c := range certs {
		if err := validAt(c, now); err != nil {
			expired = err
			continue
		}
		valid = append(valid, c)
	}
	switch {
	case len(valid) == 0:
		return Found(Problem, "%v", expired)
	case expired != nil:
		return Found(Warning, "%d of %d certificates can be used: %v", len(valid), len(certs), expired)
	}
	return lasting(valid, now, fmt.Sprintf("%d certificates, valid until", len(valid)))
}

// lasting says when the first of certs ends, and warns when that is soon.
func lasting(certs []*x509.Certificate, now time.Time, text string) Finding {
	end := certs[0].NotAfter
	for _, c := range certs {
		if c.NotAfter.Before(end) {
			end = c.NotAfter
		}
	}
	level := OK
	if end.Sub(now) < soon {
		level = Warning
	}
	return Found(level, "%s %s", text, end.UTC().Format(time.RFC3339))
}

func validAt(c *x509.Certificate, now time.Time) error {
	switch {
	case now.After(c.NotAfter):
		return fmt.Errorf("%w: %q, on %s", ErrExpired, c.Subject, c.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(c.NotBefore):
		return fmt.Errorf("%w: %q, before %s", ErrNotYet, c.Subject, c.NotBefore.UTC().Format(time.RFC3339))
	}
	return nil
}

// readCertificates reads all certificates of a PEM file. The errors are ErrNoCertificate, those of the file system and of
// parsing.
func readCertificates(file string) ([]*x509.Certificate, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var certs []*x509.Certificate
	for rest := bytes.TrimSpace(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		certs = append(certs, c)
	}
	if len(certs) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoCertificate, file)
	}
	return certs, nil
}
