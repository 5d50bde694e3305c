package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trident-dns/trident/cmd/skyctl/internal/plan"
	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// attempts is how often a small change is planned anew when somebody else wrote the same keys meanwhile.
const attempts = 5

// change plans and makes a change that fits into one transaction. plan reads what it needs and says what is to change; it
// is called again when what it read is no longer so.
func (a *app) change(cmd *cobra.Command, dryRun bool, plan func(context.Context, *store.Client) ([]store.Change, error)) error {
	ctx := cmd.Context()
	client, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	for try := 1; ; try++ {
		changes, err := plan(ctx, client)
		if err != nil {
			return err
		}
		if batches, err := store.Batches(changes); err != nil {
			return err
		} else if len(batches) > 1 {
			a.notef("%d keys change, in %d transactions", len(changes), len(batches))
		}
		if !dryRun {
			err = client.Apply(ctx, changes, func(int) {})
		}
		if errors.Is(err, store.ErrChanged) && try < attempts {
			continue
		}
		if err != nil {
			return err
		}
		diff(a.out, changes, -1)
		a.summary(changes, 0, dryRun)
		return nil
	}
}

// reverse is what changes of PTR records when the addresses of gone are no longer there and those of wants are.
func (a *app) reverse(ctx context.Context, client *store.Client, gone []record.Key, wants []plan.Want) ([]store.Change, error) {
	r := plan.NewReverse(gone, wants)
	names := r.Names()
	if len(names) == 0 {
		return nil, nil
	}
	have, err := a.below(ctx, client, names...)
	if err != nil {
		return nil, err
	}
	changes, _ := r.Changes(a.keys(), have)
	return changes, nil
}

// summary tells people how many keys were changed.
func (a *app) summary(changes []store.Change, same int, dryRun bool) {
	added, changed, deleted := plan.Count(changes)
	text := fmt.Sprintf("%d added, %d changed, %d deleted", added, changed, deleted)
	if same > 0 {
		text += fmt.Sprintf(", %d as they were", same)
	}
	if dryRun {
		text += "; dry run, nothing is written"
	}
	a.notef("%s", text)
}
