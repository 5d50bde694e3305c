package skydns

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What SkyDNS, external-dns, registrators and people with etcdctl have written over the years, and what is made of it.
func TestOldValuesAreReadAsTheyWereMeant(t *testing.T) {
	for _, tt := range []struct {
		value string
		want  string // of the record; "" when it cannot be served
		odd   []string
	}{
		{`{"host":"10.0.0.1","port":8080}`, `{"host":"10.0.0.1","port":8080}`, nil},
		{"{\"host\":\"10.0.0.1\"}\n", `{"host":"10.0.0.1"}`, nil},
		{`{"Host":"10.0.0.1","TTL":60,"targetStrip":1}`, `{"host":"10.0.0.1","ttl":60,"targetstrip":1}`, nil},
		{`{"host":"10.0.0.1","port":"80","mail":"true"}`, `{"host":"10.0.0.1","port":80,"mail":true}`, []string{`"mail"`, `"port"`}},
		{`{"host":"10.0.0.1","key":"/skydns/x","id":7,"prioritiy":1}`, `{"host":"10.0.0.1"}`, []string{`"id" is unknown`, `"key"`, `"prioritiy"`}},
		{`{"host":"10.0.0.1","text":null}`, `{"host":"10.0.0.1"}`, nil},
		{`{"host":"10.0.0.1","Host":"10.0.0.2"}`, `{"host":"10.0.0.2"}`, []string{"as well"}},
		{"\xef\xbb\xbf" + `{"host":"10.0.0.1"}`, `{"host":"10.0.0.1"}`, []string{"not just a JSON object"}},
		{`{"host":"10.0.0.1"}` + "\x00", `{"host":"10.0.0.1"}`, []string{"not just a JSON object"}},
		{`"{\"host\":\"10.0.0.1\"}"`, `{"host":"10.0.0.1"}`, []string{"not just a JSON object"}},
		{`[{"host":"10.0.0.1"}]`, `{"host":"10.0.0.1"}`, []string{"not just a JSON object"}},
		{`{"text":123}`, `{"text":"123"}`, []string{`the value of "text"`}},
		{`{"text":["v=spf1 ","-all"]}`, `{"text":"v=spf1 -all"}`, []string{`the list of "text"`}},
		{`{"host":["10.0.0.1"],"group":1}`, `{"host":"10.0.0.1","group":"1"}`, []string{`"group"`, `the list of "host"`}},
		{`{"host":" 10.0.0.1 "}`, `{"host":"10.0.0.1"}`, []string{"white space"}},
		{`{"host":"[2001:db8::1]"}`, `{"host":"2001:db8::1"}`, nil},
		{`{"host":"10.0.0.1:80"}`, `{"host":"10.0.0.1:80."}`, []string{"no name that a host could have"}},
		{`{"host":"http://x.example"}`, `{"host":"http://x.example."}`, []string{"no name that a host could have"}},
		{`{"host":["10.0.0.1","10.0.0.2"]}`, "", nil},
		{`[{"host":"10.0.0.1"},{"host":"10.0.0.2"}]`, "", nil},
		{`"10.0.0.1"`, "", nil},
		{`10.0.0.1`, "", nil},
		{`{"host":"10.0.0.1"}{"host":"10.0.0.2"}`, "", nil},
		{`{"host":{"ip":"10.0.0.1"}}`, "", nil},
		{`{"host":10}`, "", nil},
		{`{"text":["a",1]}`, "", nil},
		{"", "", nil},
		{`{"host":"10.0.0.1","port":"http"}`, "", nil},
	} {
		got := ""
		r, err := Parse([]byte(tt.value), 0)
		if err == nil {
			got = asJSON(r.Value())
		} else if !slices.Contains(Reasons, ReasonOf(err)) {
			t.Errorf("%s: %v is no reason", tt.value, err)
		}
		if got != tt.want {
			t.Errorf("%s: %s (%v), want %s", tt.value, got, err, tt.want)
		}
		odd := Oddities([]byte(tt.value))
		if len(odd) != len(tt.odd) {
			t.Errorf("%s: %q, want %d oddities", tt.value, odd, len(tt.odd))
			continue
		}
		for i := range odd {
			if !strings.Contains(odd[i], tt.odd[i]) {
				t.Errorf("%s: %q, want %q in it", tt.value, odd[i], tt.odd[i])
			}
		}
	}
}

func asJSON(v Value) string {
	data, _ := json.Marshal(v) // of strings and numbers
	return string(data)
}

func FuzzOdditiesOfAnyValue(f *testing.F) {
	for _, s := range []string{`{"host":"10.0.0.1"}`, `[{}]`, `"{}"`, `{"text":["a"]}`, `{"port":"1","PORT":2}`, "\xef\xbb\xbf{}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		odd := Oddities([]byte(s))
		if _, err := Decode([]byte(s)); err != nil && odd != nil {
			t.Errorf("%q is odd (%s) but cannot be read: %v", s, fmt.Sprint(odd), err)
		}
	})
}
