package skydns

import "errors"

// Reason is why a key or its value cannot be used. The set is closed: every error of this package wraps one of these.
type Reason string

// The reasons. Their text is fit for the label of a metric.
const (
	ReasonName   Reason = "name"   // the key is no name: a label too long or empty, or the name too long
	ReasonJSON   Reason = "json"   // the value is no JSON object, or a field has the wrong type
	ReasonNumber Reason = "number" // a number is outside the range of its field
	ReasonHost   Reason = "host"   // host is neither an address nor a name
	ReasonText   Reason = "text"   // text does not fit into a message
	ReasonType   Reason = "type"   // type is unknown, or cannot be kept as a record
	ReasonRData  Reason = "rdata"  // rdata is not the presentation form of its type
)

// Reasons lists them all.
var Reasons = []Reason{ReasonName, ReasonJSON, ReasonNumber, ReasonHost, ReasonText, ReasonType, ReasonRData}

func (r Reason) Error() string { return "bad " + string(r) }

// ReasonOf returns the reason that err, an error of this package, wraps.
func ReasonOf(err error) Reason {
	var r Reason
	errors.As(err, &r)
	return r
}
