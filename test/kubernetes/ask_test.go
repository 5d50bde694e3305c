package kubernetes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// question is a name and type, and the answer that it must get: rdata in any order, or the name of an rcode.
type question struct {
	name  string
	qtype uint16
	want  []string
	at    string // address of the server, 127.0.0.1 by default
}

// ask returns the rdata of the answer, sorted; without any, the rcode.
func ask(server, name string, qtype uint16) ([]string, error) {
	m := new(dns.Msg)
	m.SetQuestion(dns.Fqdn(name), qtype)
	c := &dns.Client{Timeout: 5 * time.Second}
	r, _, err := c.Exchange(m, server+":53")
	if err != nil {
		return nil, err
	}
	var got []string
	for _, rr := range r.Answer {
		if rr.Header().Rrtype == qtype {
			got = append(got, strings.TrimPrefix(rr.String(), rr.Header().String()))
		}
	}
	if got == nil {
		got = []string{dns.RcodeToString[r.Rcode]}
	}
	slices.Sort(got)
	return got, nil
}

func (q question) right() error {
	got, err := ask(cmp.Or(q.at, "127.0.0.1"), q.name, q.qtype)
	if err != nil {
		return err
	}
	if want := slices.Sorted(slices.Values(q.want)); !slices.Equal(got, want) {
		return fmt.Errorf("%s %s: %q, want %q", q.name, dns.TypeToString[q.qtype], got, want)
	}
	return nil
}

// become waits until all have their answers.
func become(t *testing.T, questions ...question) {
	t.Helper()
	for _, q := range questions {
		eventually(t, "asking", q.right)
	}
}

// stay asks all again and again for as long as d, and every answer must be right.
func stay(t *testing.T, d time.Duration, questions []question) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); <-time.After(200 * time.Millisecond) {
		for _, q := range questions {
			if err := q.right(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
