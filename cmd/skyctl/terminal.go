package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// askPassword asks for the password of a user on the terminal, without showing it.
func askPassword(in io.Reader, user string) (string, error) {
	tty, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(tty.Fd())) {
		return "", withCode(exitUsage, fmt.Errorf("--user %s: %w", user, errNoPassword))
	}
	fmt.Fprintf(os.Stderr, "Password of %s: ", user)
	password, err := term.ReadPassword(int(tty.Fd()))
	fmt.Fprintln(os.Stderr)
	return string(password), err
}

// isTerminal tells whether a stream is one that a person reads.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
