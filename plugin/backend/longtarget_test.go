package backend

import (
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// A name made of a long question and of what lies below a wildcard may have more than the 255 octets of RFC 1035, section
// 2.3.4. Such a reply could not be packed, and the records beside it would be lost with it.
func TestTargetsTooLongAreLeftOut(t *testing.T) {
	m := newMemory(t, []string{"zone.test."}, `
		/skydns/test/zone/*/`+strings.Repeat("x", 63)+` {"host":"10.0.0.1","port":80,"mail":true}
		/skydns/test/zone/*/y {"host":"10.0.0.2","port":80,"mail":true}`)
	// One octet more than there may be, and just as many.
	most := strings.Repeat(strings.Repeat("c", 49)+".", 3)
	most1, most0 := most+strings.Repeat("d", 30)+".zone.test. ", most+strings.Repeat("d", 29)+".zone.test. "
	label := strings.Repeat("a", 62)
	long := label + "." + label + "." + label + ".zone.test. "
	for _, tt := range []struct {
		question      string
		answer, extra int
	}{
		{long + "SRV", 1, 1},
		{long + "MX", 1, 1},
		{long + "A", 2, 0},
		{most1 + "SRV", 1, 1},
		{most0 + "SRV", 2, 2},
		{"b.zone.test. SRV", 2, 2},
		{"b.zone.test. MX", 2, 2},
	} {
		res := ask(t, m, Defaults(), tt.question, nil) // packs the reply
		if res.Rcode != dns.RcodeSuccess || len(res.Answer) != tt.answer || len(res.Extra) != tt.extra {
			t.Errorf("%s: want %d records and %d of glue, got %s", tt.question, tt.answer, tt.extra, show(res))
		}
	}
}
