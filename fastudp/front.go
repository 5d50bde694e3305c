package fastudp

import (
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trident-dns/trident/fastudp/internal/mmsg"
)

const (
	// maxLanes bounds the sockets of an address. Each brings in several hundred thousand questions a second, so more
	// would only make batches shorter.
	maxLanes = 16

	// grace is how long questions in progress may take when their tenure ends. CoreDNS gives its own as long.
	grace = 5 * time.Second

	// takeOverTime is how long the tenure of an old configuration waits for the new one to come into force. It does as
	// soon as its goroutine first runs.
	takeOverTime = 2 * time.Second

	// trimPeriod is how long a worker is idle before it leaves.
	trimPeriod = 10 * time.Second
)

// front keeps the sockets of one address. It outlives configurations: at a reload the sockets stay where they are and
// only the tenure in force changes, so that no datagram is ever in a socket that nobody reads.
type front struct {
	address string // of the listener: dns://, host and port
	bind    string // host and port to open sockets on: those of address, but for port 0
	count   *counters
	current atomic.Pointer[tenure] // the one in force; not nil while there are lanes

	mu      sync.Mutex
	lanes   []*lane // none while CoreDNS's own listener serves
	owns    int     // CoreDNS's own sockets on the address when the lanes were opened
	steered bool    // the kernel gives every datagram to a lane, or as we say
	stop    chan struct{}
	tended  sync.WaitGroup
}

func newFront(address, bind string) *front {
	return &front{address: address, bind: bind, count: newCounters(address)}
}

// take brings t into force, with the lanes that there are or with new ones.
func (f *front) take(t *tenure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.lanes) == 0 {
		f.openLocked(t)
		return
	}
	f.setLimitsLocked(t)
	f.current.Store(t)
	if owns := listeners(t.conf.inst, f.lanes[0].local); f.steered && owns < f.owns {
		// Those that CoreDNS closes are replaced by our last ones, and nobody knows any more which is which.
		f.steered = f.lanes[0].sock.Unsteer() != nil
		log.Warningf("%s: multisocket opens fewer sockets than before: until a restart CoreDNS's own listener "+
			"serves a part of the questions", f.address)
	}
}

func lanesWanted() int { return min(runtime.GOMAXPROCS(0), maxLanes) }

// openLocked opens lanes with t in force, as many as the kernel grants: from when it is open a socket gets questions, so
// none is closed again. Without any CoreDNS's own listener goes on alone.
func (f *front) openLocked(t *tenure) {
	for i := range lanesWanted() {
		sock, err := mmsg.Listen(f.bind)
		if err != nil {
			log.Warningf("%s: opening socket %d of %d: %v", f.address, i+1, lanesWanted(), err)
			break
		}
		f.lanes = append(f.lanes, newLane(f, i, sock))
	}
	if len(f.lanes) == 0 {
		log.Warningf("%s: CoreDNS's own listener serves", f.address)
		return
	}
	f.current.Store(t)
	f.setLimitsLocked(t)
	for _, l := range f.lanes {
		l.start()
	}
	f.count.sockets.Add(float64(len(f.lanes)))
	f.steerLocked(t)
	f.stop = make(chan struct{})
	f.tended.Go(func() { tend(f.lanes, f.stop) })
}

// steerLocked has the kernel give all datagrams to the lanes, if nobody but this process listens on the address.
// Otherwise the kernel spreads them over all its sockets, and the own ones of CoreDNS, which go on reading, get some.
func (f *front) steerLocked(t *tenure) {
	local, sock := f.lanes[0].local, f.lanes[0].sock
	f.owns = listeners(t.conf.inst, local)
	total, err := mmsg.Sharing(local)
	switch {
	case err != nil:
		log.Warningf("%s: CoreDNS's own listener serves a part of the questions: listing sockets: %v", f.address, err)
	case total != f.owns+len(f.lanes):
		_ = sock.Unsteer() // a program of another process knows nothing of our sockets. Kernels before 5.3 cannot
		log.Warningf("%s: CoreDNS's own listener serves a part of the questions: %d sockets of others listen on "+
			"the same address", f.address, total-f.owns-len(f.lanes))
	default:
		if err := sock.Steer(f.owns, len(f.lanes)); err != nil {
			log.Warningf("%s: CoreDNS's own listener serves a part of the questions: steering: %v", f.address, err)
			return
		}
		f.steered = true
		log.Infof("%s: served with %d sockets", f.address, len(f.lanes))
	}
}

// setLimitsLocked spreads the bound on questions in progress over the lanes.
func (f *front) setLimitsLocked(t *tenure) {
	for _, l := range f.lanes {
		l.crew.setLimit((t.limit + len(f.lanes) - 1) / len(f.lanes))
	}
}

// tend sends idle workers of the lanes away until stop is closed.
func tend(lanes []*lane, stop <-chan struct{}) {
	tick := time.NewTicker(trimPeriod)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			for _, l := range lanes {
				l.crew.trim()
			}
		case <-stop:
			return
		}
	}
}

// Close is called when no configuration holds the front any more. By then its last tenure has ended, unless a program
// has thrown the configuration away without running its shutdown callbacks.
func (f *front) Close() error {
	f.retire(time.Now(), func(*net.UDPAddr) bool { return false })
	return nil
}
