package shared

import (
	"errors"
	"sync"
	"testing"
)

// thing counts how often it was closed.
type thing struct{ closed int }

func (c *thing) Close() error { c.closed++; return nil }

func open() (*thing, error) { return &thing{}, nil }

func TestOwnersOfOneKeyShareOneValue(t *testing.T) {
	var p Pool[*thing]
	old, next := New(), New()
	a, _ := p.Acquire(old, "k", open)
	b, _ := p.Acquire(next, "k", open)
	c, _ := p.Acquire(next, "other", open)
	if a != b || a == c || p.Len() != 2 {
		t.Fatalf("got %p and %p for one key, %p for another, %d values; want one value a key", a, b, c, p.Len())
	}
	old.Release()
	if a.closed != 0 {
		t.Fatal("closed although a second owner holds it")
	}
	next.Release()
	if a.closed != 1 || c.closed != 1 || p.Len() != 0 {
		t.Fatalf("closed %d and %d times, %d values left; want 1, 1 and 0", a.closed, c.closed, p.Len())
	}
}

func TestReleaseTwiceGivesBackOnce(t *testing.T) {
	var p Pool[*thing]
	one, two := New(), New()
	v, _ := p.Acquire(one, "k", open)
	_, _ = p.Acquire(two, "k", open)
	one.Release()
	one.Release()
	if v.closed != 0 {
		t.Fatal("a second Release took the other owner's share")
	}
}

func TestAcquireAfterReleaseFailsAndKeepsNothing(t *testing.T) {
	var p Pool[*thing]
	o := New()
	o.Release()
	var made *thing
	_, err := p.Acquire(o, "k", func() (*thing, error) { made = &thing{}; return made, nil })
	if !errors.Is(err, ErrReleased) || made.closed != 1 || p.Len() != 0 {
		t.Fatalf("err %v, closed %d times, %d values; want ErrReleased, 1 and 0", err, made.closed, p.Len())
	}
}

func TestAnOpenThatFailsIsTriedAgain(t *testing.T) {
	var p Pool[*thing]
	broken := errors.New("broken")
	if _, err := p.Acquire(New(), "k", func() (*thing, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Fatalf("err %v, want the error of open", err)
	}
	if v, err := p.Acquire(New(), "k", open); err != nil || v == nil {
		t.Fatalf("got %v, %v after a failed open", v, err)
	}
}

func TestLastFirstOutOfManyGoroutines(t *testing.T) {
	var p Pool[*thing]
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			o := New()
			if _, err := p.Acquire(o, "k", open); err != nil {
				t.Error(err)
			}
			o.Release()
		})
	}
	wg.Wait()
	if p.Len() != 0 {
		t.Fatalf("%d values left", p.Len())
	}
}
