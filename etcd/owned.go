package etcd

import (
	"io"
	"strconv"
	"sync/atomic"

	"github.com/trident-dns/trident/internal/shared"
)

// owned are things that one configuration has for itself. The pool is what closes them when it ends, however it does.
var owned struct {
	pool shared.Pool[io.Closer]
	last atomic.Int64
}

// own has c closed when owner ends.
func own(owner *shared.Owner, c io.Closer) error {
	_, err := owned.pool.Acquire(owner, strconv.FormatInt(owned.last.Add(1), 10), func() (io.Closer, error) { return c, nil })
	return err
}

// stopper is an io.Closer that calls a function.
type stopper func()

// Close implements io.Closer.
func (s stopper) Close() error {
	s()
	return nil
}
