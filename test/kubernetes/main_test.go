package kubernetes

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// inside is set in the process that runs in the network namespace; binaries is where the programs are.
const (
	inside   = "TRIDENT_E2E_INSIDE"
	binaries = "TRIDENT_E2E_BINARIES"
)

// patience bounds every wait for a state. Clients of the API server wait up to half a minute before they try again.
const patience = 2 * time.Minute

// checkout is the root of the main module.
const checkout = "../.."

// TestMain builds what is needed, with the network, and then runs the tests in a process without.
func TestMain(m *testing.M) {
	if os.Getenv(inside) != "" {
		os.Exit(m.Run())
	}
	code, err := outside()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func outside() (int, error) {
	if os.Getuid() != 0 {
		return 0, errors.New("this test makes a network namespace and changes users: run it as root")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return 0, err
	}
	dir := filepath.Join(cache, "trident-e2e")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	if err := build(dir); err != nil {
		return 0, err
	}
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), inside+"=1", binaries+"="+dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	// Should this process be killed, the one inside and its children do not stay.
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// build compiles the programs into dir; what is up to date costs seconds.
func build(dir string) error {
	for target, pkg := range map[string]string{
		"kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
		"etcd":           "go.etcd.io/etcd/server/v3",
	} {
		start := time.Now()
		cmd := exec.Command("go", "build", "-ldflags", "-s -w -X k8s.io/component-base/version.gitVersion=v1.37.2",
			"-o", filepath.Join(dir, target), pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w\n%s", target, err, out)
		}
		fmt.Printf("%s: built in %v\n", target, time.Since(start).Round(time.Second))
	}
	return nil
}
