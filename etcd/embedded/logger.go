package embedded

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc"
)

// newLogger returns a logger that passes etcd's errors to CoreDNS's log and its warnings to the debug log, one line
// each. etcd warns of much that is as it should be in a single node, and informs of everything. Once closing says so, the
// errors that a closed listener gives are warnings.
func newLogger(closing func() bool) *zap.Logger {
	// By itself a fatal error ends the process: with it would go a DNS server that can answer from memory. So only the
	// goroutine ends, and the server is found stopped.
	return zap.New(core{closing: closing}, zap.WithFatalHook(zapcore.WriteThenGoexit))
}

// core is a zapcore.Core that writes to CoreDNS's log.
type core struct {
	fields  []zapcore.Field
	closing func() bool
}

// Enabled implements zapcore.LevelEnabler.
func (core) Enabled(l zapcore.Level) bool { return l >= zapcore.WarnLevel }

// With implements zapcore.Core.
func (c core) With(fields []zapcore.Field) zapcore.Core {
	return core{slices.Concat(c.fields, fields), c.closing}
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
	if e.Level >= zapcore.ErrorLevel && !(c.closing() && ofClose(fields)) {
		log.Error(line)
	} else {
		log.Debug(line)
	}
	return nil
}

// ofClose tells whether one of fields is what a server says when its listener is closed: the library that splits a port
// between protocols, those for HTTP and gRPC, and the network itself.
func ofClose(fields []zapcore.Field) bool {
	return slices.ContainsFunc(fields, func(f zapcore.Field) bool {
		err, ok := f.Interface.(error)
		return ok && (errors.Is(err, net.ErrClosed) || errors.Is(err, http.ErrServerClosed) ||
			errors.Is(err, grpc.ErrServerStopped) ||
			err.Error() == "mux: server closed" || strings.HasSuffix(err.Error(), net.ErrClosed.Error()))
	})
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
