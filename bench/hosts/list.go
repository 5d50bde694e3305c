package main

import (
	"bufio"
	"fmt"
	"os"
)

// The addresses that a list gives its names, first and after it changed.
const (
	firstAddr  = "0.0.0.0"
	secondAddr = "0.0.0.1"
)

// list is a blocklist on disk. Its names are as long as those of real ones, and a quarter as many domains have them.
type list struct {
	path  string
	lines int
}

func (l list) name(i int) string { return fmt.Sprintf("ad%07d.tr%05d.example.", i, i/4) }

// write replaces the list, whose names get addr, and returns its size in bytes.
func (l list) write(addr string) (int64, error) {
	tmp := l.path + ".new"
	f, err := os.Create(tmp)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	w := bufio.NewWriter(f)
	for i := range l.lines {
		name := l.name(i)
		_, _ = fmt.Fprintf(w, "%s %s\n", addr, name[:len(name)-1]) // Flush returns the error
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Size(), os.Rename(tmp, l.path)
}
