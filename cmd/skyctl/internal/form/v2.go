package form

import (
	"encoding/json"
	"fmt"

	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// reply is what an etcd of version 2 answers to GET /v2/keys/skydns?recursive=true.
type reply struct {
	Node  *node  `json:"node"`
	Code  int    `json:"errorCode"`
	Why   string `json:"message"`
	Cause string `json:"cause"`
}

type node struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Dir   bool   `json:"dir"`
	TTL   int64  `json:"ttl"`
	Nodes []node `json:"nodes"`
}

func isV2(text []byte) bool {
	var r reply
	return json.Unmarshal(text, &r) == nil && (r.Node != nil || r.Code != 0)
}

// readV2 reads such an answer. A key lives as long as it would have, or as a directory above it, if that ends sooner.
func readV2(file string, text []byte) (Input, error) {
	var in Input
	var r reply
	if err := json.Unmarshal(text, &r); err != nil {
		return in, fmt.Errorf("%w: %s: %w", ErrSyntax, file, err)
	}
	switch {
	case r.Code != 0:
		return in, fmt.Errorf("%w: %s: it is an error of etcd: %s (%s)", ErrSyntax, file, r.Why, r.Cause)
	case r.Node == nil:
		return in, fmt.Errorf(`%w: %s: there is no "node"; it should be what /v2/keys/skydns?recursive=true answers`, ErrSyntax, file)
	}
	in.Folds = true
	in.take(*r.Node, 0)
	return in, nil
}

func (in *Input) take(n node, ttl int64) {
	if n.TTL > 0 && (ttl == 0 || n.TTL < ttl) {
		ttl = n.TTL
	}
	if !n.Dir {
		in.Entries = append(in.Entries, store.Entry{Key: n.Key, Value: n.Value, TTL: ttl})
		return
	}
	for _, child := range n.Nodes {
		in.take(child, ttl)
	}
}
