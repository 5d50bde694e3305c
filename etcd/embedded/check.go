package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/server/v3/storage/datadir"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
)

// ErrDamaged says that the data in the directory cannot be used. They have to be moved away, or replaced by a backup.
var ErrDamaged = errors.New("the data are damaged")

// lockWait bounds the wait for the lock of the database, which nobody holds once that of the directory is ours.
const lockWait = time.Second

// checkData reads all that etcd is about to read. etcd panics over damage, mostly in goroutines of its own, and a panic
// there ends the process: the DNS server would not come up for want of an etcd that it can do without.
func checkData(dir string) (err error) {
	// A file that was cut short faults where it is mapped into memory.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, r)
		}
	}()
	if err := checkDatabase(datadir.ToBackendFileName(dir)); err != nil {
		return err
	}
	return checkLog(datadir.ToWALDir(dir))
}

func checkDatabase(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // the store is new
	}
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return nil // as after a crash in the middle of making it
	}
	// The list of free pages is not loaded: that is done in a goroutine.
	db, err := bolt.Open(path, 0, &bolt.Options{ReadOnly: true, Timeout: lockWait})
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	defer db.Close()
	err = db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(_ []byte, b *bolt.Bucket) error { return touch(b) })
	})
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	return nil
}

// touch reads every pair of a bucket.
func touch(b *bolt.Bucket) error {
	var sum byte
	return b.ForEach(func(key, value []byte) error {
		for _, data := range [][]byte{key, value} {
			for i := 0; i < len(data); i += os.Getpagesize() {
				sum += data[i] // faults where the page is not there
			}
		}
		return nil
	})
}

func checkLog(dir string) error {
	if !wal.Exist(dir) {
		return nil
	}
	snaps, err := wal.ValidSnapshotEntries(zap.NewNop(), dir)
	switch {
	case err != nil:
	case len(snaps) == 0:
		err = errors.New("no beginning") // which is written before the log gets its name
	default:
		_, err = wal.Verify(zap.NewNop(), dir, snaps[len(snaps)-1])
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, filepath.Clean(dir), err)
	}
	return nil
}
