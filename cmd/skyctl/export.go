package main

import (
	"bufio"

	"github.com/spf13/cobra"
)

func (a *app) exportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "export [NAME...]",
		Short: "Write the records at and below names to standard output, all without one",
		Long: `Write what is kept at and below names, all without one, as JSON lines: a key, its value to the byte, and the TTL of its
lease, a line each. import reads them and gives back the same. -o zone writes zone file lines instead, which have no
room for groups, stub zones and values that cannot be served.`,
		Example: `  skyctl export > backup.json
  skyctl export example.org -o zone > example.org.zone`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("output") {
				a.output = "json"
			}
			client, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer client.Close()
			keys, err := a.below(cmd.Context(), client, args...)
			if err != nil {
				return err
			}
			out := bufio.NewWriterSize(a.out, 1<<16)
			a.out = out
			if err := a.print(keys); err != nil {
				return err
			}
			a.notef("%d keys", len(keys))
			return out.Flush()
		},
		ValidArgsFunction: a.completeNames,
	}
}
