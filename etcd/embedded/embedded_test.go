package embedded

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/etcd/embedhook"
	"github.com/trident-dns/trident/internal/etcdtest"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"
)

// victimDir, set, makes the test binary a process that serves the directory until it is killed.
const victimDir = "TRIDENT_TEST_EMBEDDED_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		s, err := Start(Config{Dir: dir, ClientURL: "http://127.0.0.1:0"})
		if err != nil {
			panic(err)
		}
		<-s.Ready()
		fmt.Println(s.Endpoint())
		select {}
	}
	goleak.VerifyTestMain(m)
}

func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	if cfg.ClientURL == "" {
		cfg.ClientURL = "http://127.0.0.1:0"
	}
	s, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func ready(t *testing.T, s *Server) {
	t.Helper()
	select {
	case <-s.Ready():
	case <-time.After(etcdtest.Wait):
		t.Fatalf("does not serve: %v", s.Err())
	}
}

// with runs do with a client of s.
func with(t *testing.T, s *Server, do func(context.Context, *clientv3.Client) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), etcdtest.Wait)
	defer cancel()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.Endpoint()}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := do(ctx, c); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, s *Server, key string) (value string) {
	t.Helper()
	with(t, s, func(ctx context.Context, c *clientv3.Client) error {
		resp, err := c.Get(ctx, key)
		if err == nil && len(resp.Kvs) == 1 {
			value = string(resp.Kvs[0].Value)
		}
		return err
	})
	return value
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "seed")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSeedIsWrittenOnceAndNeverAgain(t *testing.T) {
	cfg := Config{Dir: filepath.Join(t.TempDir(), "data"), Seed: write(t, "# comment\n\n/a {\"host\": \"192.0.2.1\"}\n/b\t2 \r\n")}
	s := start(t, cfg)
	ready(t, s)
	if got := get(t, s, "/a"); got != `{"host": "192.0.2.1"}` {
		t.Errorf("/a is %q", got)
	}
	if got := get(t, s, "/b"); got != "2" {
		t.Errorf("/b is %q", got)
	}
	with(t, s, func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.Delete(ctx, "/", clientv3.WithPrefix())
		return err
	})
	s.Close()

	s = start(t, cfg)
	ready(t, s)
	if got := get(t, s, "/a"); got != "" {
		t.Errorf("the store was emptied, and /a came back as %q", got)
	}
}

func TestDataSurviveCloseAndASecondServerOfTheDirectoryWaits(t *testing.T) {
	dir := t.TempDir()
	first := start(t, Config{Dir: dir})
	ready(t, first)
	with(t, first, func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.Put(ctx, "/a", "1")
		return err
	})
	second := start(t, Config{Dir: dir})
	deadline := time.After(etcdtest.Wait)
	for !errors.Is(second.Err(), ErrInUse) {
		select {
		case <-deadline:
			t.Fatalf("error is %v, want %v", second.Err(), ErrInUse)
		case <-time.After(5 * time.Millisecond):
		}
	}
	first.Close()
	ready(t, second)
	if got := get(t, second, "/a"); got != "1" {
		t.Errorf("/a is %q", got)
	}
}

func TestDataSurviveTheKillingOfTheProcess(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	endpoint, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Error(err)
	} else if u, err := url.Parse(strings.TrimSpace(endpoint)); err != nil {
		t.Error(err)
	} else {
		with(t, &Server{endpoint: *u}, func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.Put(ctx, "/a", "1")
			return err
		})
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // reports the signal

	s := start(t, Config{Dir: dir})
	ready(t, s)
	if got := get(t, s, "/a"); got != "1" {
		t.Errorf("/a is %q", got)
	}
}

func TestTakenPortIsWaitedFor(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, Config{Dir: t.TempDir(), ClientURL: "http://" + l.Addr().String()})
	deadline := time.Now().Add(etcdtest.Wait)
	for s.Err() == nil && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	l.Close()
	ready(t, s)
}

func TestCloseRightAfterStartReturns(t *testing.T) {
	for range 3 {
		start(t, Config{Dir: t.TempDir()}).Close()
	}
}

func TestClientURLMustBePlainHTTPOnLoopback(t *testing.T) {
	for _, tt := range []struct {
		url string
		ok  bool
	}{
		{"", true},
		{"http://localhost:2379", true},
		{"http://127.0.0.2:2379", true},
		{"http://[::1]:2379", true},
		{"http://192.0.2.1:2379", false},
		{"http://0.0.0.0:2379", false},
		{"http://example.org:2379", false},
		{"https://127.0.0.1:2379", false},
		{"http://127.0.0.1", false},
		{"http://user@127.0.0.1:2379", false},
		{"http://127.0.0.1:2379/path", false},
		{"127.0.0.1:2379", false},
		{"http://%zz", false},
	} {
		if _, err := clientURL(tt.url); (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrClientURL) {
			t.Errorf("%q: error %v, want ok %v", tt.url, err, tt.ok)
		}
	}
}

func TestBadSeedIsRefusedWithItsLine(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"/a 1\n/b\n", "line 2: no value"},
		{"/a 1\n\n/a 2\n", "line 3: key"},
		{strings.Repeat("#", maxSeed+1), "bytes"},
	} {
		_, err := Start(Config{Dir: t.TempDir(), ClientURL: "http://127.0.0.1:0", Seed: write(t, tt.text)})
		if !errors.Is(err, ErrSeed) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error is %v, want %q", err, tt.want)
		}
	}
	if _, err := Start(Config{Dir: t.TempDir(), Seed: "no such file"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error for a missing file is %v", err)
	}
	if _, err := Start(Config{}); !errors.Is(err, ErrNoDir) {
		t.Errorf("error without a directory is %v", err)
	}
}

func TestHookStartsThisPackage(t *testing.T) {
	if !embedhook.Available() {
		t.Fatal("not registered")
	}
	s, err := embedhook.Start(embedhook.Config{Dir: t.TempDir(), ClientURL: "http://127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ready(t, s.(*Server))
	if get(t, s.(*Server), "/a") != "" {
		t.Error("a new store is not empty")
	}
	if s, err := embedhook.Start(embedhook.Config{}); s != nil || !errors.Is(err, ErrNoDir) {
		t.Errorf("without a directory: %v, %v", s, err)
	}
}

func FuzzParseSeed(f *testing.F) {
	f.Add([]byte("/a 1\n# c\n/b\t{\"host\": 2}\r\n"))
	f.Add([]byte("\x00 \xff\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		seed, err := parseSeed(text)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, p := range seed {
			if p.key == "" || p.value == "" || strings.ContainsAny(p.key, " \t\n") || strings.Contains(p.value, "\n") {
				t.Errorf("pair %q", p)
			}
			if seen[p.key] {
				t.Errorf("key %q twice", p.key)
			}
			seen[p.key] = true
		}
	})
}
