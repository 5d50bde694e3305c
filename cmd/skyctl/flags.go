package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.etcd.io/etcd/client/pkg/v3/srv"

	"github.com/trident-dns/trident/cmd/skyctl/internal/store"
)

// etcdFlags are those of etcdctl, by its names.
type etcdFlags struct {
	endpoints        []string
	discoverySRV     string
	discoveryName    string
	dialTimeout      time.Duration
	commandTimeout   time.Duration
	keepAlive        time.Duration
	keepAliveTimeout time.Duration
	cert, key, ca    string
	insecure         bool
	skipVerify       bool
	user, password   string
	token            string
	names            []string // of all of them
}

func (f *etcdFlags) add(flags *pflag.FlagSet) {
	mine := pflag.NewFlagSet("etcd", pflag.ContinueOnError)
	mine.StringSliceVar(&f.endpoints, "endpoints", []string{"127.0.0.1:2379"}, "addresses or URLs of etcd's members")
	mine.StringVar(&f.discoverySRV, "discovery-srv", "", "domain whose SRV records name the members, instead of --endpoints")
	mine.StringVar(&f.discoveryName, "discovery-srv-name", "", "suffix of the service's name in --discovery-srv")
	mine.DurationVar(&f.dialTimeout, "dial-timeout", 2*time.Second, "for a connection")
	mine.DurationVar(&f.commandTimeout, "command-timeout", 5*time.Second, "for each request; a command may need many")
	mine.DurationVar(&f.keepAlive, "keepalive-time", 2*time.Second, "between looks whether an idle connection is alive")
	mine.DurationVar(&f.keepAliveTimeout, "keepalive-timeout", 6*time.Second, "for an answer to those")
	mine.StringVar(&f.cert, "cert", "", "file with the client's certificate")
	mine.StringVar(&f.key, "key", "", "file with its key")
	mine.StringVar(&f.ca, "cacert", "", "file with the authorities for the server's certificate; default: the system's")
	mine.BoolVar(&f.insecure, "insecure-transport", true, "no TLS for endpoints without a scheme, unless certificates are given")
	mine.BoolVar(&f.skipVerify, "insecure-skip-tls-verify", false, "take any certificate of the server")
	mine.StringVar(&f.user, "user", "", "login, as NAME or NAME:PASSWORD")
	mine.StringVar(&f.password, "password", "", "password; better kept in ETCDCTL_PASSWORD, where ps does not show it")
	mine.StringVar(&f.token, "auth-jwt-token", "", "token instead of a login")
	mine.VisitAll(func(flag *pflag.Flag) {
		f.names = append(f.names, flag.Name)
		flag.Usage += " (" + envName(flag.Name) + ")"
	})
	flags.AddFlagSet(mine)
}

// envName is the variable of the environment for a flag, as etcdctl has it.
func envName(flag string) string {
	return "ETCDCTL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromEnv takes flags that were not given from the environment.
func (f *etcdFlags) fromEnv(cmd *cobra.Command, env func(string) (string, bool)) error {
	for _, name := range f.names {
		value, ok := env(envName(name))
		if !ok || value == "" || cmd.Flags().Changed(name) {
			continue
		}
		if err := cmd.Flags().Set(name, value); err != nil {
			return usagef("%s=%s: %w", envName(name), value, err)
		}
	}
	return nil
}

// config is how to reach etcd. in is where a password is read from when there is a user without one.
func (f *etcdFlags) config(in io.Reader) (store.Config, error) {
	cfg := store.Config{
		Endpoints: f.endpoints, Token: f.token,
		DialTimeout: f.dialTimeout, Call: f.commandTimeout, KeepAlive: f.keepAlive, KeepAliveTimeout: f.keepAliveTimeout,
	}
	if f.discoverySRV != "" {
		found, err := srv.GetClient("etcd-client", f.discoverySRV, f.discoveryName)
		if err != nil {
			return cfg, fmt.Errorf("looking for etcd's members below %s: %w", f.discoverySRV, err)
		}
		cfg.Endpoints = found.Endpoints
	}
	if len(cfg.Endpoints) == 0 {
		return cfg, usagef("--endpoints names no member of etcd")
	}
	var err error
	if cfg.User, cfg.Password, err = f.login(in); err != nil {
		return cfg, err
	}
	cfg.TLS, err = f.tls(cfg.Endpoints)
	return cfg, err
}

// login splits the user from the password.
func (f *etcdFlags) login(in io.Reader) (user, password string, err error) {
	user, password, both := strings.Cut(f.user, ":")
	switch {
	case f.user == "" && f.password != "":
		return "", "", usagef("--password without --user")
	case f.user == "" || both:
		return user, password, nil
	case f.password != "":
		return user, f.password, nil
	default:
		password, err = askPassword(in, user)
		return user, password, err
	}
}

// tls is nil for a connection without TLS.
func (f *etcdFlags) tls(endpoints []string) (*tls.Config, error) {
	https := false
	for _, e := range endpoints {
		https = https || strings.HasPrefix(e, "https://") || strings.HasPrefix(e, "unixs://")
	}
	if !https && f.ca == "" && f.cert == "" && f.key == "" && f.insecure && !f.skipVerify {
		return nil, nil
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: f.skipVerify}
	if f.ca != "" {
		pem, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, fmt.Errorf("--cacert: %w", err)
		}
		if cfg.RootCAs = x509.NewCertPool(); !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--cacert: %s has no certificate in PEM form", f.ca)
		}
	}
	if f.cert != "" || f.key != "" {
		if f.cert == "" || f.key == "" {
			return nil, usagef("--cert and --key go together")
		}
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return nil, fmt.Errorf("--cert and --key: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// errNoPassword says that there is nobody to ask for a password.
var errNoPassword = errors.New("there is no password, and no terminal to ask for it on: set ETCDCTL_PASSWORD")
