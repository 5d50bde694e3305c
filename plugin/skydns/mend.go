package skydns

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// mend rewrites a value that is no object with fields of the right types, where what was meant is plain: with a
// byte-order mark or zero bytes around it, in a string or in a list of one, with a number where a string belongs, or with
// a list of strings as text. Programs and shells have written all of these. It returns nil where it can do nothing.
func mend(data []byte) []byte {
	v, err := decodeAny(clean(data))
	if err != nil {
		return nil
	}
	object := objectIn(v)
	if object == nil {
		return nil
	}
	for name, value := range object {
		switch strings.ToLower(name) {
		case "host", "type":
			if _, number := value.(json.Number); !number {
				object[name] = asString(value, false)
			}
		case "group", "rdata":
			object[name] = asString(value, false)
		case "text":
			object[name] = asString(value, true)
		}
	}
	fixed, err := json.Marshal(object)
	if err != nil {
		return nil
	}
	return fixed
}

// clean takes away what stands around the JSON.
func clean(data []byte) []byte {
	return bytes.Trim(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), "\x00 \t\r\n")
}

// decodeAny reads just one JSON value, numbers as they are written.
func decodeAny(data []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("more than one value")
	}
	return v, nil
}

// objectIn returns the object that v is, or that is all there is in it. nil: there is none.
func objectIn(v any) map[string]any {
	switch inner := v.(type) {
	case map[string]any:
		return inner
	case []any:
		if len(inner) == 1 {
			object, _ := inner[0].(map[string]any)
			return object
		}
	case string:
		again, err := decodeAny(clean([]byte(inner)))
		if err == nil {
			object, _ := again.(map[string]any)
			return object
		}
	}
	return nil
}

// asString returns the string that a number or a list of strings is meant to be: one string, or for text any number that
// follow each other. Other values stay as they are.
func asString(v any, many bool) any {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case []any:
		if len(v) != 1 && !many {
			return v
		}
		var b strings.Builder
		for _, part := range v {
			s, ok := part.(string)
			if !ok {
				return v
			}
			b.WriteString(s)
		}
		return b.String()
	}
	return v
}
