package rig

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Talker is a process that prints lines.
type Talker struct {
	*Process
	lines chan string // what it prints; closed at its end
}

// maxLines is how many lines of a Talker may wait to be read; it stops being listened to at more.
const maxLines = 64

// StartTalker starts a program whose lines on standard output are kept for Line.
func StartTalker(core, binary string, args ...string) (*Talker, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p, err := start(w, core, binary, args...)
	_ = w.Close() // the process has it now
	if err != nil {
		_ = r.Close() // nothing was written
		return nil, err
	}
	t := &Talker{Process: p, lines: make(chan string, maxLines)}
	go func() { // ends with the process
		defer close(t.lines)
		defer r.Close()
		for s := bufio.NewScanner(r); s.Scan(); {
			t.lines <- s.Text()
		}
	}()
	return t, nil
}

// Line returns the next line, or an error when none comes within patience.
func (t *Talker) Line(patience time.Duration) (string, error) {
	select {
	case line, ok := <-t.lines:
		if !ok {
			return "", ErrEnded
		}
		return line, nil
	case <-time.After(patience):
		return "", fmt.Errorf("nothing printed within %v", patience)
	}
}

// Self starts this very program as another process; its arguments choose what it does there.
func Self(core string, args ...string) (*Talker, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return StartTalker(core, binary, args...)
}

func command(core, binary string, args ...string) *exec.Cmd {
	// taskset replaces itself by the program, so that the process is the program's.
	return exec.Command("taskset", append([]string{"-c", core, binary}, args...)...)
}
