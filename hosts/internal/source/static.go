package source

// Static is a Source that never changes: what a Corefile says itself.
type Static struct{ parts []Part }

// NewStatic returns a source that holds p.
func NewStatic(p Part) *Static { return &Static{[]Part{p}} }

var tried = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Parts implements Source.
func (s *Static) Parts() []Part { return s.parts }

// Tried implements Source.
func (s *Static) Tried() <-chan struct{} { return tried }

// Ready implements Source.
func (s *Static) Ready() bool { return true }

// Close implements Source.
func (s *Static) Close() error { return nil }
