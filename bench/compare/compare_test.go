package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trident-dns/trident/bench/internal/records"
)

func TestRowsAreChosenByName(t *testing.T) {
	chosen, err := choose("kubernetes,cold")
	if err != nil || len(chosen) != 2 || chosen[0].name != "kubernetes" || chosen[1].name != "cold" {
		t.Errorf("got %v, %v", chosen, err)
	}
	if _, err := choose("hosts,nothing"); err == nil || !strings.Contains(err.Error(), "forward-udp") {
		t.Errorf("an unknown row: %v", err)
	}
	for _, r := range defaults() {
		if r.rare {
			t.Errorf("%s runs without being asked for", r.name)
		}
	}
}

func TestMostQuestionsAreForFewNamesAndForBothFamilies(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(popularQuestions(rand.New(rand.NewPCG(1, 2)), 10_000)), "\n")
	if len(lines) != 10_000 {
		t.Fatalf("%d questions", len(lines))
	}
	count := map[string]int{}
	for i := 0; i < len(lines); i += 2 {
		if strings.Replace(lines[i+1], " AAAA", " A", 1) != lines[i] {
			t.Fatalf("%q is followed by %q", lines[i], lines[i+1])
		}
		count[lines[i]]++
	}
	if most := count[records.Name(0)+" A"]; most < 250 || most > 2500 || len(count) < 500 {
		t.Errorf("%d of 5,000 for the first name, %d names", most, len(count))
	}
}

func TestForwardersAreGivenTheSameUpstreams(t *testing.T) {
	over := task{targets: []string{"127.0.0.1:1", "127.0.0.1:2"}, tls: true, ca: "ca.pem"}
	if got := over.coreDNS(); !strings.Contains(got, "forward . tls://127.0.0.1:1 tls://127.0.0.1:2 {") ||
		!strings.Contains(got, "tls ca.pem\n") {
		t.Error(got)
	}
	over.tls = false
	if got := over.coreDNS(); !strings.Contains(got, "forward . 127.0.0.1:1 127.0.0.1:2 {") || strings.Contains(got, "tls") {
		t.Error(got)
	}
}
