package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/miekg/dns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/form"
	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// print writes keys in the form that -o asks for.
func (a *app) print(keys []record.Key) error {
	switch a.output {
	case "json":
		return form.WriteJSON(a.out, entriesOf(keys))
	case "zone":
		return form.WriteZone(a.out, keys)
	}
	return a.table(keys)
}

func entriesOf(keys []record.Key) []store.Entry {
	entries := make([]store.Entry, len(keys))
	for i, k := range keys {
		entries[i] = k.Entry
	}
	return entries
}

// table writes a line a record, and one for a key that has none.
func (a *app) table(keys []record.Key) error {
	w := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tTTL\tTYPE\tDATA\tKEY")
	for _, k := range keys {
		for _, row := range rows(k) {
			fmt.Fprintf(w, "%s\t%s\n", row, printable(k.Key)+leaseNote(k))
		}
	}
	return w.Flush()
}

func leaseNote(k record.Key) string {
	if k.Lease == 0 {
		return ""
	}
	return fmt.Sprintf(" (lease %ds)", k.TTL)
}

// rows are the first four columns of a key, tab between them.
func rows(k record.Key) []string {
	switch {
	case k.Err != nil:
		return []string{fmt.Sprintf("-\t-\t-\tnot served: %s", printable(k.Err.Error()))}
	case k.Role == record.Stub:
		return []string{fmt.Sprintf("%s\t-\tstub\t%s", skydns.NameOf(k.Owner), stubServer(k))}
	}
	var lines []string
	for _, rr := range k.RRs() {
		lines = append(lines, strings.Join(columns(k, rr), "\t"))
	}
	if len(lines) == 0 {
		lines = append(lines, fmt.Sprintf("%s\t-\t-\tno record", skydns.NameOf(k.Owner)))
	}
	return lines
}

// columns are those of a record. The TTL is what the key says, not the default that the server may have otherwise.
func columns(k record.Key, rr dns.RR) []string {
	ttl := "-"
	if k.Record.TTL() > 0 || k.TTL > 0 {
		ttl = fmt.Sprint(rr.Header().Ttl)
	}
	return []string{rr.Header().Name, ttl, dns.Type(rr.Header().Rrtype).String(), record.RData(rr)}
}

// printable keeps bytes that a terminal obeys out of the output.
func printable(s string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return '?'
		}
		return r
	}, s)
	return clean
}

// diff writes what changes, up to most lines; -1 for all.
func diff(w io.Writer, changes []store.Change, most int) {
	for i, c := range changes {
		if i == most {
			fmt.Fprintf(w, "... and %d more\n", len(changes)-i)
			return
		}
		switch {
		case c.New == nil:
			fmt.Fprintf(w, "- %s %s\n", printable(c.Key()), printable(c.Old.Value))
		case c.Old == nil:
			fmt.Fprintf(w, "+ %s %s%s\n", printable(c.Key()), printable(c.New.Value), ttlNote(c.New))
		default:
			fmt.Fprintf(w, "- %s %s%s\n", printable(c.Key()), printable(c.Old.Value), ttlNote(c.Old))
			fmt.Fprintf(w, "+ %s %s%s\n", printable(c.Key()), printable(c.New.Value), ttlNote(c.New))
		}
	}
}

func ttlNote(e *store.Entry) string {
	if e.TTL == 0 {
		return ""
	}
	return fmt.Sprintf(" (lease %ds)", e.TTL)
}

// event is a change as JSON, for watch.
type event struct {
	Op    string `json:"op"` // "put" or "delete"
	Key   string `json:"key"`
	Name  string `json:"name,omitempty"`
	Value string `json:"value,omitempty"`
	Old   string `json:"old,omitempty"`
	Rev   int64  `json:"revision,omitempty"`
}

func (e event) write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(e)
}
