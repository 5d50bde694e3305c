package dryrun

import (
	"bytes"
	"log"
	"strings"
	"sync"

	"github.com/trident-dns/trident/internal/trial"
)

// logged keeps what is logged during set-up, where plugins put their warnings.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// capture takes over what the standard logger writes, which CoreDNS's goes through, until restore.
func capture() (l *logged, restore func()) {
	l = new(logged)
	was, flags := log.Writer(), log.Flags()
	log.SetOutput(l)
	log.SetFlags(0)
	return l, func() {
		log.SetOutput(was)
		log.SetFlags(flags)
	}
}

// Write implements io.Writer.
func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// take returns the warnings and errors since the last call, each once.
func (l *logged) take() []trial.Finding {
	l.mu.Lock()
	text := l.text.String()
	l.text.Reset()
	l.mu.Unlock()
	var all []trial.Finding
	seen := make(map[string]bool)
	for _, line := range strings.Split(text, "\n") {
		level, rest, ok := strings.Cut(line, "] ")
		if !ok || seen[line] || level != "[WARNING" && level != "[ERROR" {
			continue
		}
		seen[line] = true
		if name, text, ok := strings.Cut(rest, ": "); ok && strings.HasPrefix(name, "plugin/") {
			rest = text // the finding names the plugin
		}
		all = append(all, trial.Found(trial.Warning, "%s", rest))
	}
	return all
}
