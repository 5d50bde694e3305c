package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
)

// Every line of a fence marked sh in the manual does what it says, in the order of the manual.
func TestExamplesOfTheManualRun(t *testing.T) {
	manual, err := os.Open("../../docs/skyctl.md")
	if err != nil {
		t.Fatal(err)
	}
	defer manual.Close()
	s := newShell(t)
	t.Chdir(t.TempDir())
	ran, inside := 0, false
	for lines := bufio.NewScanner(manual); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "~~~") {
			inside = line == "~~~ sh"
			continue
		}
		if !inside {
			continue
		}
		ran++
		words, err := split(line)
		if err != nil || words[0] != "skyctl" {
			t.Fatalf("%s: %q, %v", line, words, err)
		}
		file := ""
		if n := len(words); n > 2 && words[n-2] == ">" {
			file, words = words[n-1], words[:n-2]
		}
		out := s.run(t, words[1:]...)
		if file != "" {
			if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if ran < 15 {
		t.Errorf("only %d examples", ran)
	}
}

// split parts a line as a shell does, as far as examples need it: blanks, quotes of both kinds.
func split(line string) (words []string, err error) {
	var word strings.Builder
	quote, within := rune(0), false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, within = c, true
		case c == ' ':
			if within {
				words = append(words, word.String())
			}
			word.Reset()
			within = false
		default:
			word.WriteRune(c)
			within = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("no %c at the end", quote)
	}
	if within {
		words = append(words, word.String())
	}
	return words, nil
}
