package fastudp

import (
	"net"
	"slices"
	"sync"
	"time"
)

const (
	// quietTime is how long a socket must have been without a datagram before it is closed. The kernel gives it no
	// more by then: it is only those that were on their way when it left its group that are waited for.
	quietTime = 20 * time.Millisecond

	// leaveTime bounds the wait for quiet, for kernels that go on giving datagrams to a socket that has left.
	leaveTime = time.Second

	// settleTime is how long replies may lie in what decorates writers (shed) once their questions are through.
	settleTime = 20 * time.Millisecond
)

// retire gives the address back to CoreDNS's own listener, answers what the sockets hold, at most until the deadline,
// and closes them. own says whether CoreDNS still has that listener.
func (f *front) retire(deadline time.Time, own func(*net.UDPAddr) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.lanes) == 0 {
		return
	}
	f.leaveLocked(own)
	settle := time.Duration(0)
	if f.current.Load().decorate != nil {
		settle = settleTime
	}
	quiet := drain{quiet: quietTime, until: time.Now().Add(min(leaveTime, time.Until(deadline)))}
	var ending sync.WaitGroup
	for _, l := range f.lanes {
		ending.Go(func() {
			l.endReading(quiet)
			l.close(deadline, settle)
		})
	}
	close(f.stop)
	f.tended.Wait()
	ending.Wait()
	for _, l := range slices.Backward(f.lanes) { // the last to join first: then none of the others changes its number
		_ = l.sock.Close() // all that it had to do is done
	}
	f.count.sockets.Sub(float64(len(f.lanes)))
	f.lanes = nil
}

// leaveLocked has the kernel give nothing more to the lanes. Until the last one has left, those that have not are
// given some yet, and read it.
func (f *front) leaveLocked(own func(*net.UDPAddr) bool) {
	first := f.lanes[0]
	if f.steered && first.sock.Unsteer() != nil && own(first.local) {
		_ = first.sock.Steer(0, f.owns) // before Linux 5.3 a program can be replaced, but not taken off
	}
	f.steered = false
	for _, l := range f.lanes {
		if err := l.sock.Leave(); err != nil {
			log.Warningf("%s: what comes in while a socket closes may be lost: %v", f.address, err)
		}
	}
}
