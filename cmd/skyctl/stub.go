package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trident-dns/trident/plugin/skydns"

	"github.com/trident-dns/trident/cmd/skyctl/internal/plan"
	"github.com/trident-dns/trident/cmd/skyctl/internal/record"
	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

func (a *app) stubCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stub",
		Short: "Manage stub zones, whose questions the server passes on",
		Long: `Manage stub zones: names of others that the server asks other servers for. They are kept below dns/stub of a zone of
one's own, and need stubzones in the etcd block of the Corefile.`,
		Args: args(0, 0, "add, rm or ls"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.stubAddCommand(), a.stubRmCommand(), a.stubLsCommand())
	return cmd
}

// stubFlags are those of stub add and stub rm.
type stubFlags struct {
	zone   string
	dryRun bool
}

func (f *stubFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.zone, "zone", "", "the zone of one's own that keeps the stub zone; required")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change, and write nothing")
}

// top is the key that all keys of the stub zone lie below.
func (f *stubFlags) top(a *app, arg string) (string, error) {
	if f.zone == "" {
		return "", usagef("--zone is missing: the zone of one's own that keeps the stub zone")
	}
	zone, err := record.NameArg(f.zone)
	if err != nil {
		return "", err
	}
	stub, err := record.NameArg(arg)
	if err != nil {
		return "", err
	}
	if stub == zone {
		return "", withCode(exitRefused, fmt.Errorf("%s is the zone itself: the server would leave it out as a stub zone", stub))
	}
	top := strings.TrimSuffix(a.keys().Key(zone), "/") + "/dns/stub"
	if path := skydns.PathOf(stub); path != "" {
		top += "/" + path
	}
	return top, nil
}

func (a *app) stubAddCommand() *cobra.Command {
	var f stubFlags
	cmd := &cobra.Command{
		Use:     "add STUBZONE ADDRESS[:PORT]... --zone ZONE",
		Short:   "Name servers of a stub zone",
		Example: "  skyctl stub add corp.example 10.1.0.53 [2001:db8::53]:5353 --zone example.org",
		Args:    args(2, -1, "STUBZONE ADDRESS[:PORT]..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			top, err := f.top(a, args[0])
			if err != nil {
				return err
			}
			var want []store.Entry
			for _, arg := range args[1:] {
				at, err := serverArg(arg)
				if err != nil {
					return err
				}
				value, err := record.Encode(skydns.Value{Host: at.Addr().String(), Port: at.Port()})
				if err != nil {
					return err
				}
				want = append(want, store.Entry{Key: top + "/" + serverLabel(at), Value: value})
			}
			return a.change(cmd, f.dryRun, func(ctx context.Context, client *store.Client) ([]store.Change, error) {
				have, err := a.stubKeys(ctx, client, top)
				if err != nil {
					return nil, err
				}
				var missing []store.Entry
				for _, w := range want {
					if !names(have, stubServer(record.Read(a.keys(), w))) {
						missing = append(missing, w)
					}
				}
				changes, _ := plan.Diff(entriesOf(have), missing, plan.Nothing)
				return changes, nil
			})
		},
	}
	f.add(cmd)
	return cmd
}

func (a *app) stubRmCommand() *cobra.Command {
	var f stubFlags
	cmd := &cobra.Command{
		Use:   "rm STUBZONE [ADDRESS[:PORT]...] --zone ZONE",
		Short: "Remove servers of a stub zone, all without any",
		Args:  args(1, -1, "STUBZONE [ADDRESS[:PORT]...]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			top, err := f.top(a, args[0])
			if err != nil {
				return err
			}
			servers := map[string]bool{}
			for _, arg := range args[1:] {
				at, err := serverArg(arg)
				if err != nil {
					return err
				}
				servers[at.String()] = true
			}
			return a.change(cmd, f.dryRun, func(ctx context.Context, client *store.Client) ([]store.Change, error) {
				have, err := a.stubKeys(ctx, client, top)
				if err != nil {
					return nil, err
				}
				var gone []record.Key
				for _, k := range have {
					if len(servers) == 0 || servers[stubServer(k)] {
						gone = append(gone, k)
					}
				}
				if len(gone) == 0 {
					return nil, notFound(args)
				}
				return deletions(gone), nil
			})
		},
	}
	f.add(cmd)
	return cmd
}

func (a *app) stubLsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List all stub zones",
		Args:  args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer client.Close()
			keys, err := a.below(cmd.Context(), client)
			if err != nil {
				return err
			}
			var stubs []record.Key
			for _, k := range keys {
				if k.Role == record.Stub {
					stubs = append(stubs, k)
				}
			}
			return a.print(stubs)
		},
	}
}

// stubKeys are the keys of one stub zone, those of stub zones below it not among them.
func (a *app) stubKeys(ctx context.Context, client *store.Client, top string) ([]record.Key, error) {
	entries, _, err := client.List(ctx, top+"/")
	if err != nil {
		return nil, err
	}
	var keys []record.Key
	for _, e := range entries {
		if !strings.Contains(strings.TrimSuffix(e.Key[len(top)+1:], "/"), "/") {
			keys = append(keys, record.Read(a.keys(), e))
		}
	}
	return keys, nil
}

func names(keys []record.Key, server string) bool {
	for _, k := range keys {
		if stubServer(k) == server {
			return true
		}
	}
	return false
}

// dnsPort is that of a server that names none.
const dnsPort = 53

// stubServer is the server that a key below dns/stub names, as address and port.
func stubServer(k record.Key) string {
	if k.Record == nil || k.Record.Kind() != skydns.IPv4 && k.Record.Kind() != skydns.IPv6 {
		return "no address"
	}
	port := k.Record.Port()
	if port == 0 {
		port = dnsPort
	}
	return net.JoinHostPort(k.Record.Addr().String(), strconv.Itoa(int(port)))
}

func serverArg(s string) (netip.AddrPort, error) {
	if addr, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil && addr.Zone() == "" {
		return netip.AddrPortFrom(addr.Unmap(), dnsPort), nil
	}
	at, err := netip.ParseAddrPort(s)
	if err != nil || at.Port() == 0 || at.Addr().Zone() != "" {
		return at, withCode(exitRefused, fmt.Errorf("%q is neither ADDRESS nor ADDRESS:PORT: servers of stub zones have no names", s))
	}
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port()), nil
}

// serverLabel is the last segment of a server's key. It is one label, so that any server of SkyDNS records can read it.
func serverLabel(at netip.AddrPort) string {
	label := strings.NewReplacer(".", "-", ":", "-").Replace(at.Addr().String())
	return fmt.Sprintf("%s-%d", strings.Trim(label, "-"), at.Port())
}
