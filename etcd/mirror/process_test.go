package mirror

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/trident-dns/trident/etcd/embedded"
	"github.com/trident-dns/trident/internal/etcdtest"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// memberDir, set, makes the test binary an etcd that keeps its data there and prints its URL.
const memberDir = "TRIDENT_TEST_MEMBER_DIR"

func serveMember(dir string) {
	s, err := embedded.Start(embedded.Config{Dir: dir, ClientURL: "http://127.0.0.1:0"})
	if err != nil {
		panic(err)
	}
	<-s.Ready()
	fmt.Println(s.Endpoint())
	select {} // until killed
}

// A stopped process keeps its sockets: the kernel goes on to take what is sent, and nothing comes back.
func TestMemberThatIsStoppedBySignalIsNoticedAndResumed(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), memberDir+"="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it never ends by itself
		_ = cmd.Wait()         // reports the signal
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(line)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*etcdtest.Wait)
	defer cancel()
	put := func(key string) {
		t.Helper()
		if _, err := client.Put(ctx, key, "1"); err != nil {
			t.Fatal(err)
		}
	}
	put("/s/1")
	s, why := newCopySink(), make(relists, 10)
	f := open(t, Config{Endpoints: []string{url}, OnRelist: why.hook}).Subscribe(Prefix("/s/"), s, Position{})
	eventually(t, "fresh copy", func() bool { return f.Status().State == Fresh })

	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "stale", func() bool { return f.Status().State == Stale && f.Status().Err != nil })
	if _, have, _ := s.snapshot(); len(have) != 1 {
		t.Errorf("of a stopped member the copy is %v", have)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	put("/s/2")
	eventually(t, "second key", func() bool { _, have, _ := s.snapshot(); return len(have) == 2 })
	why.expectNone(t)
}
