// Command chart draws what bench/compare has found: for each row the rate of every server, with stock CoreDNS as the
// measure. It is a module of its own because of the drawing library.
//
//	go run -C bench/chart . -in ../results/compare.json -out ../results/compare.svg
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"image/color"
	"log"
	"os"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	_ "gonum.org/v1/plot/vg/vgsvg" // the format
)

func main() {
	in := flag.String("in", "", "result of bench/compare, JSON")
	out := flag.String("out", "", "file for the chart, whose name ends in .svg")
	flag.Parse()
	log.SetFlags(0)
	if *in == "" || *out == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*in, *out); err != nil {
		log.Fatal(err)
	}
}

// report is the part of the result that is drawn.
type report struct {
	CPU     string `json:"cpu"`
	Results []struct {
		Row     string `json:"row"`
		Entries []struct {
			Name  string  `json:"name"`
			Ratio float64 `json:"ratio"`
		} `json:"entries"`
	} `json:"results"`
}

func run(in, out string) error {
	text, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("reading %s: %w", in, err)
	}
	if len(r.Results) == 0 {
		return fmt.Errorf("%s has no results", in)
	}
	p, err := draw(r)
	if err != nil {
		return err
	}
	return p.Save(vg.Length(4+4*len(r.Results))*vg.Centimeter, 12*vg.Centimeter, out)
}

// colors are those of the servers, in the order in which they occur first: stock is grey.
var colors = []color.Color{
	color.RGBA{R: 160, G: 160, B: 160, A: 255}, color.RGBA{R: 66, G: 133, B: 190, A: 255}, color.RGBA{R: 16, G: 60, B: 110, A: 255},
	color.RGBA{R: 240, G: 170, B: 60, A: 255}, color.RGBA{R: 200, G: 80, B: 60, A: 255}, color.RGBA{R: 120, G: 170, B: 90, A: 255},
	color.RGBA{R: 150, G: 100, B: 170, A: 255},
}

// barWidth is that of one server in one row.
const barWidth = 14 * vg.Millimeter / 4

// draw makes a group of bars of each row.
func draw(r report) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "Answers a second on one core, stock CoreDNS = 1"
	if r.CPU != "" {
		p.Title.Text += " (" + r.CPU + ")"
	}
	p.Y.Min = 0
	p.Legend.Top = true
	var rows []string
	for _, result := range r.Results {
		rows = append(rows, result.Row)
	}
	all, values := series(r)
	for i, name := range all {
		bars, err := plotter.NewBarChart(values[i], barWidth)
		if err != nil {
			return nil, err
		}
		bars.Color = colors[i%len(colors)]
		bars.LineStyle.Width = 0
		bars.Offset = barWidth * vg.Length(2*i-len(all)+1) / 2
		p.Add(bars)
		p.Legend.Add(name, bars)
	}
	p.NominalX(rows...)
	return p, nil
}

// series turns rows of servers into servers of rows. Where a server did not take part its bar has no height.
func series(r report) (names []string, values []plotter.Values) {
	for i, result := range r.Results {
		for _, e := range result.Entries {
			k := slices.Index(names, e.Name)
			if k < 0 {
				k = len(names)
				names, values = append(names, e.Name), append(values, make(plotter.Values, len(r.Results)))
			}
			values[k][i] = e.Ratio
		}
	}
	return names, values
}
