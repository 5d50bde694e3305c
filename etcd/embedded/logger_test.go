package embedded

import (
	"bytes"
	"errors"
	golog "log"
	"strings"
	"sync"
	"testing"

	"go.uber.org/zap"
)

// written is what was logged.
type written struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

func capture(t *testing.T) *written {
	t.Helper()
	w := new(written)
	old := golog.Writer()
	golog.SetOutput(w)
	t.Cleanup(func() { golog.SetOutput(old) })
	return w
}

// An operator who stops the server is not told of errors.
func TestCleanStopLogsNoErrors(t *testing.T) {
	logged := capture(t)
	s := start(t, Config{Dir: t.TempDir()})
	ready(t, s)
	s.Close()
	if got := logged.String(); strings.Contains(got, "[ERROR]") {
		t.Errorf("logged:\n%s", got)
	}
}

// What else goes wrong is told, while the server is stopped too.
func TestErrorsOfTheStopItselfAreLogged(t *testing.T) {
	logged := capture(t)
	closing := false
	l := newLogger(func() bool { return closing })
	l.Error("one", zap.Error(errors.New("mux: server closed")))
	closing = true
	l.Error("two", zap.Error(errors.New("disk is full")))
	l.With(zap.Int("n", 1)).Error("three", zap.Error(errors.New("mux: server closed")))
	got := logged.String()
	if !strings.Contains(got, "one") || !strings.Contains(got, "two") || strings.Contains(got, "three") {
		t.Errorf("logged:\n%s", got)
	}
}
