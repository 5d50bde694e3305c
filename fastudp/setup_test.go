package fastudp

import (
	"strings"
	"testing"

	"github.com/coredns/caddy"
)

func TestProperties(t *testing.T) {
	for _, tt := range []struct {
		input, wantErr string
		want           int
	}{
		{"fastudp", "", defaultLimit()},
		{"fastudp {\n}", "", defaultLimit()},
		{"fastudp {\n max_concurrent 5000\n}", "", 5000},
		{"fastudp x", "no arguments", 0},
		{"fastudp\nfastudp", "once", 0},
		{"fastudp {\n sockets 4\n}", "unknown property \"sockets\": max_concurrent is accepted", 0},
		{"fastudp {\n max_concurrent\n}", "one number, not 0", 0},
		{"fastudp {\n max_concurrent 1 2\n}", "one number, not 2", 0},
		{"fastudp {\n max_concurrent 0\n}", "from 1 to", 0},
		{"fastudp {\n max_concurrent many\n}", "\"many\": a number from 1 to", 0},
		{"fastudp {\n max_concurrent 99999999999\n}", "from 1 to", 0},
	} {
		got, err := parseBlock(caddy.NewTestController("dns", tt.input))
		switch {
		case tt.wantErr == "" && err != nil:
			t.Errorf("%q: %v", tt.input, err)
		case tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)):
			t.Errorf("%q: error %v, want %q in it", tt.input, err, tt.wantErr)
		case got != tt.want:
			t.Errorf("%q: max_concurrent %d, want %d", tt.input, got, tt.want)
		}
	}
}

func TestTheBoundFollowsMemory(t *testing.T) {
	for _, tt := range []struct {
		memory int64
		want   int
	}{
		{0, leastLimit},
		{64 << 20, leastLimit},
		{170 << 20, 1813}, // the limit of the usual cluster DNS pod
		{1 << 30, 10922},
		{1 << 62, mostLimit},
	} {
		if got := limitFor(tt.memory); got != tt.want {
			t.Errorf("%d bytes: %d questions, want %d", tt.memory, got, tt.want)
		}
	}
}
