package fastudp

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trident-dns/trident/fastudp/internal/mmsg"
)

// batchOf makes datagrams as a reader hands them over.
func batchOf(n int) []*mmsg.Datagram {
	batch := make([]*mmsg.Datagram, n)
	for i := range batch {
		batch[i] = new(mmsg.Datagram)
	}
	return batch
}

func TestCrewAnswersAllAndLeavesNobodyBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answered atomic.Int64
		c := newCrew(func(*mmsg.Datagram) { answered.Add(1) })
		c.setLimit(1000)
		for n := range 100 {
			if refused := c.put(batchOf(n % 33)); refused != 0 {
				t.Fatalf("%d refused below the limit", refused)
			}
			synctest.Wait()
		}
		if !c.close(time.Now().Add(time.Second)) {
			t.Error("the crew did not finish")
		}
		if want := int64(33*32/2*3 + 0); answered.Load() != want {
			t.Errorf("%d answered, want %d", answered.Load(), want)
		}
	})
}

// One worker is enough for questions that do not block, and one for each that does.
func TestCrewHasAsManyWorkersAsQuestionsBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		c := newCrew(func(*mmsg.Datagram) { <-gate })
		c.setLimit(100)
		if refused := c.put(batchOf(130)); refused != 30 {
			t.Errorf("%d of 130 refused, the limit is 100", refused)
		}
		synctest.Wait()
		if c.busy != 100 || len(c.idle) > 1 {
			t.Errorf("%d busy and %d idle, want every question with a worker", c.busy, len(c.idle))
		}
		if refused := c.put(batchOf(1)); refused != 1 {
			t.Error("a question was taken beyond the limit")
		}
		close(gate)
		synctest.Wait()
		if c.busy != 0 || c.put(batchOf(1)) != 0 {
			t.Errorf("%d busy after all are answered", c.busy)
		}
		c.close(time.Now().Add(time.Second))
	})
}

func TestCrewSendsAwayOnlyWhoWasIdleThroughout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gate chan struct{}
		c := newCrew(func(*mmsg.Datagram) { <-gate })
		c.setLimit(100)
		burst := func(n int) {
			gate = make(chan struct{})
			c.put(batchOf(n))
			synctest.Wait()
			close(gate)
			synctest.Wait()
		}
		burst(50)
		all := c.workers
		c.trim()
		synctest.Wait()
		if c.workers != all {
			t.Errorf("%d of %d workers left, all were in use since the last trim", all-c.workers, all)
		}
		burst(10)
		c.trim()
		synctest.Wait()
		if c.workers < 10 || c.workers > 11 {
			t.Errorf("%d workers left after a period with 10 in use", c.workers)
		}
		c.trim()
		c.trim()
		synctest.Wait()
		if c.workers != keepIdle {
			t.Errorf("%d workers left after a quiet period, want %d", c.workers, keepIdle)
		}
		burst(5)
		c.close(time.Now().Add(time.Second))
	})
}

func TestCrewThatIsClosedFinishesWhatItHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answered atomic.Int64
		c := newCrew(func(*mmsg.Datagram) { time.Sleep(time.Second); answered.Add(1) })
		c.setLimit(10)
		c.put(batchOf(10))
		if c.close(time.Now().Add(time.Second / 2)) {
			t.Error("finished before the questions were answered")
		}
		if c.put(batchOf(2)) != 2 {
			t.Error("a closed crew took a question")
		}
		<-c.gone
		if answered.Load() != 10 {
			t.Errorf("%d of 10 answered", answered.Load())
		}
	})
}

// Whoever reads rests while others have too much to do: what is read later is answered sooner.
func TestTheReaderRestsWhileTooManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := make(chan struct{})
		c := newCrew(func(*mmsg.Datagram) { <-turn })
		c.setLimit(10 * maxWaiting)
		c.mu.Lock()
		c.onWay = true // nobody is called: the processor is busy
		c.mu.Unlock()
		rested := make(chan struct{})
		go func() {
			c.put(batchOf(maxWaiting))
			close(rested)
		}()
		synctest.Wait()
		select {
		case <-rested:
			t.Fatal("more is read although too many wait")
		default:
		}
		c.mu.Lock()
		c.onWay = false
		c.callLocked()
		c.mu.Unlock()
		<-rested
		close(turn)
		if !c.close(time.Now().Add(time.Second)) {
			t.Error("the crew did not finish")
		}
	})
}
