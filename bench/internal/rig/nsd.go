package rig

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// TLSName is what the certificates of Certificate are for.
const TLSName = "upstream.bench.example"

// startPatience bounds how long a name server or an etcd of the rig may take until it answers.
const startPatience = 20 * time.Second

// Zone is a zone for NSD: its name, its text, and a question that shows that it is served.
type Zone struct {
	Name, Text string
	Probe      Probe
}

// NSD is a running upstream.
type NSD struct {
	*Process
	Addr, TLSAddr string
	CertFile      string // of the authority of its certificate
}

// StartNSD starts an upstream on the other core, with UDP and TCP on one port and TLS on another. dir is new, and the
// certificate is shared by all directories beside it.
func StartNSD(dir string, zone Zone) (*NSD, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	addr, port, err := FreePort()
	if err != nil {
		return nil, err
	}
	tlsAddr, tlsPort, err := FreePort()
	if err != nil {
		return nil, err
	}
	cert, key, err := Certificate(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	args, err := NSDConfig(dir, port, zone, fmt.Sprintf(
		"  ip-address: 127.0.0.1@%[1]s\n  tls-port: %[1]s\n  tls-service-key: %[2]s\n  tls-service-pem: %[3]s\n", tlsPort, key, cert))
	if err != nil {
		return nil, err
	}
	p, err := Start(OtherCore, "nsd", args...)
	if err != nil {
		return nil, err
	}
	n := &NSD{Process: p, Addr: addr, TLSAddr: tlsAddr, CertFile: cert}
	if _, err := p.WaitFor(addr, zone.Probe, startPatience); err != nil {
		n.Stop()
		log, _ := os.ReadFile(filepath.Join(dir, "log")) // says why, if it exists
		return nil, fmt.Errorf("nsd: %w\n%s", err, log)
	}
	return n, nil
}

// NSDConfig writes the configuration of an NSD with one worker to dir, with more lines of its section server, and returns
// the arguments for it.
func NSDConfig(dir, port string, zone Zone, more string) ([]string, error) {
	config := fmt.Sprintf(`server:
  ip-address: 127.0.0.1@%[1]s
  port: %[1]s
%[2]s  server-count: 1
  tcp-count: 4000
  tcp-timeout: 30
  username: ""
  zonesdir: %[3]s
  database: ""
  pidfile: ""
  logfile: %[3]s/log
  xfrdfile: ""
  zonelistfile: %[3]s/zone.list
  cookie-secret-file: ""
  rrl-ratelimit: 0
remote-control:
  control-enable: no
zone:
  name: %[4]s
  zonefile: zone
`, port, more, dir, zone.Name)
	file := filepath.Join(dir, "nsd.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, err
	}
	return []string{"-d", "-c", file}, os.WriteFile(filepath.Join(dir, "zone"), []byte(zone.Text), 0o600)
}

// Certificate makes a certificate for TLSName in dir, once. It is its own authority.
func Certificate(dir string) (certFile, keyFile string, err error) {
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if _, err := os.Stat(certFile); err == nil {
		return certFile, keyFile, nil
	}
	out, err := exec.Command("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
		"-days", "2", "-subj", "/CN="+TLSName, "-addext", "subjectAltName=DNS:"+TLSName,
		"-out", certFile, "-keyout", keyFile).CombinedOutput()
	if err != nil {
		return "", "", fmt.Errorf("openssl: %w\n%s", err, out)
	}
	return certFile, keyFile, nil
}
