package dnstest

import (
	"errors"
	"net"
	"testing"
	"time"
)

func TestBlackHoleNeitherAcceptsNorRefuses(t *testing.T) {
	_, err := net.DialTimeout("tcp", BlackHoleTCP(t).String(), 200*time.Millisecond)
	var netErr net.Error
	if !errors.As(err, &netErr) || !netErr.Timeout() {
		t.Errorf("got %v, want a time-out", err)
	}
}
