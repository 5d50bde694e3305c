package contest

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// profileSlice is how long one profile takes. CoreDNS's pprof plugin gives a reply five seconds; go tool pprof puts the
// files of several slices together.
const profileSlice = 4 * time.Second

// collect saves profiles of the next d to dir, in slices: of CPU time, and of what is allocated.
func collect(dir, name, addr string, d time.Duration) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var errs [2]error
	var wg sync.WaitGroup
	for i, kind := range []string{"profile", "allocs"} {
		wg.Go(func() {
			for slice := range max(1, int(d/profileSlice)) {
				file := filepath.Join(dir, fmt.Sprintf("%s-%s-%d.pb.gz", name, map[string]string{"profile": "cpu", "allocs": "allocs"}[kind], slice+1))
				if errs[i] = fetch(file, fmt.Sprintf("http://%s/debug/pprof/%s?seconds=%d", addr, kind, int(profileSlice.Seconds()))); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	if errs[0] != nil {
		return errs[0]
	}
	return errs[1]
}

func fetch(file, url string) error {
	client := &http.Client{Timeout: profileSlice + 10*time.Second}
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", url, resp.Status, body)
	}
	return os.WriteFile(file, body, 0o600)
}

// fileName makes a part of a file's name of what people read.
func fileName(s string) string { return strings.ReplaceAll(s, " ", "-") }
