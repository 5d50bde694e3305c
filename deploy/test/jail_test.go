//go:build linux

package deploytest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience bounds every wait of these tests.
const patience = 60 * time.Second

// jail is a root file system mounted read-only, with the image's two volumes and a directory for the Corefile, in a
// network of its own. What runs in it does so as the image's user, with no capability to gain but NET_BIND_SERVICE, as the
// runtimes of Kubernetes start it (allowPrivilegeEscalation: false, drop: ALL, add: NET_BIND_SERVICE).
type jail struct {
	root string
}

// inJail runs f on a thread that is in the jail's network. It skips the test where that cannot be had.
func inJail(t *testing.T, root, etc string, f func(jail)) {
	t.Helper()
	var err error
	var wg sync.WaitGroup
	wg.Go(func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine, and the mounts with it
		if err = unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWNS); err != nil {
			return
		}
		if err = mounts(root, etc); err == nil {
			f(jail{root})
		}
	})
	wg.Wait()
	if err != nil {
		t.Skipf("the root file system was built but not run: %v: run as root, where namespaces can be made", err)
	}
}

func mounts(root, etc string) error {
	if err := os.MkdirAll(root+"/proc", 0o755); err != nil { // as a runtime does
		return err
	}
	volume := "mode=0750,uid=65532,gid=65532"
	for _, m := range []struct {
		source, target, kind string
		flags                uintptr
		data                 string
	}{
		{"", "/", "", unix.MS_REC | unix.MS_PRIVATE, ""},
		{root, root, "", unix.MS_BIND, ""},
		{"/proc", root + "/proc", "", unix.MS_BIND, ""},
		{"", root, "", unix.MS_REMOUNT | unix.MS_BIND | unix.MS_RDONLY, ""},
		{etc, root + "/etc/coredns", "", unix.MS_BIND, ""},
		{"state", root + "/var/lib/trident", "tmpfs", 0, volume},
		{"cache", root + "/var/cache/trident", "tmpfs", 0, volume},
	} {
		if err := unix.Mount(m.source, m.target, m.kind, m.flags, m.data); err != nil {
			return &os.PathError{Op: "mount", Path: m.target, Err: err}
		}
	}
	return exec.Command("ip", "link", "set", "lo", "up").Run()
}

// start starts a program of the jail. What it prints is written to the returned buffer, to be read after it has ended.
func (j jail) start(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	// All three are the thread's, and the new process has them from it. A runtime keeps the capabilities of the container
	// while it changes the user, so that a program whose file has them, and no other, keeps them: the third does that.
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if c != unix.CAP_NET_BIND_SERVICE {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // older kernels do not know the last ones
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Error(err)
	}
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, secbitNoSetuidFixup, 0, 0, 0); err != nil {
		t.Error(err)
	}
	out := new(bytes.Buffer)
	cmd := &exec.Cmd{
		Path: args[0], Args: args, Dir: "/", Env: []string{}, Stdout: out, Stderr: out,
		SysProcAttr: &syscall.SysProcAttr{
			Chroot:     j.root,
			Credential: &syscall.Credential{Uid: 65532, Gid: 65532},
		},
	}
	if err := cmd.Start(); err != nil {
		t.Errorf("starting %q: %v", args, err)
		return nil, out
	}
	return cmd, out
}

// secbitNoSetuidFixup is SECBIT_NO_SETUID_FIXUP of capabilities(7).
const secbitNoSetuidFixup = 1 << 2

// status returns a line of /proc/PID/status.
func status(t *testing.T, pid int, field string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", itoa(pid), "status"))
	if err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}
