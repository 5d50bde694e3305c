package snapshot

import (
	"bytes"
	stdlog "log"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trident-dns/trident/etcd/mirror"
)

func TestKeeperWritesOnlyWhatIsNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "snapshot")
	synctest.Test(t, func(t *testing.T) {
		var rev atomic.Int64
		k := Keep(path, time.Minute, func() []Section {
			n := rev.Load()
			if n == 0 {
				return nil
			}
			return []Section{{Range: mirror.Prefix("/"), At: position(n), KVs: slices.Values([]mirror.KV{})}}
		})
		time.Sleep(90 * time.Second)
		if _, err := os.Stat(path); err == nil || !k.Written().IsZero() {
			t.Error("written without a copy")
		}
		rev.Store(5)
		time.Sleep(time.Minute)
		synctest.Wait()
		first := k.Written()
		if first.IsZero() || read(t, path)[0].At.Revision != 5 {
			t.Errorf("written at %v", first)
		}
		time.Sleep(10 * time.Minute)
		if !k.Written().Equal(first) {
			t.Error("written again without a change")
		}
		rev.Store(6)
		k.Close()
		if got := read(t, path)[0].At; !reflect.DeepEqual(got, position(6)) {
			t.Errorf("after Close the file is of %+v", got)
		}
	})
}

// A zone in which nothing happens must not fall so far behind a busy cluster that its revision is compacted. All of it is
// written for that, so not too often.
func TestKeeperWritesRevisionsAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "snapshot")
	synctest.Test(t, func(t *testing.T) {
		var confirmed atomic.Int64
		confirmed.Store(5)
		k := Keep(path, time.Minute, func() []Section {
			return []Section{{
				Range: mirror.Prefix("/"), At: position(5), Confirmed: confirmed.Load(), KVs: slices.Values([]mirror.KV{}),
			}}
		})
		time.Sleep(time.Minute)
		synctest.Wait()
		for i := range int64(9) {
			confirmed.Add(1)
			time.Sleep(time.Minute)
			synctest.Wait()
			if got, want := read(t, path)[0].Confirmed, 5+(i+1)/4*4; got != want {
				t.Errorf("after %d minutes the file is of revision %d, want %d", i+1, got, want)
			}
		}
		k.Close()
		if got := read(t, path)[0].Confirmed; got != confirmed.Load() {
			t.Errorf("after Close the file is of revision %d, want %d", got, confirmed.Load())
		}
	})
}

func TestKeeperThatCannotWriteGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	path := filepath.Join(dir, "snapshot")
	var logged bytes.Buffer
	stdlog.SetOutput(&logged)
	defer stdlog.SetOutput(os.Stderr)
	synctest.Test(t, func(t *testing.T) {
		k := Keep(path, time.Minute, two)
		defer k.Close()
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if n := strings.Count(logged.String(), "not kept up to date"); n != 1 {
			t.Errorf("logged %d times, want once: %s", n, logged.String())
		}
		if !k.Written().IsZero() {
			t.Fatal("wrote into a directory that does not exist")
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if k.Written().IsZero() {
			t.Error("did not try again")
		}
	})
}
