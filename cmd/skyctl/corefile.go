package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trident-dns/trident/cmd/skyctl/internal/skyconf"
)

func (a *app) corefileCommand() *cobra.Command {
	var file string
	var alone bool
	cmd := &cobra.Command{
		Use:   "corefile [-- SKYDNS-FLAG...]",
		Short: "Turn a configuration of SkyDNS into a Corefile",
		Long: `Turn a configuration of SkyDNS into a Corefile for the same service, on standard output: from the flags after --, the
environment that SkyDNS reads, and the JSON that its instances share in etcd, which comes before both. What has no
counterpart is said in comments at the top.`,
		Example: `  skyctl corefile -- -addr 0.0.0.0:53 -domain cluster.local. -nameservers 8.8.8.8:53
  skyctl corefile --config skydns.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			shared, err := a.sharedConfig(cmd, file, alone)
			if err != nil {
				return err
			}
			conf, err := skyconf.Read(args, a.env, shared)
			if err != nil {
				return withCode(exitRefused, err)
			}
			if prefix := string(a.keys()); prefix != "" && cmd.Flags().Changed("prefix") {
				conf.PathPrefix = prefix
			}
			text, err := conf.Corefile(a.etcd.endpoints)
			if err != nil {
				return withCode(exitRefused, err)
			}
			_, err = fmt.Fprint(a.out, text)
			return err
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "file with the JSON, instead of the key config in etcd; - for standard input")
	cmd.Flags().BoolVar(&alone, "no-etcd", false, "do not look for the JSON in etcd")
	return cmd
}

// sharedConfig is the JSON that instances of SkyDNS share, nil when there is none.
func (a *app) sharedConfig(cmd *cobra.Command, file string, alone bool) ([]byte, error) {
	switch {
	case file != "" && alone:
		return nil, usagef("--config and --no-etcd exclude each other")
	case file != "":
		return a.readFile(file)
	case alone:
		return nil, nil
	}
	client, err := a.open(cmd.Context())
	if err != nil {
		return nil, err
	}
	defer client.Close()
	key := string(a.keys()) + "/config"
	entries, _, err := client.List(cmd.Context(), key)
	if err != nil {
		return nil, errors.Join(err, errors.New("without etcd: --config FILE, or --no-etcd"))
	}
	for _, e := range entries {
		if e.Key == key {
			return []byte(strings.TrimSpace(e.Value)), nil
		}
	}
	a.notef("there is no %s in etcd: flags and environment say it all", key)
	return nil, nil
}
