package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/coredns/caddy"
	"github.com/trident-dns/trident/internal/dryrun"
	"github.com/trident-dns/trident/internal/trial"
)

// Exit codes of a check.
const (
	exitFine     = 0 // warnings included
	exitProblems = 1
	exitUsage    = 2 // as of package flag
)

// The flags of a check, beside those of CoreDNS, of which -conf, -p and -dns.port count as well.
var (
	checkOnly    = flag.Bool("check", false, "Check the Corefile and what it names, report and exit; nothing is served")
	checkOutput  = flag.String("check-output", "text", "Report of -check: text or json")
	checkTimeout = flag.Duration("check-timeout", 30*time.Second, "Time for all of -check")
	checkOffline = flag.Bool("check-offline", false, "Let -check skip what needs the network")
)

// check does what -check asks for and returns the exit code. The report goes to out; why there is none, to errOut.
func check(out, errOut io.Writer) int {
	usage := func(format string, args ...any) int {
		_, _ = fmt.Fprintf(errOut, format+"\n", args...) // the exit code says it as well
		return exitUsage
	}
	switch {
	case flag.NArg() > 0:
		return usage("extra command line arguments: %q", flag.Args())
	case *checkOutput != "text" && *checkOutput != "json":
		return usage("-check-output %q: want text or json", *checkOutput)
	case *checkTimeout <= 0:
		return usage("-check-timeout %v: want a time above 0", *checkTimeout)
	}
	report := checkCorefile()
	write := report.WriteText
	if *checkOutput == "json" {
		write = report.WriteJSON
	}
	if err := write(out); err != nil {
		_, _ = fmt.Fprintf(errOut, "writing the report: %v\n", err)
		return exitProblems
	}
	if !report.OK {
		return exitProblems
	}
	return exitFine
}

// checkCorefile loads the Corefile as CoreDNS does and checks it.
func checkCorefile() trial.Report {
	input, err := caddy.LoadCaddyfile("dns")
	if err != nil {
		f := trial.Found(trial.Problem, "%v", err)
		f.Plugin, f.Subject = "corefile", "reading"
		return trial.NewReport(flag.Lookup("conf").Value.String(), []trial.Finding{f})
	}
	var findings []trial.Finding
	if isDefault(input) {
		f := trial.Found(trial.Warning, "no Corefile was given or found: this is what CoreDNS serves then")
		f.Plugin, f.Subject, f.File = "corefile", "reading", input.Path()
		findings = append(findings, f)
	}
	ctx, cancel := context.WithTimeout(context.Background(), *checkTimeout)
	defer cancel()
	findings = append(findings, dryrun.Run(ctx, input, dryrun.Options{Offline: *checkOffline, SetUp: leftOut})...)
	return trial.NewReport(input.Path(), findings)
}

// isDefault tells whether a Corefile is the one that CoreDNS has for want of any.
func isDefault(input caddy.Input) bool {
	_, err := os.Stat(input.Path())
	return input.Path() == caddy.DefaultConfigFile && errors.Is(err, fs.ErrNotExist)
}
