package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

func (a *app) lsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "ls [NAME]",
		Aliases: []string{"list"},
		Short:   "List the records at and below a name, all without one",
		Args:    args(0, 1, "at most one NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer client.Close()
			keys, err := a.below(cmd.Context(), client, args...)
			if err != nil {
				return err
			}
			return a.print(keys)
		},
		ValidArgsFunction: a.completeNames,
	}
}

// below reads the keys at and below names, all keys of the prefix when there are none.
func (a *app) below(ctx context.Context, client *store.Client, names ...string) ([]record.Key, error) {
	prefixes := []string{string(a.keys()) + "/"}
	if len(names) > 0 {
		prefixes = prefixes[:0]
	}
	var paths []string
	for _, arg := range names {
		name, err := record.NameArg(arg)
		if err != nil {
			return nil, err
		}
		key := a.keys().Key(name)
		paths = append(paths, skydns.PathOf(name))
		prefixes = append(prefixes, key)
	}
	entries, _, err := client.List(ctx, prefixes...)
	if err != nil {
		return nil, err
	}
	keys := record.ReadAll(a.keys(), entries)
	if len(names) == 0 {
		return keys, nil
	}
	// The prefix of www also is that of www2.
	within := keys[:0]
	for _, k := range keys {
		for _, p := range paths {
			if isWithin(string(a.keys())+"/"+p, k.Key) {
				within = append(within, k)
				break
			}
		}
	}
	return within, nil
}

// isWithin tells whether a key is the given one, or lies below it.
func isWithin(top, key string) bool {
	return len(key) >= len(top) && key[:len(top)] == top && (len(key) == len(top) || top[len(top)-1] == '/' || key[len(top)] == '/')
}
