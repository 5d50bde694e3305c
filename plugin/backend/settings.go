package backend

import (
	"context"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"
)

// Mode is which records a name has.
type Mode uint8

// The modes; see the package comment.
const (
	SkyDNS Mode = iota
	Exact
)

// The bounds of one question.
const (
	// MaxRecords of one walk: this many fill the 65,535 bytes that a message can have.
	MaxRecords = maxSize / minRecord
	// MaxSteps are the records that one walk may look at to find them, about half a millisecond.
	MaxSteps = 4 * MaxRecords
	// MaxTotalSteps are the steps of all walks of one question, its targets' among them. A search counts as one, also when
	// it finds nothing.
	MaxTotalSteps = 4 * MaxSteps
	// MaxChain is how many CNAME records one answer follows. In-tree CoreDNS and SkyDNS stop at about the same.
	MaxChain = 10
	// MaxMerged is how many targets one answer follows at names that have several.
	MaxMerged = 128
	// MaxOutside is how many names are looked up outside for the targets of one answer.
	MaxOutside = 16
)

// maxSize is the largest message, and minRecord the least that a record takes of it, with its name compressed and an
// address of four bytes: RFC 1035, sections 4.1.3 and 4.1.4.
const (
	maxSize   = 65535
	minRecord = 16
)

// SOA is what the SOA record of a zone says beside its serial.
type SOA struct {
	// MName and RName: "" means ns.dns and hostmaster below the zone.
	MName, RName           string
	Refresh, Retry, Expire uint32
}

// Settings of a Resolver. They do not change once it is used.
type Settings struct {
	Mode           Mode
	NoApexFallback bool   // address questions for an apex are answered from dns/apex only
	TTL            uint32 // of records without one
	NegativeTTL    uint32 // MINIMUM of the SOA record
	Priority       uint16 // of records without one
	SOA            SOA
	// RecordTTL, when it is not nil, replaces the TTL of a record that hangs on a lease. ttl is its own or the default.
	RecordTTL func(r *skydns.Record, ttl uint32, own bool) uint32
}

// Defaults are the settings of SkyDNS as CoreDNS has them.
func Defaults() Settings {
	return Settings{
		TTL: 300, NegativeTTL: 30, Priority: 10,
		SOA: SOA{Refresh: 7200, Retry: 1800, Expire: 86400},
	}
}

// Question is what is asked for.
type Question struct {
	Name string // as the client wrote it, fully qualified
	Type uint16
	// At, if it is not empty, is another name, whose records answer as those of Name.
	At string
	// Size is how many bytes the client can take. A walk ends when its records are more than that, and the reply is then
	// marked as truncated. 0: 65,535.
	Size int
	// MaxTTL caps the TTL of all that is answered from the store. 0: it does not.
	MaxTTL uint32
	// Steps are those of the client's question, for one that comes back here on the way of another's names. nil: those of
	// this question alone.
	Steps *Steps
	// Outside answers for names that no zone here holds. It may be called from several goroutines at once, must end when
	// ctx does, and may be nil: such names are then left to the client.
	Outside func(ctx context.Context, name string, qtype uint16) (*dns.Msg, error)
}

// Result is the reply to a question.
type Result struct {
	Rcode             int
	Answer, Ns, Extra []dns.RR
	// Authoritative is false for a referral.
	Authoritative bool
	// Truncated: there are more records than the client can take, or what came from outside was truncated.
	Truncated bool
	// Missing: there is no key that the question could have been about, whether its name exists or not. Questions like
	// that are what `fallthrough` is for.
	Missing bool
	// Cut: a walk ended before its end, at MaxRecords, MaxSteps or MaxTotalSteps, or targets were not looked up at MaxOutside.
	Cut bool
}

// Resolver answers questions. It may be used by any number of goroutines.
type Resolver struct{ Settings }
