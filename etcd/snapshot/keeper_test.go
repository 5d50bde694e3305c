package snapshot

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
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

func TestKeeperThatCannotWriteGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	path := filepath.Join(dir, "snapshot")
	synctest.Test(t, func(t *testing.T) {
		k := Keep(path, time.Minute, two)
		defer k.Close()
		time.Sleep(5 * time.Minute)
		if !k.Written().IsZero() {
			t.Fatal("wrote into a directory that does not exist")
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if k.Written().IsZero() {
			t.Error("did not try again")
		}
	})
}
