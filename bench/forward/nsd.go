package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	zone  = "bench.example."
	names = 20_000
	// tlsName is what the certificates of the upstreams are for.
	tlsName = "upstream.bench.example"
)

// nsd is a running upstream.
type nsd struct {
	*process
	addr, tlsAddr string
	certFile      string
}

// startNSD starts upstream number i, with UDP and TCP on one port and TLS on another.
func startNSD(dir string, i int) (*nsd, error) {
	dir = filepath.Join(dir, fmt.Sprintf("nsd%d", i))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	addr, port, err := freePort()
	if err != nil {
		return nil, err
	}
	tlsAddr, tlsPort, err := freePort()
	if err != nil {
		return nil, err
	}
	cert, key, err := certificate(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	config := fmt.Sprintf(`server:
  ip-address: 127.0.0.1@%[1]s
  ip-address: 127.0.0.1@%[2]s
  port: %[1]s
  tls-port: %[2]s
  tls-service-key: %[3]s
  tls-service-pem: %[4]s
  server-count: 1
  tcp-count: 4000
  tcp-timeout: 30
  username: ""
  zonesdir: %[5]s
  database: ""
  pidfile: ""
  logfile: %[5]s/log
  xfrdfile: ""
  zonelistfile: %[5]s/zone.list
  cookie-secret-file: ""
  rrl-ratelimit: 0
remote-control:
  control-enable: no
zone:
  name: %[6]s
  zonefile: zone
`, port, tlsPort, key, cert, dir, zone)
	if err := os.WriteFile(filepath.Join(dir, "nsd.conf"), []byte(config), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "zone"), []byte(zoneFile()), 0o600); err != nil {
		return nil, err
	}
	p, err := startProcess(otherCore, "nsd", "-d", "-c", filepath.Join(dir, "nsd.conf"))
	if err != nil {
		return nil, err
	}
	n := &nsd{process: p, addr: addr, tlsAddr: tlsAddr, certFile: cert}
	if err := waitFor(p, addr); err != nil {
		n.stop()
		log, _ := os.ReadFile(filepath.Join(dir, "log")) // says why, if it exists
		return nil, fmt.Errorf("nsd: %w\n%s", err, log)
	}
	return n, nil
}

// certificate makes a certificate in dir, once for all upstreams. It is its own authority.
func certificate(dir string) (certFile, keyFile string, err error) {
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if _, err := os.Stat(certFile); err == nil {
		return certFile, keyFile, nil
	}
	out, err := exec.Command("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
		"-days", "2", "-subj", "/CN="+tlsName, "-addext", "subjectAltName=DNS:"+tlsName,
		"-out", certFile, "-keyout", keyFile).CombinedOutput()
	if err != nil {
		return "", "", fmt.Errorf("openssl: %w\n%s", err, out)
	}
	return certFile, keyFile, nil
}

func name(i int) string { return fmt.Sprintf("n%d.%s", i, zone) }

func zoneFile() string {
	var b strings.Builder
	fmt.Fprintf(&b, "$ORIGIN %[1]s\n$TTL 300\n@ SOA ns.%[1]s mbox.%[1]s 1 3600 600 86400 300\n@ NS ns.%[1]s\nns A 127.0.0.1\n", zone)
	for i := range names {
		fmt.Fprintf(&b, "n%d A 10.%d.%d.%d\n", i, i>>16&255, i>>8&255, i&255)
	}
	return b.String()
}

// writeQuestions writes all names in random order, in the format of dnsperf.
func writeQuestions(dir string) (string, error) {
	var b strings.Builder
	for _, i := range rand.Perm(names) {
		fmt.Fprintf(&b, "%s A\n", name(i))
	}
	path := filepath.Join(dir, "questions")
	return path, os.WriteFile(path, []byte(b.String()), 0o600)
}
