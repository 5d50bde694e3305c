package shared

import (
	"errors"
	"io"
	"sync"
)

// ErrReleased is returned by Acquire for an owner that has already ended.
var ErrReleased = errors.New("shared: the owner has been released")

// Pool hands out values by key, one for all owners that ask for the same key. The zero value is an empty pool. All
// methods may be called from several goroutines.
type Pool[V io.Closer] struct {
	mu      sync.Mutex
	entries map[string]*entry[V]
}

type entry[V io.Closer] struct {
	value V
	users int // acquisitions not yet given back; the same owner may count more than once
}

// Acquire returns the value for key and keeps it open until o ends. When nobody holds it, open makes it; open's error
// is returned as it is. Plugins call it in OnStartup, never in set-up: a set-up that fails later has no end.
//
// open and Close run under the pool's lock, so that a value is never opened while its predecessor is still closing:
// neither may wait for something on the network.
func (p *Pool[V]) Acquire(o *Owner, key string, open func() (V, error)) (V, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.entries[key]
	if !ok {
		v, err := open()
		if err != nil {
			return v, err
		}
		e = &entry[V]{value: v}
	}
	if !o.keep(func() { p.giveBack(key, e) }) {
		if !ok {
			_ = e.value.Close() // nobody has seen it
		}
		var none V
		return none, ErrReleased
	}
	e.users++
	if p.entries == nil {
		p.entries = make(map[string]*entry[V])
	}
	p.entries[key] = e
	return e.value, nil
}

// giveBack takes one user from e and closes it after the last one.
func (p *Pool[V]) giveBack(key string, e *entry[V]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.users--; e.users > 0 {
		return
	}
	delete(p.entries, key)
	_ = e.value.Close() // the last user is gone: there is nobody left to tell
}

// Len returns how many values the pool holds open.
func (p *Pool[V]) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.entries)
}
