package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// streams are what the program has of the world beside etcd.
type streams struct {
	in       io.Reader
	out, err io.Writer
	env      func(name string) (string, bool)
}

// app is one run of the program.
type app struct {
	streams
	etcd   etcdFlags
	prefix string
	output string
	began  bool // the command line was understood
}

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, s streams) int {
	a := &app{streams: s}
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := codeOf(err, a.began)
	if text := err.Error(); text != "" {
		fmt.Fprintf(s.err, "skyctl: %s\n", text)
	}
	if code == exitUsage {
		fmt.Fprintln(s.err, "See skyctl --help, or skyctl COMMAND --help.")
	}
	return code
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "skyctl",
		Short: "Records that are kept in etcd, in the form of SkyDNS",
		Long: `skyctl puts, lists, deletes, watches, imports, exports and checks DNS records that are kept in etcd in the form of
SkyDNS, as Trident's etcd plugin serves them. It takes etcd's address and credentials as etcdctl does, from flags and
from ETCDCTL_ variables of the environment.`,
		Version:       version,
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.etcd.fromEnv(cmd, a.env); err != nil {
				return err
			}
			if value, ok := a.env("SKYCTL_PREFIX"); ok && !cmd.Flags().Changed("prefix") && !cmd.Flags().Changed("path") {
				a.prefix = value
			}
			if a.output != "table" && a.output != "json" && a.output != "zone" {
				return usagef("-o %s: it is table, json or zone", a.output)
			}
			a.began = true
			return nil
		},
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return withCode(exitUsage, err) })
	flags := root.PersistentFlags()
	a.etcd.add(flags)
	flags.StringVar(&a.prefix, "prefix", "/skydns", "what all keys begin with (SKYCTL_PREFIX)")
	flags.StringVar(&a.prefix, "path", "/skydns", "the same, by its name in the Corefile")
	flags.StringVarP(&a.output, "output", "o", "table", "how to print records: table, json (a key a line) or zone (zone file lines)")
	root.AddCommand(
		a.putCommand(), a.getCommand(), a.lsCommand(), a.rmCommand(), a.watchCommand(),
		a.importCommand(), a.exportCommand(),
		a.lintCommand(), a.stubCommand(), a.corefileCommand(),
	)
	completeWith(root, "output", "table", "json", "zone")
	return root
}

// keys is the prefix as the server takes it.
func (a *app) keys() skydns.Prefix { return skydns.ParsePrefix(a.prefix) }

// open connects to etcd.
func (a *app) open(ctx context.Context) (*store.Client, error) {
	cfg, err := a.etcd.config(a.in)
	if err != nil {
		return nil, err
	}
	return store.Open(ctx, cfg)
}

// notef tells people something that is no part of the output.
func (a *app) notef(format string, args ...any) {
	fmt.Fprintf(a.err, "skyctl: "+format+"\n", args...)
}

// readFile reads a file that was named on the command line, "-" for standard input.
func (a *app) readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(a.in)
	}
	return os.ReadFile(name)
}

// args checks the number of arguments; most is -1 for any.
func args(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if len(given) < least || most >= 0 && len(given) > most {
			return usagef("%s wants %s, not %d arguments", strings.TrimPrefix(cmd.CommandPath(), "skyctl "), what, len(given))
		}
		return nil
	}
}

// completeWith tells the shell which values a flag takes.
func completeWith(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // there is no such flag
	}
}
