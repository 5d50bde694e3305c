package fastudp

import (
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/trident-dns/trident/fastudp/internal/mmsg"

	"github.com/miekg/dns"
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
	address string
	count   *counters
	current atomic.Pointer[tenure] // the one in force; not nil while there are lanes

	mu      sync.Mutex
	tenures []*tenure // of the configurations that are, or may yet be, in force; the newest last
	lanes   []*lane   // none while CoreDNS's own listener serves
	owns    int       // CoreDNS's own sockets on the address when the lanes were opened
	steered bool      // the kernel gives every datagram to a lane, or as we say
	stop    chan struct{}
	tended  sync.WaitGroup
}

func newFront(address string) *front {
	return &front{address: address, count: newCounters(address)}
}

// announce makes a tenure known that is to come into force. Those of configurations that alive no longer knows are
// forgotten: their reload has failed.
func (f *front) announce(t *tenure, alive func(*configuration) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tenures = slices.DeleteFunc(f.tenures, func(o *tenure) bool { return !alive(o.conf) && o != f.current.Load() })
	f.tenures = append(f.tenures, t)
}

// take brings t into force for the listener srv, which starts to serve: with the lanes that there are, or with new
// ones.
func (f *front) take(t *tenure, srv *dnsserver.Server, decorate dns.DecorateWriter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t.ended || t.server != nil {
		return // ended before it began, or the second server of the same address
	}
	defer close(t.settled)
	if len(f.lanes) == 0 {
		t.prepare(srv, decorate, lanesWanted())
		f.openLocked(t)
		return
	}
	t.prepare(srv, decorate, len(f.lanes))
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

// openLocked opens lanes with t in force. On failure CoreDNS's own listener goes on alone.
func (f *front) openLocked(t *tenure) {
	bind, err := t.bindAddress()
	if err != nil {
		log.Warningf("%s: CoreDNS's own listener serves: %v", f.address, err)
		return
	}
	for i := range len(t.active) {
		sock, err := mmsg.Listen(bind)
		if err != nil {
			log.Warningf("%s: CoreDNS's own listener serves: opening socket %d: %v", f.address, i+1, err)
			for _, l := range f.lanes {
				_ = l.sock.Close() // the error above tells more
			}
			f.lanes = nil
			return
		}
		f.lanes = append(f.lanes, newLane(f, i, sock))
	}
	f.current.Store(t)
	f.setLimitsLocked(t)
	for _, l := range f.lanes {
		l.start()
	}
	f.count.sockets.Set(float64(len(f.lanes)))
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

// end ends a tenure: it waits until that of the next configuration has taken over and t's questions are answered, or,
// when none does, closes the sockets. own says whether CoreDNS still listens on the address by itself.
func (f *front) end(t *tenure, deadline time.Time, alive func(*configuration) bool, own func(*net.UDPAddr) bool) {
	f.mu.Lock()
	t.ended = true
	var heir *tenure
	for _, o := range f.tenures {
		if o != t && !o.ended && alive(o.conf) {
			heir = o
		}
	}
	f.tenures = slices.DeleteFunc(f.tenures, func(o *tenure) bool { return o == t })
	f.mu.Unlock()

	if heir != nil {
		timer := time.NewTimer(takeOverTime)
		defer timer.Stop()
		select {
		case <-heir.settled:
		case <-timer.C:
		}
	}
	if f.current.Load() == t {
		f.retire(deadline, own)
	} else {
		t.waitIdle(deadline)
	}
}

// Close is called when no configuration holds the front any more. By then its last tenure has ended, unless a program
// has thrown the configuration away without running its shutdown callbacks.
func (f *front) Close() error {
	f.retire(time.Now(), func(*net.UDPAddr) bool { return false })
	return nil
}
