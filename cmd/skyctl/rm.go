package main

import (
	"context"
	"slices"
	"strings"

	"github.com/miekg/dns"
	"github.com/spf13/cobra"

	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

func (a *app) rmCommand() *cobra.Command {
	var recursive, ptr, dryRun bool
	var key bool
	cmd := &cobra.Command{
		Use:     "rm NAME [TYPE [DATA...]]",
		Aliases: []string{"del", "delete"},
		Short:   "Delete the records of a name",
		Long: `Delete the records that belong to a name, those of a type, or those with the given data. A key that holds records of
several types goes as a whole.`,
		Example: `  skyctl rm www.example.org
  skyctl rm www.example.org A 10.0.0.1
  skyctl rm -r old.example.org
  skyctl rm --key /skydns/org/example/Broken`,
		Args: args(1, -1, "NAME [TYPE [DATA...]]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			want, err := typeArg(args[1:min(len(args), 2)])
			if err != nil {
				return err
			}
			if len(args) > 1 && (recursive || key) {
				return usagef("-r and --key take no TYPE")
			}
			return a.change(cmd, dryRun, func(ctx context.Context, client *store.Client) ([]store.Change, error) {
				var gone []record.Key
				switch {
				case key:
					gone, err = a.oneKey(ctx, client, args[0])
				case recursive:
					gone, err = a.below(ctx, client, args[0])
				default:
					if gone, err = a.below(ctx, client, args[0]); err == nil {
						gone = ownedBy(args[0], gone, want)
					}
				}
				if err != nil {
					return nil, err
				}
				if len(args) > 2 {
					gone = withData(gone, want, args[2:])
				}
				if len(gone) == 0 {
					return nil, notFound(args)
				}
				changes := deletions(gone)
				if ptr {
					back, err := a.reverse(ctx, client, gone, nil)
					if err != nil {
						return nil, err
					}
					changes = append(changes, back...)
				}
				return changes, nil
			})
		},
		ValidArgsFunction: a.completeNames,
	}
	cmd.Flags().BoolVarP(&recursive, "recursive", "r", false, "all that is at and below the name")
	cmd.Flags().BoolVar(&key, "key", false, "NAME is a key of etcd, for what is not the key of any name")
	cmd.Flags().BoolVar(&ptr, "ptr", false, "also the PTR records that lead from the addresses back to the name")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change, and write nothing")
	return cmd
}

func (a *app) oneKey(ctx context.Context, client *store.Client, key string) ([]record.Key, error) {
	entries, _, err := client.List(ctx, key)
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e store.Entry) bool { return e.Key != key })
	return record.ReadAll(a.keys(), entries), nil
}

func deletions(keys []record.Key) []store.Change {
	changes := make([]store.Change, len(keys))
	for i := range keys {
		changes[i] = store.Change{Old: &keys[i].Entry}
	}
	return changes
}

// withData returns the keys that have a record of the type with one of the data.
func withData(keys []record.Key, want uint16, data []string) []record.Key {
	var out []record.Key
	for _, k := range keys {
		for _, rr := range k.RRs() {
			if rr.Header().Rrtype == want && isOneOf(rr, data) {
				out = append(out, k)
				break
			}
		}
	}
	return out
}

// isOneOf compares data as people write them: a record a word, or all words one record.
func isOneOf(rr dns.RR, data []string) bool {
	have := record.RData(rr)
	for _, d := range append(slices.Clone(data), strings.Join(data, " ")) {
		if wanted, err := parseData(rr.Header().Name, rr.Header().Rrtype, d); err == nil && record.RData(wanted) == have {
			return true
		}
	}
	return false
}
