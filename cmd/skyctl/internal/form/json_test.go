package form

import (
	"bytes"
	"errors"
	"testing"

	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// Whatever a key and its value are, reading what was written gives them back to the byte.
func FuzzJSONLinesGiveBackWhatTheySay(f *testing.F) {
	for _, v := range []string{
		`{"host":"10.0.0.1"}`, ` {"host": "10.0.0.1"} `, `{"text":"<&>\u2028"}`, `[1]`, `"a"`, `1`, `null`, "", "{", "\xff", "\x00",
		`{"a":1}{"b":2}`, `{"a":"` + "\xff" + `"}`,
	} {
		f.Add("/skydns/org/example/www", v, int64(0))
	}
	f.Add("/skydns/\xff", "{}", int64(60))
	f.Fuzz(func(t *testing.T, key, value string, ttl int64) {
		if key == "" || ttl < 0 {
			return
		}
		want := []store.Entry{{Key: key, Value: value, TTL: ttl}, {Key: key + "2", Value: value}}
		var b bytes.Buffer
		if err := WriteJSON(&b, want); err != nil {
			t.Fatal(err)
		}
		in, err := Read(JSON, "file", b.Bytes(), Options{})
		if err != nil {
			t.Fatalf("%v\n%s", err, b.Bytes())
		}
		if len(in.Entries) != 2 || in.Entries[0] != want[0] || in.Entries[1] != want[1] {
			t.Errorf("%+v\nwas read as %+v\nfrom %s", want, in.Entries, b.Bytes())
		}
	})
}

func FuzzTextsOfAllForms(f *testing.F) {
	for _, s := range []string{
		"10.0.0.1 a.b\n", "$ORIGIN a.\n@ 1 SOA a b 1 2 3 4 5\nb 1 A 10.0.0.1\n", `{"name":"a.b","value":{}}`,
		`{"node":{"dir":true,"nodes":[{"key":"/skydns/a","value":"{}","ttl":3}]}}`, `{"errorCode":1}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, form := range Forms {
			in, err := Read(form, "file", []byte(s), Options{Key: func(name string) string { return "/" + name }})
			if err != nil && !errors.Is(err, ErrSyntax) {
				t.Errorf("%s: %v is not ErrSyntax", form, err)
			}
			for _, e := range in.Entries {
				if e.TTL < 0 {
					t.Errorf("%s: %q lives for %d seconds", form, e.Key, e.TTL)
				}
			}
		}
	})
}
