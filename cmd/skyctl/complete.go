package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/trident-dns/trident/plugin/skydns"
)

// mostNames bounds what completion offers: nobody reads more, and etcd may hold a million.
const mostNames = 200

// types are the record types that completion offers.
var types = []string{"A", "AAAA", "CAA", "CNAME", "HTTPS", "JSON", "MX", "NAPTR", "NS", "PTR", "SRV", "SSHFP", "SVCB", "TLSA", "TXT"}

// completeNames offers the names that have records, and then the types. It keeps silent when etcd does not answer: a
// shell has no place for errors.
func (a *app) completeNames(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return types, cobra.ShellCompDirectiveNoFileComp
	}
	if err := a.etcd.fromEnv(cmd, a.env); err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	client, err := a.open(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer client.Close()
	keys, err := a.below(cmd.Context(), client)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, k := range keys {
		if k.Err == nil && k.Role == "" {
			names = append(names, skydns.NameOf(k.Owner))
		}
		if len(names) == mostNames {
			break
		}
	}
	slices.Sort(names)
	return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
}
