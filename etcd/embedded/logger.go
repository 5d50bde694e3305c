package embedded

import (
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// newLogger returns a logger that passes etcd's errors to CoreDNS's log and its warnings to the debug log, one line
// each. etcd warns of much that is as it should be in a single node, and informs of everything.
func newLogger() *zap.Logger {
	// By itself a fatal error ends the process: with it would go a DNS server that can answer from memory. So only the
	// goroutine ends, and the server is found stopped.
	return zap.New(core{}, zap.WithFatalHook(zapcore.WriteThenGoexit))
}

// core is a zapcore.Core that writes to CoreDNS's log.
type core struct {
	fields []zapcore.Field
}

// Enabled implements zapcore.LevelEnabler.
func (core) Enabled(l zapcore.Level) bool { return l >= zapcore.WarnLevel }

// With implements zapcore.Core.
func (c core) With(fields []zapcore.Field) zapcore.Core {
	return core{slices.Concat(c.fields, fields)}
}

// Check implements zapcore.Core.
func (c core) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return ce.AddCore(e, c)
	}
	return ce
}

// Write implements zapcore.Core.
func (c core) Write(e zapcore.Entry, fields []zapcore.Field) error {
	line := "Embedded etcd: " + e.Message + describe(slices.Concat(c.fields, fields))
	if e.Level >= zapcore.ErrorLevel {
		log.Error(line)
	} else {
		log.Debug(line)
	}
	return nil
}

// Sync implements zapcore.Core.
func (core) Sync() error { return nil }

// describe renders fields in the order of their names.
func describe(fields []zapcore.Field) string {
	enc := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(enc)
	}
	parts := make([]string, 0, len(enc.Fields))
	for name, value := range enc.Fields {
		parts = append(parts, fmt.Sprintf("%s=%v", name, value))
	}
	slices.Sort(parts)
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
