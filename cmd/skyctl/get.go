package main

import (
	"fmt"
	"strings"

	"github.com/miekg/dns"
	"github.com/spf13/cobra"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
)

func (a *app) getCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "get NAME [TYPE]",
		Short: "Show the records that belong to a name",
		Long: `Show the records that belong to a name: those at its key, and those below whose targetstrip says so. What the server
answers in mode skydns may be more: also all that is below, which ls shows.`,
		Args: args(1, 2, "NAME [TYPE]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			want, err := typeArg(args[1:])
			if err != nil {
				return err
			}
			client, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer client.Close()
			keys, err := a.below(cmd.Context(), client, args[0])
			if err != nil {
				return err
			}
			if keys = ownedBy(args[0], keys, want); len(keys) == 0 {
				return notFound(args)
			}
			return a.print(keys)
		},
		ValidArgsFunction: a.completeNames,
	}
}

// typeArg reads the type of a record, dns.TypeNone when there is no argument.
func typeArg(args []string) (uint16, error) {
	if len(args) == 0 {
		return dns.TypeNone, nil
	}
	t, err := skydns.ParseType(args[0])
	if err != nil {
		return 0, withCode(exitUsage, err)
	}
	return t, nil
}

// ownedBy returns the keys whose records belong to a name, and that have one of the type. Keys that cannot be served
// belong to the name of their key.
func ownedBy(arg string, keys []record.Key, want uint16) []record.Key {
	name, err := record.NameArg(arg)
	if err != nil {
		return nil
	}
	path := skydns.PathOf(name)
	var out []record.Key
	for _, k := range keys {
		if k.Owner == path && k.Role != record.Stub && hasType(k, want) {
			out = append(out, k)
		}
	}
	return out
}

func hasType(k record.Key, want uint16) bool {
	if want == dns.TypeNone {
		return true
	}
	for _, rr := range k.RRs() {
		if rr.Header().Rrtype == want {
			return true
		}
	}
	return false
}

func notFound(args []string) error {
	return withCode(exitNotFound, fmt.Errorf("there is no record for %s", strings.Join(args, " ")))
}
