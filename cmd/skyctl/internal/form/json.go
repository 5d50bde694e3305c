package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// line is a key in JSON, one a line. What one of them says, reading it gives back to the byte: a value that is no plain
// JSON object is a string, and what is no text is in base64.
type line struct {
	Key       string          `json:"key,omitempty"`
	KeyBase64 []byte          `json:"key_base64,omitempty"`
	Name      string          `json:"name,omitempty"` // instead of a key, by people
	Value     json.RawMessage `json:"value,omitempty"`
	Base64    *[]byte         `json:"value_base64,omitempty"`
	Lease     int64           `json:"lease,omitempty"` // its TTL in seconds
}

// WriteJSON writes keys as JSON lines.
func WriteJSON(w io.Writer, entries []store.Entry) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, e := range entries {
		if err := enc.Encode(lineOf(e)); err != nil {
			return err
		}
	}
	return nil
}

func lineOf(e store.Entry) line {
	l := line{Key: e.Key, Lease: e.TTL}
	if !utf8.ValidString(e.Key) {
		l.Key, l.KeyBase64 = "", []byte(e.Key)
	}
	var compact bytes.Buffer
	value := []byte(e.Value)
	switch {
	case !utf8.Valid(value):
		l.Base64 = &value
	case len(value) > 0 && value[0] == '{' && json.Compact(&compact, value) == nil && bytes.Equal(compact.Bytes(), value):
		l.Value = value
	default:
		l.Value, _ = json.Marshal(e.Value) // of a string that is text, which cannot fail
	}
	return l
}

// readJSON reads JSON lines; an object may also take several lines.
func readJSON(file string, text []byte, o Options) (Input, error) {
	var in Input
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	for {
		var l line
		err := dec.Decode(&l)
		if errors.Is(err, io.EOF) {
			return in, nil
		}
		var e store.Entry
		if err == nil {
			e, err = l.entry(o)
		}
		if err != nil {
			return in, fmt.Errorf("%w: %s, line %d: %w", ErrSyntax, file, lineAt(text, dec.InputOffset()), err)
		}
		in.Entries = append(in.Entries, e)
	}
}

// lineAt is the number of the line that a byte is in, white space before it skipped.
func lineAt(text []byte, offset int64) int {
	before := text[:min(int(offset), len(text))]
	rest := text[len(before):]
	n := len(rest) - len(bytes.TrimLeft(rest, " \t\r\n"))
	if len(before) > 0 && before[len(before)-1] == '}' {
		n = 0 // it is the object that ends here
	}
	return 1 + bytes.Count(text[:len(before)+n], []byte("\n"))
}

func (l line) entry(o Options) (store.Entry, error) {
	e := store.Entry{Key: l.Key, TTL: l.Lease}
	switch {
	case l.Lease < 0:
		return e, fmt.Errorf("lease %d is less than 0", l.Lease)
	case l.KeyBase64 != nil:
		e.Key = string(l.KeyBase64)
	case l.Key == "" && l.Name != "":
		name, err := skydns.CheckName(l.Name)
		if err != nil {
			return e, err
		}
		e.Key = o.Key(name)
	case l.Key == "":
		return e, fmt.Errorf(`neither "key" nor "name"`)
	}
	switch {
	case l.Base64 != nil:
		e.Value = string(*l.Base64)
	case len(l.Value) == 0:
		return e, fmt.Errorf(`no "value"`)
	case l.Value[0] == '"':
		return e, json.Unmarshal(l.Value, &e.Value)
	default:
		var b bytes.Buffer
		if err := json.Compact(&b, l.Value); err != nil {
			return e, err
		}
		e.Value = b.String()
	}
	return e, nil
}
