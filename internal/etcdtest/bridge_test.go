package etcdtest

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, Leaks()...) }

// echo starts a server that sends back what it gets.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				_, _ = io.Copy(c, c) // until the client goes
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

func dial(t *testing.T, b *Bridge) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// answers sends a byte and waits for it to come back.
func answers(c net.Conn, wait time.Duration) error {
	if _, err := c.Write([]byte{1}); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return err
	}
	_, err := io.ReadFull(c, make([]byte, 1))
	return err
}

func TestPausedBridgeHoldsBackAndCutBridgeCloses(t *testing.T) {
	b := NewBridge(t, echo(t))
	c := dial(t, b)
	if err := answers(c, Wait); err != nil {
		t.Fatal(err)
	}
	b.Pause()
	late := dial(t, b)
	for name, conn := range map[string]net.Conn{"old": c, "new": late} {
		if err := answers(conn, 50*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("paused, the %s connection says %v", name, err)
		}
	}
	b.Heal()
	for name, conn := range map[string]net.Conn{"old": c, "new": late} {
		if err := conn.SetReadDeadline(time.Now().Add(Wait)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			t.Errorf("healed, what was held back on the %s connection did not come: %v", name, err)
		}
	}
	b.Drop()
	if err := answers(c, Wait); err == nil {
		t.Error("dropped connection answers")
	}
	if err := answers(dial(t, b), Wait); err != nil {
		t.Errorf("after Drop a new connection says %v", err)
	}
	b.Cut()
	if err := answers(dial(t, b), Wait); err == nil {
		t.Error("cut, a new connection answers")
	}
}

func TestEtcdKeepsItsDataUntilItIsWiped(t *testing.T) {
	e := Start(t)
	e.Put("/a", "1")
	e.Stop()
	e.Restart()
	if all, _ := e.Dump("/"); all["/a"] != "1" {
		t.Errorf("after a restart: %v", all)
	}
	e.Stop()
	e.Wipe()
	e.Restart()
	if all, _ := e.Dump("/"); len(all) != 0 {
		t.Errorf("after a wipe: %v", all)
	}
}
