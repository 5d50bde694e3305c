package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/form"
	"github.com/trident-dns/trident/cmd/skyctl/internal/plan"
	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// importFlags are those of import.
type importFlags struct {
	format, origin                              string
	zones                                       []string
	ttl                                         time.Duration
	ptr, prune, dryRun, diff, skipBad, progress bool
}

func (a *app) importCommand() *cobra.Command {
	var f importFlags
	var forms []string
	for _, form := range form.Forms {
		forms = append(forms, string(form))
	}
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Write the records of zone files, hosts files, JSON lines or a dump of an etcd of version 2",
		Long: `Write the records of files, - for standard input, into etcd: zone files, hosts files, the JSON lines that export
writes, or what an etcd of version 2 answers for /v2/keys/skydns?recursive=true. What is there already is not written
again; what changes is shown first. When the server would refuse a record nothing at all is written.

128 keys are written in one transaction each, and only if nobody else has changed them since they were read. When an
import is cut short, running it again writes the rest.`,
		Example: `  skyctl import example.org.zone --dry-run
  skyctl import example.org.zone --prune
  skyctl import /etc/hosts --ptr
  curl -s http://old:2379/v2/keys/skydns?recursive=true | skyctl import -`,
		Args: args(1, -1, "FILE..."),
		RunE: func(cmd *cobra.Command, files []string) error { return a.importFiles(cmd.Context(), &f, files) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "auto", "form of the files: "+strings.Join(forms, ", "))
	flags.StringVar(&f.origin, "origin", "", "completes relative names of zone files, and names without a dot of hosts files")
	flags.StringSliceVar(&f.zones, "zone", nil, "the zones, for records of their own names, and to read no more of etcd than them; that of a SOA record is known")
	flags.DurationVar(&f.ttl, "ttl", 0, "TTL of records that have none, whole seconds; 0 for the server's default")
	flags.BoolVar(&f.ptr, "ptr", false, "keep the PTR records of A and AAAA in step; from hosts files for the first name of a line")
	flags.BoolVar(&f.prune, "prune", false, "delete what the zones have and the files have not, but no stub zones")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would change, and write nothing")
	flags.BoolVar(&f.diff, "diff", false, "show all changes, not only the first of them")
	flags.BoolVar(&f.skipBad, "skip-refused", false, "leave out what the server would refuse")
	flags.BoolVar(&f.progress, "progress", false, "show the progress also where standard error is no terminal")
	completeWith(cmd, "format", forms...)
	return cmd
}

const (
	shortDiff    = 20 // changes that are shown without --diff
	shownRefused = 20
)

func (a *app) importFiles(ctx context.Context, f *importFlags, files []string) error {
	l, err := a.load(f, files)
	if err != nil {
		return err
	}
	client, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	have, err := a.readFor(ctx, client, f, l)
	if err != nil {
		return err
	}
	changes, same, refused := l.plan(a.keys(), f, have)
	if err := a.refuse(refused, f.skipBad); err != nil {
		return err
	}
	most := shortDiff
	if f.diff {
		most = -1
	}
	diff(a.out, changes, most)
	if f.dryRun {
		a.summary(changes, same, true)
		return nil
	}
	p := &progress{w: a.err, total: len(changes), shown: f.progress || isTerminal(a.err), now: time.Now}
	err = client.Apply(ctx, changes, p.add)
	p.end()
	if err != nil {
		if p.done > 0 || errors.Is(err, store.ErrChanged) {
			err = fmt.Errorf("%w; %d of %d keys are written, run it again for the rest", err, p.done, len(changes))
		}
		return err
	}
	a.summary(changes, same, false)
	return nil
}

// refuse shows what the server would refuse, and is an error unless that is to be left out.
func (a *app) refuse(refused []plan.Refused, skip bool) error {
	for i, r := range refused {
		if i == shownRefused {
			a.notef("... and %d more", len(refused)-i)
			break
		}
		a.notef("refused: %s: %v", printable(r.Want.Origin), r.Err)
	}
	switch {
	case len(refused) == 0:
		return nil
	case skip:
		a.notef("left out %d records", len(refused))
		return nil
	}
	return withCode(exitRefused, fmt.Errorf("the server would not serve %d of the records: nothing is written; --skip-refused leaves them out", len(refused)))
}

// readFor reads the keys that the import has to do with: those of the zones where all of it lies there, else all.
func (a *app) readFor(ctx context.Context, client *store.Client, f *importFlags, l *loaded) ([]record.Key, error) {
	var names []string
	for path := range l.zones {
		names = append(names, skydns.NameOf(path))
	}
	if f.ptr || len(names) == 0 || !l.within() {
		names = nil
	}
	return a.below(ctx, client, names...)
}
