package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// A batch of which one key was written meanwhile is not written at all, and says so.
func TestAKeyThatChangedMeanwhileKeepsItsBatchFromBeingWritten(t *testing.T) {
	s := newShell(t)
	client, err := store.Open(t.Context(), store.Config{Endpoints: []string{s.Direct()}, DialTimeout: time.Second, Call: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s.Put("/skydns/a", "old")
	read, _, err := client.List(t.Context(), "/skydns/")
	if err != nil {
		t.Fatal(err)
	}
	s.Put("/skydns/a", "somebody else's")
	err = client.Apply(t.Context(), []store.Change{
		{Old: &read[0], New: &store.Entry{Key: "/skydns/a", Value: "new"}},
		{New: &store.Entry{Key: "/skydns/b", Value: "new"}},
	}, func(int) {})
	if !errors.Is(err, store.ErrChanged) || codeOf(err, true) != exitChanged {
		t.Errorf("%v, exit code %d; want %v, %d", err, codeOf(err, true), store.ErrChanged, exitChanged)
	}
	s.want(t, "/skydns/a somebody else's")
}

func TestBatchesKeepToWhatEtcdTakes(t *testing.T) {
	var changes []store.Change
	for i := range 300 {
		size := 10
		if i >= 256 {
			size = 400_000
		}
		changes = append(changes, store.Change{New: &store.Entry{Key: fmt.Sprint("/", i), Value: strings.Repeat("x", size)}})
	}
	batches, err := store.Batches(changes)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, b := range batches {
		bytes := 0
		for _, c := range b {
			bytes += len(c.New.Value)
		}
		if n += len(b); len(b) > store.MaxOps || bytes > 1<<20 {
			t.Errorf("a batch of %d keys and %d bytes", len(b), bytes)
		}
	}
	if n != len(changes) {
		t.Errorf("%d changes in batches, want %d", n, len(changes))
	}
	_, err = store.Batches([]store.Change{{New: &store.Entry{Key: "/", Value: strings.Repeat("x", 2<<20)}}})
	if !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("%v, want %v", err, store.ErrTooLarge)
	}
}

func TestProgressIsShownOnRequestAndOnOneLine(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	p := &progress{w: &out, total: 1000, shown: true, now: func() time.Time { return now }}
	for range 10 {
		p.add(100)
		now = now.Add(every / 2)
	}
	p.end()
	if n := strings.Count(out.String(), "\r"); n != 5 || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("shown %d times in half as many steps as there are: %q", n, out.String())
	}
	contains(t, out.String(), "1000 of 1000 keys (100 %), 1000 a second")

	s := newShell(t)
	s.in = "10.0.0.1 www.example.org\n"
	contains(t, s.try(t, "import", "-", "--progress").err, "1 of 1 keys (100 %)")
	s.in = "10.0.0.2 www.example.org\n"
	if r := s.try(t, "import", "-"); strings.Contains(r.err, "%") {
		t.Errorf("progress where there is no terminal: %q", r.err)
	}
}
