package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/trident-dns/trident/cmd/skyctl/internal/lint"
	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
)

func (a *app) lintCommand() *cobra.Command {
	var zones []string
	var strict bool
	cmd := &cobra.Command{
		Use:   "lint [NAME...]",
		Short: "Find what the server refuses, and what is odd",
		Long:  lintHelp(),
		RunE: func(cmd *cobra.Command, args []string) error {
			var names []string
			for _, z := range zones {
				name, err := record.NameArg(z)
				if err != nil {
					return usagef("--zone: %w", err)
				}
				names = append(names, name)
			}
			client, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer client.Close()
			// All of it is read: whether a target exists is not to be seen from a part.
			keys, err := a.below(cmd.Context(), client)
			if err != nil {
				return err
			}
			found := lint.Check(a.keys(), keys, names)
			if len(args) > 0 {
				if found, err = a.findingsBelow(found, args); err != nil {
					return err
				}
			}
			return a.report(found, len(keys), strict)
		},
		ValidArgsFunction: a.completeNames,
	}
	cmd.Flags().StringSliceVar(&zones, "zone", nil, "the zones that are kept, for targets in them; default: told from the keys")
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with an error for warnings, too")
	return cmd
}

func lintHelp() string {
	var b strings.Builder
	b.WriteString("Look at all records, and tell of those at and below the names, all without one. The rules:\n\n")
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for _, r := range lint.Rules {
		fmt.Fprintf(w, "  %s\t%s\n", r[0], r[1])
	}
	w.Flush()
	return b.String()
}

// findingsBelow returns those about keys at and below names.
func (a *app) findingsBelow(found []lint.Finding, args []string) ([]lint.Finding, error) {
	var out []lint.Finding
	for _, arg := range args {
		name, err := record.NameArg(arg)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if isWithin(a.keys().Key(name), strings.ToLower(f.Key)) {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

// report writes the findings, and is an error when there are any that count.
func (a *app) report(found []lint.Finding, keys int, strict bool) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	errors, warnings := 0, 0
	for _, f := range found {
		if f.Level == lint.Error {
			errors++
		} else {
			warnings++
		}
		var err error
		if a.output == "json" {
			err = enc.Encode(f)
		} else {
			_, err = fmt.Fprintf(a.out, "%s: %s: %s (%s)\n", f.Level, printable(f.Key), printable(f.Text), f.Rule)
		}
		if err != nil {
			return err
		}
	}
	a.notef("%d keys: %d errors, %d warnings", keys, errors, warnings)
	if errors > 0 || strict && warnings > 0 {
		return coded{errFindings, exitFindings}
	}
	return nil
}
