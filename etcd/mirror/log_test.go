package mirror

import (
	"bytes"
	"context"
	"errors"
	golog "log"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// A zone is copied as two ranges: its own key, and what lies below. An outage of etcd is one event all the same.
func TestChangesOfStateAreLoggedOnce(t *testing.T) {
	var out bytes.Buffer
	old := golog.Writer()
	golog.SetOutput(&out)
	defer golog.SetOutput(old)
	m := &Mirror{cfg: Config{Timing: testTiming()}, ctx: context.Background()}
	feeds := []*Feed{newFeed(m, Prefix("/s/"), nil, Position{}, 0), newFeed(m, Single("/s"), nil, Position{}, 0)}
	away, refused := errors.New("connection refused"), rpctypes.ErrPermissionDenied
	for _, tt := range []struct {
		fresh bool
		err   error
		lines int // of both feeds
	}{
		{false, away, 1},
		{false, away, 0},
		{true, nil, 1},
		{false, away, 1},
		{true, nil, 1},
		{true, refused, 2}, // rights are given for each range
		{true, nil, 2},
		{true, nil, 0},
	} {
		out.Reset()
		for _, f := range feeds {
			f.contact = time.Time{}
			if tt.fresh {
				f.at.Revision, f.contact = 1, time.Now()
			}
			f.report(tt.err)
			f.logState(tt.err)
		}
		if got := strings.Count(out.String(), "\n"); got != tt.lines {
			t.Errorf("fresh %t, %v: want %d lines, got\n%s", tt.fresh, tt.err, tt.lines, out.String())
		}
		for _, f := range feeds {
			f.cancel()
		}
	}
}
