package hosts

import (
	"time"

	"github.com/coredns/coredns/plugin/pkg/fall"
)

// What a block does unless the Corefile says otherwise.
const (
	defaultFile       = "/etc/hosts"
	defaultTTL        = 3600 // seconds
	defaultReload     = 5 * time.Second
	defaultURLRefresh = time.Hour
)

// config is what one hosts block of a Corefile says.
type config struct {
	file    string   // the FILE argument; empty for none
	origins []string // normalized
	inline  []string // hosts lines
	files   []string // patterns
	urls    []string

	blockLists []string // patterns and URLs
	allowLists []string // patterns and URLs

	ttl             uint32 // seconds
	reverse         bool
	reload          time.Duration // 0 for never
	urlRefresh      time.Duration
	cacheDir        string // empty for none
	fallthroughs    fall.F
	fallUnsupported bool
	deepWildcards   bool
	nxdomain        bool
	reply           blockReply
}

func newConfig() config {
	return config{ttl: defaultTTL, reverse: true, reload: defaultReload, urlRefresh: defaultURLRefresh}
}
