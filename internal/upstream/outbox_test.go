package upstream

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// contents returns the questions of a batch.
func contents(b batch) (questions []string) {
	for i, p := range b.postings {
		questions = append(questions, string(b.wire[startOf(b.postings, i):p.end]))
	}
	return questions
}

func TestQuestionsAskedTogetherAreTakenTogether(t *testing.T) {
	b := newOutbox()
	s := new(udpSocket)
	want := []string{"a", "bb", "", "ccc"}
	for i, q := range want {
		if waiting := b.post(s, []byte(q)); waiting != i+1 {
			t.Errorf("%d wait, want %d", waiting, i+1)
		}
	}
	taken := b.take(batch{})
	if got := contents(taken); !slices.Equal(got, want) {
		t.Errorf("took %q, want %q", got, want)
	}
	b.post(s, []byte("dddd"))
	if got := contents(b.take(taken)); !slices.Equal(got, []string{"dddd"}) {
		t.Errorf("took %q from the box that was emptied before", got)
	}
}

func TestAPostedQuestionIsACopy(t *testing.T) {
	b := newOutbox()
	query := []byte("mine")
	b.post(new(udpSocket), query)
	copy(query, "this")
	if got := contents(b.take(batch{})); got[0] != "mine" {
		t.Errorf("the question became %q when its asker used the buffer again", got[0])
	}
}

func TestAFullOutboxLeavesSendingToTheAsker(t *testing.T) {
	b := newOutbox()
	for range maxPosted {
		if b.post(new(udpSocket), []byte("q")) == 0 {
			t.Fatal("turned away before it was full")
		}
	}
	if b.post(new(udpSocket), []byte("q")) != 0 {
		t.Errorf("took more than %d questions", maxPosted)
	}
}

func TestAClosedOutboxHandsOutWhatItHasAndNoMore(t *testing.T) {
	b := newOutbox()
	b.post(new(udpSocket), []byte("q"))
	b.close()
	if b.post(new(udpSocket), []byte("late")) != 0 {
		t.Error("took a question after it was closed")
	}
	taken := b.take(batch{})
	if got := contents(taken); !slices.Equal(got, []string{"q"}) {
		t.Errorf("took %q", got)
	}
	if got := b.take(taken); len(got.postings) != 0 {
		t.Errorf("took %q from a closed box that was empty", contents(got))
	}
}

func TestNoPostedQuestionIsLostBetweenAskersAndSender(t *testing.T) {
	b := newOutbox()
	const askers, each = 8, 100
	var asking, sending sync.WaitGroup
	seen := make(map[string]int)
	sending.Go(func() {
		var taken batch
		for {
			if taken = b.take(taken); len(taken.postings) == 0 {
				return
			}
			for _, q := range contents(taken) {
				seen[q]++
			}
		}
	})
	for a := range askers {
		asking.Go(func() {
			for i := range each {
				b.post(new(udpSocket), fmt.Appendf(nil, "%d.%d", a, i))
			}
		})
	}
	asking.Wait()
	b.close()
	sending.Wait()
	if len(seen) != askers*each {
		t.Errorf("%d different questions were taken, want %d", len(seen), askers*each)
	}
	for q, n := range seen {
		if n != 1 {
			t.Errorf("%s was taken %d times", q, n)
		}
	}
}

func TestASenderSendsEachQuestionAsItsOwnDatagram(t *testing.T) {
	peer, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	conn, err := net.DialUDP("udp", nil, peer.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	b := newOutbox()
	want := [][]byte{[]byte("first"), bytes.Repeat([]byte{'x'}, 1200), []byte("third")}
	for _, q := range want {
		b.post(new(udpSocket), q)
	}
	taken := b.take(batch{})
	var out sender
	for _, part := range [][2]int{{0, 1}, {1, 3}} { // in two calls: what begins within the batch must begin right
		if err := out.send(conn, taken.wire, taken.postings[part[0]:part[1]], startOf(taken.postings, part[0])); err != nil {
			t.Fatal(err)
		}
	}
	buf := make([]byte, 4096)
	if err := peer.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for i, q := range want {
		n, err := peer.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(buf[:n], q) {
			t.Errorf("datagram %d is %q, want %q", i, buf[:n], q)
		}
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.send(conn, taken.wire, taken.postings[:1], 0); err != nil {
		t.Errorf("sending from a socket that was closed meanwhile: %v", err)
	}
}
