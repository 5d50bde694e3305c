package embedded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/trident-dns/trident/internal/etcdtest"

	"go.etcd.io/etcd/server/v3/storage/datadir"
)

// etcd panics over data that are damaged, and would take the process along.
func TestDamagedDataAreAnErrorAndTriedAgain(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole")
	s := start(t, Config{Dir: whole, Seed: write(t, "/a 1\n/b 2\n")})
	ready(t, s)
	s.Close()

	overwrite := func(path string, from, length int64) error {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		junk := make([]byte, length)
		for i := range junk {
			junk[i] = byte(i*7 + 1)
		}
		_, err = f.WriteAt(junk, from)
		return err
	}
	log := func(dir string) string {
		names, err := filepath.Glob(filepath.Join(datadir.ToWALDir(dir), "*.wal"))
		if err != nil || len(names) == 0 {
			t.Fatalf("no log in %s: %v", dir, err)
		}
		return names[0]
	}
	for name, damage := range map[string]func(dir string) error{
		"database overwritten": func(dir string) error { return overwrite(datadir.ToBackendFileName(dir), 0, 16<<10) },
		"pages of the database overwritten": func(dir string) error {
			return overwrite(datadir.ToBackendFileName(dir), 2*int64(os.Getpagesize()), 10<<10)
		},
		"database cut short": func(dir string) error { return os.Truncate(datadir.ToBackendFileName(dir), 9000) },
		"log overwritten":    func(dir string) error { return overwrite(log(dir), 100, 64) },
		"log of other data": func(dir string) error {
			return os.WriteFile(log(dir), []byte("this is no log at all, but text"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			if err := damage(dir); err != nil {
				t.Fatal(err)
			}
			s := start(t, Config{Dir: dir})
			for end := time.Now().Add(etcdtest.Wait); s.Err() == nil; time.Sleep(10 * time.Millisecond) {
				select {
				case <-s.Ready():
					t.Fatal("serves damaged data")
				default:
				}
				if time.Now().After(end) {
					t.Fatal("no error")
				}
			}
			if !errors.Is(s.Err(), ErrDamaged) {
				t.Errorf("error is %v", s.Err())
			}
			// Whoever moves the data away, or restores a backup, need not restart the server.
			if err := os.RemoveAll(filepath.Join(dir, "member")); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(filepath.Join(dir, "member"), mustSub(t, whole, "member")); err != nil {
				t.Fatal(err)
			}
			ready(t, s)
			if got := get(t, s, "/b"); got != "2" {
				t.Errorf("/b is %q after the data were restored", got)
			}
		})
	}
}

func mustSub(t *testing.T, dir, sub string) fs.FS {
	t.Helper()
	f, err := fs.Sub(os.DirFS(dir), sub)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
