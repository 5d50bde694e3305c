package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

func (a *app) watchCommand() *cobra.Command {
	var revision int64
	var count int
	cmd := &cobra.Command{
		Use:   "watch [NAME]",
		Short: "Show changes of the records at and below a name as they happen",
		Long: `Show changes as they happen, until interrupted: "+" before a record that comes, "-" before one that goes. With -o json
an object a change: op, key, name, value, old, revision.`,
		Args: args(0, 1, "at most one NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			prefix := string(a.keys()) + "/"
			if len(args) > 0 {
				name, err := record.NameArg(args[0])
				if err != nil {
					return err
				}
				prefix = a.keys().Key(name)
			}
			client, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer client.Close()
			var failed error
			seen := 0
			err = client.Watch(cmd.Context(), prefix, revision, func() { a.notef("watching %s", prefix) }, func(c store.Change) bool {
				if !isWithin(prefix, c.Key()) {
					return true
				}
				failed = a.printChange(c)
				seen++
				return failed == nil && (count == 0 || seen < count)
			})
			if err == nil {
				err = failed
			}
			return err
		},
		ValidArgsFunction: a.completeNames,
	}
	cmd.Flags().Int64Var(&revision, "rev", 0, "begin with this revision of etcd; 0 for now")
	cmd.Flags().IntVarP(&count, "count", "n", 0, "end after so many changes; 0 for never")
	return cmd
}

func (a *app) printChange(c store.Change) error {
	if a.output == "json" {
		e := event{Op: "put", Key: c.Key()}
		if path, err := a.keys().Path(c.Key()); err == nil {
			e.Name = skydns.NameOf(path)
		}
		if c.Old != nil {
			e.Old = c.Old.Value
		}
		if c.New == nil {
			e.Op = "delete"
		} else {
			e.Value, e.Rev = c.New.Value, c.New.Revision
		}
		return e.write(a.out)
	}
	for _, side := range []struct {
		sign  string
		entry *store.Entry
	}{{"-", c.Old}, {"+", c.New}} {
		if side.entry == nil {
			continue
		}
		for _, row := range rows(record.Read(a.keys(), *side.entry)) {
			if _, err := fmt.Fprintf(a.out, "%s %s\n", side.sign, strings.ReplaceAll(row, "\t", " ")); err != nil {
				return err
			}
		}
	}
	return nil
}
