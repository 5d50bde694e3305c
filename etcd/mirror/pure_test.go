package mirror

import (
	"crypto/tls"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

func TestPrefixEndsBeforeTheNextKey(t *testing.T) {
	for _, tt := range []struct {
		prefix, start, end string
	}{
		{"/skydns/", "/skydns/", "/skydns0"},
		{"", "\x00", noEnd},
		{"\xff", "\xff", noEnd},
		{"a\xff\xff", "a\xff\xff", "b"},
	} {
		if got := Prefix(tt.prefix); got != (Range{tt.start, tt.end}) {
			t.Errorf("%q: %q", tt.prefix, got)
		}
	}
	r := Prefix("a\xff")
	for key, want := range map[string]bool{"a\xff": true, "a\xffz": true, "b": false, "a\xfe": false} {
		if r.Contains(key) != want {
			t.Errorf("contains %q: %v", key, !want)
		}
	}
}

func TestMergedRangesShareNoKeyAndLoseNone(t *testing.T) {
	a, ab, b, key := Prefix("/a/"), Prefix("/a/b/"), Prefix("/b/"), Single("/a")
	for _, tt := range []struct {
		in, want []Range
	}{
		{nil, nil},
		{[]Range{ab, a, a}, []Range{a}},
		{[]Range{b, key, a}, []Range{key, a, b}},
		{[]Range{Prefix(""), a, key}, []Range{Prefix("")}},
		{[]Range{{"a", "c"}, {"b", "d"}}, []Range{{"a", "d"}}},
		{[]Range{{"a", "b"}, {"b", "c"}}, []Range{{"a", "b"}, {"b", "c"}}}, // they only touch
		{[]Range{{"a", "b"}, {"a", "c"}}, []Range{{"a", "c"}}},
	} {
		if got := MergeRanges(tt.in); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.in, got, tt.want)
		}
	}
}

func TestRangeShowsAsPeopleWroteIt(t *testing.T) {
	for r, want := range map[Range]string{
		Prefix("/a/"): "/a/*", Single("/a"): "/a", {"a", "x"}: "[a, x)",
	} {
		if r.String() != want {
			t.Errorf("%q, want %q", r.String(), want)
		}
	}
}

func TestBackoffDoublesWithinBounds(t *testing.T) {
	const least, most = 100 * time.Millisecond, 10 * time.Second
	for _, tt := range []struct {
		n    int
		r    float64
		want time.Duration
	}{
		{0, 0, 50 * time.Millisecond},
		{0, 0.5, 75 * time.Millisecond},
		{1, 0, 100 * time.Millisecond},
		{6, 0, 3200 * time.Millisecond},
		{7, 0, 5 * time.Second},
		{63, 0, 5 * time.Second},
		{1 << 30, 0.999999, 10*time.Second - 5*time.Microsecond},
	} {
		if got := backoff(tt.n, least, most, tt.r); got != tt.want {
			t.Errorf("attempt %d, lot %v: %v, want %v", tt.n, tt.r, got, tt.want)
		}
	}
}

