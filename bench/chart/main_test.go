package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const sample = `{"cpu":"Some CPU","results":[
	{"row":"hosts","entries":[{"name":"stock","ratio":1},{"name":"Trident","ratio":1.5},{"name":"NSD"}]},
	{"row":"forward-udp","entries":[{"name":"stock","ratio":1},{"name":"dnsdist","ratio":2.5}]}]}`

func TestTheChartNamesEveryRowAndServer(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.json"), filepath.Join(dir, "out.svg")
	if err := os.WriteFile(in, []byte(sample), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(in, out); err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "hosts", "forward-udp", "stock", "Trident", "dnsdist", "NSD", "Some CPU"} {
		if !bytes.Contains(svg, []byte(want)) {
			t.Errorf("no %q in the chart", want)
		}
	}
}

func TestServersThatMissARowHaveNoBarThere(t *testing.T) {
	var r report
	if err := json.Unmarshal([]byte(sample), &r); err != nil {
		t.Fatal(err)
	}
	names, values := series(r)
	if want := []string{"stock", "Trident", "NSD", "dnsdist"}; !slices.Equal(names, want) {
		t.Fatalf("got %q, want %q", names, want)
	}
	for i, want := range [][]float64{{1, 1}, {1.5, 0}, {0, 0}, {0, 2.5}} {
		if !slices.Equal(values[i], want) {
			t.Errorf("%s: got %v, want %v", names[i], values[i], want)
		}
	}
}

func TestAnEmptyResultIsAnError(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.json")
	for _, text := range []string{"{}", "nothing"} {
		if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run(in, in+".svg"); err == nil {
			t.Errorf("%s makes a chart", text)
		}
	}
}
