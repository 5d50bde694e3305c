package shared

import (
	"sync"

	"github.com/coredns/caddy"
)

// Owner holds what one configuration has acquired from pools. All methods may be called from several goroutines.
type Owner struct {
	mu       sync.Mutex
	release  []func() // in the order of acquisition
	released bool
}

// ownerKey finds the owner of an instance in its storage.
type ownerKey struct{}

// New returns an owner that belongs to no caddy instance: for tests, and for programs that use the packages as
// libraries. It ends with its Release.
func New() *Owner { return &Owner{} }

// Of returns the owner that stands for the configuration that c belongs to, the same one for all its server blocks.
// It ends by itself when the configuration does: at OnShutdown, or when a failed reload discards it.
func Of(c *caddy.Controller) *Owner {
	if o, ok := c.Get(ownerKey{}).(*Owner); ok {
		return o
	}
	o := New()
	c.Set(ownerKey{}, o)
	c.OnStartup(func() error {
		sweep()
		watchOthers()
		remember(o)
		return nil
	})
	c.OnShutdown(func() error {
		forget(o)
		return nil
	})
	c.OnRestartFailed(func() error {
		sweep()
		return nil
	})
	return o
}

// Release gives back all that the owner acquired, the last first, and makes later acquisitions fail. Further calls
// do nothing.
func (o *Owner) Release() {
	o.mu.Lock()
	release := o.release
	o.release, o.released = nil, true
	o.mu.Unlock()
	for i := len(release) - 1; i >= 0; i-- {
		release[i]()
	}
}

// keep notes how to give something back. It reports false, having kept nothing, when the owner has already ended.
func (o *Owner) keep(release func()) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.released {
		return false
	}
	o.release = append(o.release, release)
	return true
}
