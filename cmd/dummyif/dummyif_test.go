//go:build linux

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// inNetwork runs f on a thread with a network of its own, which needs root. The thread ends with it.
func inNetwork(t *testing.T, f func()) {
	t.Helper()
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: nobody else may get a thread that is elsewhere
		if err = unix.Unshare(unix.CLONE_NEWNET); err == nil {
			f()
		}
	}()
	<-done
	if err != nil {
		t.Skipf("no network namespace of its own (%v): run as root", err)
	}
}

// Some small kernels have no dummy interfaces. A bridge without ports is made and behaves like one.
func want(t *testing.T, name, addresses string) wanted {
	t.Helper()
	w, err := parse(name, addresses)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := dial(); err == nil {
		defer c.close()
		if errors.Is(c.do(newLink(probeName, w.kind)), unix.EOPNOTSUPP) {
			t.Logf("this kernel has no %s interfaces, here is a bridge", w.kind)
			w.kind = "bridge"
		}
	}
	return w
}

// probeName is an interface that nobody looks at.
const probeName = "probe0"

func TestAnInterfaceThatIsThereGetsTheAddress(t *testing.T) {
	inNetwork(t, func() {
		w := want(t, "lo", "127.0.0.1/8,169.254.20.10/32")
		if changed, err := w.ensure(); err != nil || !changed {
			t.Errorf("changed %v, error %v", changed, err)
		}
		if err := w.missing(); err != nil {
			t.Error(err)
		}
	})
}

func TestAKindThatTheKernelLacksIsExplained(t *testing.T) {
	inNetwork(t, func() {
		w := wanted{name: "d0", kind: "no-such-kind", addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}}
		if _, err := w.ensure(); err == nil || !strings.Contains(err.Error(), "such as lo") {
			t.Errorf("error %v", err)
		}
	})
}

func TestTheInterfaceIsMadeAndMadeAgain(t *testing.T) {
	inNetwork(t, func() {
		w := want(t, "node-dns", "169.254.20.10/32,fd00::10/128")
		if w.missing() == nil {
			t.Error("nothing is missing before anything was made")
		}
		for _, harm := range []string{"", "link del node-dns", "addr del 169.254.20.10/32 dev node-dns", "link set node-dns down"} {
			if harm != "" {
				if out, err := exec.Command("ip", strings.Fields(harm)...).CombinedOutput(); err != nil {
					t.Errorf("ip %s: %v: %s", harm, err, out)
				}
				if w.missing() == nil {
					t.Errorf("after %q nothing is missing", harm)
				}
			}
			changed, err := w.ensure()
			if err != nil || !changed {
				t.Errorf("after %q: changed %v, error %v", harm, changed, err)
			}
			if changed, err := w.ensure(); err != nil || changed {
				t.Errorf("after %q, the second time: changed %v, error %v", harm, changed, err)
			}
			// The address is one of this host: a server can listen on it.
			l, err := net.ListenPacket("udp", "169.254.20.10:53")
			if err != nil {
				t.Errorf("after %q: %v", harm, err)
				continue
			}
			_ = l.Close() // nobody has used it
		}
	})
}

func TestKeepBringsTheInterfaceBack(t *testing.T) {
	inNetwork(t, func() {
		w := want(t, "d0", "192.0.2.1/32")
		if err := keep(context.Background(), w, 0); err != nil {
			t.Error(err)
		}
		if out, err := exec.Command("ip", "link", "del", "d0").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		// All on this thread, the only one in the network: keep ends when its context does, after it has looked once more.
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		if err := keep(ctx, w, 5*time.Millisecond); err != nil {
			t.Error(err)
		}
		if err := w.missing(); err != nil {
			t.Error(err)
		}
	})
}

func TestARefusalOfTheKernelIsAnError(t *testing.T) {
	inNetwork(t, func() {
		c, err := dial()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.close()
		if err := c.do(addAddress(99, netip.MustParsePrefix("192.0.2.1/32"))); !errors.Is(err, unix.ENODEV) {
			t.Errorf("an address for interface 99: %v, want ENODEV", err)
		}
	})
}

func TestBadFlagsAreRefused(t *testing.T) {
	for _, tt := range [][2]string{
		{"", "192.0.2.1/32"}, {"sixteen-bytes-xx", "192.0.2.1/32"}, {"a/b", "192.0.2.1/32"}, {"a", ""},
		{"a", "192.0.2.1"}, {"a", "192.0.2.1/33"}, {"a", "192.0.2.1/32,"}, {"a", "0.0.0.0/32"}, {"a", "ff02::1/128"},
	} {
		if w, err := parse(tt[0], tt[1]); err == nil {
			t.Errorf("-name %q -address %q: %v, want an error", tt[0], tt[1], w)
		}
	}
}

// rtnetlink(7): header, ifaddrmsg, attributes, each padded to four bytes.
func TestAMessageIsAsLongAsItSays(t *testing.T) {
	for _, r := range []request{newLink("abc", "dummy"), setUp(7), addAddress(7, netip.MustParsePrefix("fd00::1/128"))} {
		m := r.message(3)
		if n := binary.NativeEndian.Uint32(m); int(n) != len(m) || n%4 != 0 {
			t.Errorf("type %d: %d bytes that say %d", r.kind, len(m), n)
		}
	}
	for _, b := range [][]byte{nil, make([]byte, 16), make([]byte, 20)} {
		if _, ours := verdict(b, 0); ours {
			t.Errorf("%v is taken for an acknowledgement", b)
		}
	}
}
