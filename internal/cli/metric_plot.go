// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/chart"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) metricPlot() *cobra.Command {
	var (
		q    asked
		s    span
		file string
		dark bool
	)
	c := &cobra.Command{
		Use:   "plot NAME... | --prefix P",
		Short: "Draw what was counted, in the terminal or as SVG or PNG",
		Long: "A day is drawn by minute, a month by hour, a year by day, unless --step says otherwise. What is not known is left\n" +
			"empty. Of a gauge the mean of its readings is drawn.",
		Example: "  locus metric plot 'page /about'\n" +
			"  locus metric plot 'page /about' 'page /' --from 2026-11-01 --to 2026-12-01 -o november.svg",
		ValidArgsFunction: a.names(metricNames, many),
		RunE: func(c *cobra.Command, args []string) error {
			if err := q.take(c, args); err != nil {
				return err
			}
			kind := strings.ToLower(filepath.Ext(file))
			if file != "" && kind != ".svg" && kind != ".png" {
				return usage("-o "+strings.TrimSuffix(file, filepath.Ext(file))+".svg", "-o %.80q: want a name that ends in .svg or .png", file)
			}
			if err := s.settle(time.Now(), counter.ByMinute); err != nil {
				return err
			}
			cl, err := a.connect(c, reads)
			if err != nil {
				return err
			}
			defer cl.close()
			ask, err := q.question(&s)
			if err != nil {
				return err
			}
			var series httpapi.Series
			raw, _, err := cl.exchange(c.Context(), ask, &series)
			if err != nil {
				return err
			}
			if a.json && file == "" {
				return a.printRaw(raw)
			}
			drawn, err := chartOf(&series)
			if err != nil {
				return err
			}
			if file == "" {
				return a.plot(drawn, &series)
			}
			if dark {
				drawn.Theme = chart.Dark
			}
			return a.picture(drawn, file, kind)
		},
	}
	q.flags(c)
	s.flags(c)
	c.Flags().StringVarP(&file, "output", "o", "", "write a picture to a file, whose name ends in .svg or .png")
	c.Flags().BoolVar(&dark, "dark", false, "with -o: light lines on a dark ground")
	return a.connection(c)
}

// chartOf draws series.
func chartOf(s *httpapi.Series) (*chart.Chart, error) {
	switch {
	case len(s.Lines) == 0:
		return nil, &failure{Code: "not_found", Message: "no metric is called so", Hint: "locus metric list", Exit: exitNotFound}
	case len(s.Lines) > chart.MaxLines:
		return nil, usage("name those to be drawn", "%d metrics are too many for one picture: at most %d can be told apart", len(s.Lines), chart.MaxLines)
	case len(s.Times) == 0:
		return nil, usage("--from and --to farther apart", "no %s begins in this range", s.Step)
	}
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		zone = time.UTC
	}
	c := &chart.Chart{Floating: true}
	for _, t := range s.Times {
		c.Times = append(c.Times, t.In(zone))
	}
	c.End = stepEnd(c.Times[len(c.Times)-1], s.Step)
	for i := range s.Lines {
		l := &s.Lines[i]
		line := chart.Line{Name: term.Escape(l.Metric), Values: make([]float64, len(s.Times))}
		for at := range line.Values {
			line.Values[at] = valueOf(l, at)
		}
		c.Floating = c.Floating && l.Kind != counter.Counter.String()
		c.Lines = append(c.Lines, line)
	}
	return c, nil
}

// valueOf is what is drawn of a step: a count, or the mean of readings.
func valueOf(l *httpapi.SeriesLine, at int) float64 {
	if l.Kind == counter.Counter.String() {
		if at < len(l.Values) && l.Values[at] != counter.Null {
			return float64(l.Values[at])
		}
		return math.NaN()
	}
	if at < len(l.Sum) && at < len(l.Count) && l.Sum[at] != counter.Null && l.Count[at] > 0 {
		return float64(l.Sum[at]) / float64(l.Count[at])
	}
	return math.NaN()
}

// stepEnd is when a step ends.
func stepEnd(begin time.Time, step counter.Step) time.Time {
	switch step {
	case counter.ByMinute:
		return begin.Add(time.Minute)
	case counter.ByHour:
		return begin.Add(time.Hour)
	case counter.ByDay:
	}
	return begin.AddDate(0, 0, 1)
}

// plot draws in the terminal, or in as many characters elsewhere.
func (a *app) plot(c *chart.Chart, s *httpapi.Series) error {
	o := chart.TextOptions{Columns: 80, Rows: 14}
	if file, ok := a.stdout.(*os.File); ok && a.out.Terminal {
		if columns, _, err := xterm.GetSize(int(file.Fd())); err == nil {
			o.Columns = min(columns, 240)
		}
	}
	if len(c.Lines) > 1 {
		o.Rows = 9
	}
	if a.out.Color {
		colors := []string{"36", "33", "35", "32", "34", "31", "96", "93"}
		o.Paint = func(line int, text string) string { return a.out.Paint(colors[line%len(colors)], text) }
	}
	if err := chart.Text(a.stdout, c, o); err != nil {
		return err
	}
	a.say("%s to %s, by %s, %s", stepText(c.Times[0], s.Step), stepText(c.End, s.Step), s.Step, s.Zone)
	a.totals(s)
	return nil
}

// picture writes a picture to a file.
func (a *app) picture(c *chart.Chart, file, kind string) error {
	if len(c.Lines) == 1 {
		c.Title = c.Lines[0].Name
	}
	names := make([]string, len(c.Lines))
	for i := range c.Lines {
		names[i] = c.Lines[i].Name
	}
	c.Label = strings.Join(names, ", ")
	draw := map[string]func(io.Writer, *chart.Chart) error{".svg": chart.SVG, ".png": chart.PNG}[kind]
	var b bytes.Buffer
	if err := draw(&b, c); err != nil {
		return err
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil { //nolint:gosec // a picture that was asked for, as any other program writes it
		return fmt.Errorf("write the picture: %w", err)
	}
	if a.json {
		return a.printJSON(map[string]any{"type": "summary", "file": file, "bytes": b.Len()})
	}
	a.say("wrote %s", term.Escape(file))
	return nil
}
