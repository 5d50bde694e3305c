package skydns

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// Value is the JSON value of a key. The zero value of a field is left out of the JSON and means its default.
type Value struct {
	// Host is an address, which answers A or AAAA, or a name, which answers CNAME. Either answers SRV.
	Host string `json:"host,omitempty"`
	// Port of a SRV answer.
	Port uint16 `json:"port,omitempty"`
	// Priority of a SRV answer and preference of an MX answer. 0: the server's default, 10.
	Priority uint16 `json:"priority,omitempty"`
	// Weight is relative to those of the other records of the same priority in an answer. 0: 100.
	Weight uint16 `json:"weight,omitempty"`
	// Text answers TXT, cut into strings of 255 bytes. It stands for itself: a backslash is a backslash.
	Text string `json:"text,omitempty"`
	// Mail makes the record answer MX as well.
	Mail bool `json:"mail,omitempty"`
	// TTL in seconds, at most MaxTTL. 0: the server's default.
	TTL uint32 `json:"ttl,omitempty"`
	// TargetStrip is how many labels to drop from the left of the key's name where that name is used as a target.
	TargetStrip uint8 `json:"targetstrip,omitempty"`
	// Group keeps records apart: with a group at the shortest key only that group answers.
	Group string `json:"group,omitempty"`
	// Type and RData hold a record of any other type in presentation form, as in "CAA" and `0 issue "ca.example"`.
	// Names in it are absolute, with or without the last dot.
	Type  string `json:"type,omitempty"`
	RData string `json:"rdata,omitempty"`
}

// MaxTTL is the longest TTL of RFC 2181, section 8.
const MaxTTL = math.MaxInt32

// form is Value as people write it.
type form struct {
	Host        string `json:"host"`
	Port        number `json:"port"`
	Priority    number `json:"priority"`
	Weight      number `json:"weight"`
	Text        string `json:"text"`
	Mail        flag   `json:"mail"`
	TTL         number `json:"ttl"`
	TargetStrip number `json:"targetstrip"`
	Group       string `json:"group"`
	Type        string `json:"type"`
	RData       string `json:"rdata"`
}

// Decode reads a value. It is lenient where what was meant is plain: numbers and booleans in quotes, field names in any
// case, unknown fields, and what mend knows. Its errors wrap ReasonJSON or ReasonNumber.
func Decode(data []byte) (Value, error) {
	f, plain := decodePlain(data)
	if !plain {
		f = form{}
		if err := json.Unmarshal(data, &f); err != nil {
			fixed := mend(data)
			if f = (form{}); fixed == nil || json.Unmarshal(fixed, &f) != nil {
				return Value{}, fmt.Errorf("%w: %w", ReasonJSON, err)
			}
		}
	}
	v := Value{
		Host: f.Host, Text: f.Text, Group: f.Group, Mail: bool(f.Mail), Type: f.Type, RData: f.RData,
		// More labels than a name can have strip as much as 255 do, and fewer than none strip none.
		TargetStrip: uint8(min(max(f.TargetStrip, 0), math.MaxUint8)),
	}
	for _, n := range []struct {
		field string
		from  number
		to    *uint16
	}{
		{"port", f.Port, &v.Port}, {"priority", f.Priority, &v.Priority}, {"weight", f.Weight, &v.Weight},
	} {
		if n.from < 0 || n.from > math.MaxUint16 {
			return Value{}, fmt.Errorf("%w: %s %d is not between 0 and %d", ReasonNumber, n.field, n.from, math.MaxUint16)
		}
		*n.to = uint16(n.from)
	}
	if f.TTL < 0 || f.TTL > MaxTTL {
		return Value{}, fmt.Errorf("%w: ttl %d is not between 0 and %d", ReasonNumber, f.TTL, MaxTTL)
	}
	v.TTL = uint32(f.TTL)
	return v, nil
}

// number is a JSON number without a fraction, or a string that holds one.
type number int64

func (n *number) UnmarshalJSON(data []byte) error {
	s := strings.TrimSpace(string(bytes.Trim(data, `"`)))
	if s == "" || s == "null" {
		return nil
	}
	i, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || f != math.Trunc(f) {
			return fmt.Errorf("%s is not a whole number", data)
		}
		// Whatever does not fit is outside the range of every field.
		i = int64(min(max(f, math.MinInt32), math.MaxUint32))
	}
	*n = number(i)
	return nil
}

// flag is a JSON boolean, or a string that holds one.
type flag bool

func (b *flag) UnmarshalJSON(data []byte) error {
	switch s := strings.ToLower(string(bytes.Trim(data, `"`))); s {
	case "true", "1":
		*b = true
	case "false", "0", "", "null":
		*b = false
	default:
		return fmt.Errorf("%s is neither true nor false", data)
	}
	return nil
}

// Value returns a value that parses to r again.
func (r *Record) Value() Value {
	v := Value{
		Host: r.Target(), Port: r.port, Priority: r.priority, Weight: r.weight, Text: r.Text(), Mail: r.mail,
		TTL: r.ttl, TargetStrip: r.strip, Group: r.Group(),
	}
	if r.kind == IPv4 || r.kind == IPv6 {
		v.Host = r.Addr().String()
	}
	if rr := r.RR(); rr != nil {
		v.Type = dns.Type(rr.Header().Rrtype).String()
		v.RData = r.more.rdata
	}
	return v
}
