package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
	"github.com/spf13/cobra"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/plan"
	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// putFlags are those of put.
type putFlags struct {
	ttl, lease              time.Duration
	add, typed, ptr, dryRun bool
	zones                   []string
}

func (a *app) putCommand() *cobra.Command {
	var f putFlags
	cmd := &cobra.Command{
		Use:   "put NAME TYPE DATA...",
		Short: "Set the records of a name and type",
		Long: `Set the records of a name and type: those of that type that the name had are replaced, or kept with --add. Each of
A, AAAA, CNAME, PTR, NS and TXT takes one record a DATA; the DATA of any other type are one record together, unless each
is quoted. TYPE JSON takes the value of the name's key as SkyDNS has it. NAME may be an address, for PTR.`,
		Example: `  skyctl put www.example.org A 10.0.0.1 10.0.0.2 --ptr
  skyctl put docs.example.org CNAME pages.example.net
  skyctl put _sip._tcp.example.org SRV 10 100 5060 sip.example.org
  skyctl put example.org MX "10 mx1.example.net" "20 mx2.example.net" --zone example.org
  skyctl put example.org CAA 0 issue '"ca.example"' --zone example.org
  skyctl put 10.0.0.1 PTR www.example.org
  skyctl put a.db.example.org JSON '{"host":"10.0.0.2","port":5432}' --lease 60s`,
		Args: args(3, -1, "NAME TYPE DATA..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.EqualFold(args[1], "JSON") {
				return a.putJSON(cmd, f, args[0], args[2:])
			}
			wants, err := f.wants(args)
			if err != nil {
				return err
			}
			return a.change(cmd, f.dryRun, func(ctx context.Context, client *store.Client) ([]store.Change, error) {
				return a.planPut(ctx, client, f, args[0], wants)
			})
		},
		ValidArgsFunction: a.completeNames,
	}
	flags := cmd.Flags()
	flags.DurationVar(&f.ttl, "ttl", 0, "TTL of the records, whole seconds; 0 for the server's default")
	flags.DurationVar(&f.lease, "lease", 0, "let the records vanish after this time, whole seconds; 0 for never")
	flags.BoolVar(&f.add, "add", false, "keep the other records of the type")
	flags.BoolVar(&f.typed, "typed", false, "write SRV and MX by type and rdata, exactly, instead of SkyDNS's host and port")
	flags.BoolVar(&f.ptr, "ptr", false, "keep the PTR records of A and AAAA in step")
	flags.StringSliceVar(&f.zones, "zone", nil, "the zone, for records of its own name")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would change, and write nothing")
	return cmd
}

// wants reads the records of the command line.
func (f *putFlags) wants(args []string) ([]plan.Want, error) {
	name, err := record.NameArg(args[0])
	if err != nil {
		return nil, err
	}
	rrtype, err := skydns.ParseType(args[1])
	if err != nil {
		return nil, err
	}
	ttl, lease, err := f.seconds()
	if err != nil {
		return nil, err
	}
	var wants []plan.Want
	for _, data := range splitData(rrtype, args[2:]) {
		rr, err := parseData(name, rrtype, data)
		if err != nil {
			return nil, err
		}
		wants = append(wants, plan.Want{RR: rr, TTL: ttl, Lease: lease, Origin: data})
	}
	return wants, nil
}

func (f *putFlags) seconds() (ttl uint32, lease int64, err error) {
	if f.ttl < 0 || f.ttl%time.Second != 0 || f.ttl > skydns.MaxTTL*time.Second {
		return 0, 0, usagef("--ttl %v: whole seconds, up to %d", f.ttl, skydns.MaxTTL)
	}
	if f.lease < 0 || f.lease%time.Second != 0 {
		return 0, 0, usagef("--lease %v: whole seconds", f.lease)
	}
	return uint32(f.ttl / time.Second), int64(f.lease / time.Second), nil
}

// planPut is what changes in etcd.
func (a *app) planPut(ctx context.Context, client *store.Client, f putFlags, arg string, wants []plan.Want) ([]store.Change, error) {
	have, err := a.below(ctx, client, arg)
	if err != nil {
		return nil, err
	}
	arranger := plan.Arranger{Prefix: a.keys(), Have: have, Service: !f.typed, Zones: map[string]bool{}}
	for _, z := range f.zones {
		name, err := record.NameArg(z)
		if err != nil {
			return nil, err
		}
		arranger.Zones[skydns.PathOf(name)] = true
	}
	entries, refused := arranger.Arrange(wants)
	if len(refused) > 0 {
		return nil, fmt.Errorf("%s: %w", refused[0].Want.Origin, refused[0].Err)
	}
	rrtype := wants[0].RR.Header().Rrtype
	var gone []record.Key
	changes, _ := plan.Diff(entriesOf(have), entries, func(e store.Entry) bool {
		k := record.Read(a.keys(), e)
		if f.add || len(ownedBy(arg, []record.Key{k}, rrtype)) == 0 || !only(k, rrtype) {
			return false
		}
		gone = append(gone, k)
		return true
	})
	if f.ptr {
		back, err := a.reverse(ctx, client, gone, wants)
		if err != nil {
			return nil, err
		}
		changes = append(changes, back...)
	}
	return changes, nil
}

// only tells whether all records of a key are of one type.
func only(k record.Key, rrtype uint16) bool {
	return !slices.ContainsFunc(k.RRs(), func(rr dns.RR) bool { return rr.Header().Rrtype != rrtype })
}

// putJSON writes the value of a name's own key.
func (a *app) putJSON(cmd *cobra.Command, f putFlags, arg string, data []string) error {
	name, err := record.NameArg(arg)
	switch {
	case err != nil:
		return err
	case len(data) != 1:
		return usagef("put NAME JSON wants one value in one argument")
	case f.ptr || f.add || f.ttl != 0 || f.typed:
		return usagef("put NAME JSON takes --lease and --dry-run only")
	}
	_, lease, err := f.seconds()
	if err != nil {
		return err
	}
	if _, err := skydns.Parse([]byte(data[0]), 0); err != nil {
		return err
	}
	want := store.Entry{Key: a.keys().Key(name), Value: data[0], TTL: lease}
	return a.change(cmd, f.dryRun, func(ctx context.Context, client *store.Client) ([]store.Change, error) {
		have, err := a.oneKey(ctx, client, want.Key)
		if err != nil {
			return nil, err
		}
		changes, _ := plan.Diff(entriesOf(have), []store.Entry{want}, plan.Nothing)
		return changes, nil
	})
}