func TestStateFollowsCopyAndContact(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct {
		copy    bool
		contact time.Time
		want    State
	}{
		{false, time.Time{}, Starting},
		{false, now, Starting},
		{true, time.Time{}, Stale},
		{true, now.Add(-10 * time.Second), Fresh},
		{true, now.Add(-11 * time.Second), Stale},
		{true, now.Add(time.Second), Fresh}, // the clock was set back
	} {
		if got := stateAt(tt.copy, tt.contact, now, 10*time.Second); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

func TestHistoryIsJudgedByClusterRevisionAndTerm(t *testing.T) {
	at := Position{ClusterID: 7, RaftTerm: 4, Revision: 100}
	for _, tt := range []struct {
		name   string
		header *pb.ResponseHeader
		want   error
	}{
		{"same", &pb.ResponseHeader{ClusterId: 7, RaftTerm: 4, Revision: 109}, nil},
		{"later", &pb.ResponseHeader{ClusterId: 7, RaftTerm: 5, Revision: 200}, nil},
		{"other cluster", &pb.ResponseHeader{ClusterId: 8, RaftTerm: 5, Revision: 200}, errCluster},
		{"restored to before", &pb.ResponseHeader{ClusterId: 7, RaftTerm: 4, Revision: 108}, errRestored},
		{"restored and overtaken", &pb.ResponseHeader{ClusterId: 7, RaftTerm: 2, Revision: 900}, errRestored},
	} {
		if err := judge(at, 110, tt.header); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

func event(typ mvccpb.Event_EventType, key, value string, created, modified int64) *mvccpb.Event {
	return &mvccpb.Event{Type: typ, Kv: &mvccpb.KeyValue{
		Key: []byte(key), Value: []byte(value), CreateRevision: created, ModRevision: modified,
	}}
}

func TestBatchHoldsTheLastStateOfEachKey(t *testing.T) {
	const put, del = mvccpb.Event_PUT, mvccpb.Event_DELETE
	b := newBatch([]*mvccpb.Event{
		event(put, "updated", "1", 3, 10), event(put, "updated", "2", 3, 11),
		event(put, "new", "1", 11, 11),
		event(del, "gone", "", 0, 12),
		event(put, "flash", "1", 12, 12), event(del, "flash", "", 0, 13),
		event(del, "reborn", "", 0, 13), event(put, "reborn", "2", 14, 14),
		event(del, "twice", "", 0, 14), event(put, "twice", "1", 15, 15), event(del, "twice", "", 0, 16),
	})
	want := batch{
		revision: 16,
		growth:   -1, // new, and less gone and twice
		puts: []KV{
			{"updated", []byte("2"), 11, 0}, {"new", []byte("1"), 11, 0}, {"reborn", []byte("2"), 14, 0},
		},
		deletes: []string{"gone", "twice"},
	}
	if !reflect.DeepEqual(b, want) {
		t.Errorf("got  %+v\nwant %+v", b, want)
	}
}

func TestFragmentsAreJoined(t *testing.T) {
	s := &stream{}
	part := func(key string, more bool) *pb.WatchResponse {
		return &pb.WatchResponse{Fragment: more, Events: []*mvccpb.Event{event(mvccpb.Event_PUT, key, "", 1, 1)}}
	}
	for _, key := range []string{"a", "b"} {
		if _, whole := s.join(part(key, true)); whole {
			t.Error("whole after a fragment")
		}
	}
	if resp, whole := s.join(part("c", false)); !whole || len(resp.Events) != 3 {
		t.Errorf("after the last fragment: whole %v, %v", whole, resp)
	}
	if resp, whole := s.join(part("d", false)); !whole || len(resp.Events) != 1 {
		t.Errorf("the next response: whole %v, %v", whole, resp)
	}
}

func TestMembersJoinTheEndpointsUnlessTheyCouldLeadElsewhere(t *testing.T) {
	member := func(learner bool, urls ...string) *pb.Member { return &pb.Member{IsLearner: learner, ClientURLs: urls} }
	for _, tt := range []struct {
		name       string
		configured []string
		members    []*pb.Member
		want       []string
	}{
		{
			"new member", []string{"http://a:2379", "http://b:2379"},
			[]*pb.Member{member(false, "http://b:2379"), member(false, "http://c:2379")},
			[]string{"http://a:2379", "http://b:2379", "http://c:2379"},
		},
		{
			"loopback by mistake", []string{"http://a:2379"},
			[]*pb.Member{
				member(false, "http://localhost:2379", "http://127.0.0.1:2379"), member(false, "http://0.0.0.0:2379"),
				member(false, "http://[::]:2379", "http://[::1]:2379"),
			},
			[]string{"http://a:2379"},
		},
		{
			"loopback on purpose", []string{"localhost:2379"},
			[]*pb.Member{member(false, "http://127.0.0.1:12379")},
			[]string{"localhost:2379", "http://127.0.0.1:12379"},
		},
		{
			"other scheme and learner", []string{"https://a:2379"},
			[]*pb.Member{member(false, "http://b:2379"), member(true, "https://c:2379")},
			[]string{"https://a:2379"},
		},
		{
			"in order", []string{"http://z:1"},
			[]*pb.Member{member(false, "http://c:1"), member(false, "http://b:1")},
			[]string{"http://z:1", "http://b:1", "http://c:1"},
		},
	} {
		if got := joinEndpoints(tt.configured, tt.members); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestConfigurationIsChecked(t *testing.T) {
	login := fixedLogin("u", "p")
	for _, tt := range []struct {
		cfg  Config
		want error
	}{
		{Config{Endpoints: []string{"http://a:1", "b:1"}}, nil},
		{Config{Endpoints: []string{"https://a:1"}, Login: login}, nil},
		{Config{}, ErrNoEndpoints},
		{Config{Endpoints: []string{"http://a:1", "https://b:1"}}, ErrMixedSchemes},
		{Config{Endpoints: []string{"https://a:1", "b:1"}}, ErrMixedSchemes},
		{Config{Endpoints: []string{"http://a:1"}, TLS: noTLS}, ErrTLSWithoutHTTPS},
		{Config{Endpoints: []string{"https://a:1"}, TLS: noTLS}, nil},
	} {
		if err := tt.cfg.check(); !errors.Is(err, tt.want) {
			t.Errorf("%v: %v, want %v", tt.cfg.Endpoints, err, tt.want)
		}
	}
}

func TestKeyTellsConfigurationsApart(t *testing.T) {
	base := Config{Endpoints: []string{"a", "b"}, LoginKey: "l", TLSKey: "t"}
	same := base
	same.Timing.Call = time.Second
	if base.Key() != same.Key() {
		t.Error("timing is part of the key")
	}
	for _, other := range []Config{
		{Endpoints: []string{"a b"}, LoginKey: "l", TLSKey: "t"},
		{Endpoints: []string{"a", "b"}, LoginKey: "t", TLSKey: "l"},
		{Endpoints: []string{"a", "b"}, LoginKey: "l"},
	} {
		if base.Key() == other.Key() {
			t.Errorf("%+v has the same key", other)
		}
	}
}

// Whatever etcd answers falls into one of few kinds, and asks for a list only where nothing else helps.
func TestErrorsAreSortedIntoKinds(t *testing.T) {
	for _, tt := range []struct {
		err    error
		kind   string
		relist bool
	}{
		{nil, "", false},
		{fmt.Errorf("listing: %w", rpctypes.ErrCompacted), "compacted", true},
		{fmt.Errorf("watching: %w", errCompacted), "compacted", true},
		{errCluster, "cluster_changed", true},
		{errRestored, "restored", true},
		{errAudit, "audit", true},
		{errSilent, kindAway, false},
		{errNoQuorum, "quorum", false},
		{rpctypes.ErrNoLeader, kindAway, false},
		{rpctypes.ErrPermissionDenied, "permission", false},
		{rpctypes.ErrAuthFailed, "login", false},
		{cancelError(rpctypes.ErrGRPCPermissionDenied.Error()), "permission", false},
		{cancelError(rpctypes.ErrGRPCInvalidAuthToken.Error()), "login", false},
		{cancelError("some reason of its own"), kindAway, false},
		{cancelError(""), kindAway, false},
	} {
		if got := kind(tt.err); got != tt.kind {
			t.Errorf("%v is of kind %q, want %q", tt.err, got, tt.kind)
		}
		reason, relist := relistReason(tt.err)
		if relist != tt.relist || relist && !slices.Contains(Reasons(), reason) {
			t.Errorf("%v: list again %v because of %q", tt.err, relist, reason)
		}
	}
	if !errors.Is(cancelError(""), errCancelled) || !errors.Is(cancelError("x"), errCancelled) {
		t.Error("a cancelled watch does not say so")
	}
}

func noTLS() (*tls.Config, error) { return &tls.Config{}, nil }
