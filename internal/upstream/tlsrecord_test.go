package upstream

import (
	"crypto/tls"
	"encoding/binary"
	"net"
	"testing"

	"github.com/trident-dns/trident/internal/dnstest"
)

// countingConn counts the writes of the client's side.
type countingConn struct {
	net.Conn
	writes int
}

func (c *countingConn) Write(p []byte) (int, error) {
	c.writes++
	return c.Conn.Write(p)
}

func TestEachQuestionHasATLSRecordAndABatchOneSystemCall(t *testing.T) {
	ca := dnstest.NewCA(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	counted := &countingConn{Conn: near}
	config := ca.Client()
	config.ServerName = "dns.example"
	client := newSecureConn(counted, config)

	const messages = 20
	serverConfig := ca.Server(t, "dns.example")
	sizes := make(chan []int)
	go func() {
		server := tls.Server(far, serverConfig)
		var got []int
		for buf := make([]byte, 1<<16); len(got) < messages; {
			n, err := server.Read(buf) // never more than what is left of one record
			if err != nil {
				break
			}
			got = append(got, n)
		}
		sizes <- got
	}()
	if err := client.Handshake(); err != nil {
		t.Fatal(err)
	}
	var batch []byte
	for i := range messages {
		batch = binary.BigEndian.AppendUint16(batch, uint16(12+i))
		batch = append(batch, make([]byte, 12+i)...)
	}
	before := counted.writes
	if n, err := client.Write(batch); n != len(batch) || err != nil {
		t.Fatalf("wrote %d of %d bytes: %v", n, len(batch), err)
	}
	for i, n := range <-sizes {
		if n != 2+12+i {
			t.Errorf("record %d holds %d bytes, want message %d alone", i, n, i)
		}
	}
	if writes := counted.writes - before; writes != 1 {
		t.Errorf("%d system calls for a batch, want 1", writes)
	}
}
