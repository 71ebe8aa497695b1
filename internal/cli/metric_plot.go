// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
		Short: "Draw a metric as SVG",
		Long: "Draws a day by minute, a month by hour and a year by day, unless --step is given. Times without data stay empty. Of a\n" +
			"gauge it draws the mean. The picture goes to standard output, or to the file of -o.",
		Example: "  locus metric plot 'page /about' -o today.svg\n" +
			"  locus metric plot 'page /about' 'page /' --from 2026-11-01 --to 2026-12-01 -o november.svg",
		ValidArgsFunction: a.names(metricNames, many),
		RunE: func(c *cobra.Command, args []string) error {
			if err := q.take(c, args); err != nil {
				return err
			}
			if ext := filepath.Ext(file); file != "" && !strings.EqualFold(ext, ".svg") {
				return usage("-o "+strings.TrimSuffix(file, ext)+".svg", "-o %.80q: want a name that ends in .svg", file)
			}
			if file == "" && a.out.Terminal && !a.json {
				return usage("-o FILE.svg; locus metric series prints the numbers", "refusing to write SVG to a terminal")
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
			if dark {
				drawn.Theme = chart.Dark
			}
			return a.picture(drawn, file)
		},
	}
	q.flags(c)
	s.flags(c)
	c.Flags().StringVarP(&file, "output", "o", "", "file to write, ending in .svg")
	c.Flags().BoolVar(&dark, "dark", false, "light lines on a dark background")
	return a.connection(c)
}

func chartOf(s *httpapi.Series) (*chart.Chart, error) {
	switch {
	case len(s.Lines) == 0:
		return nil, &failure{Code: "not_found", Message: "there is no such metric", Hint: "locus metric list",
			Exit: exitNotFound}
	case len(s.Lines) > chart.MaxLines:
		return nil, usage("give the names of those to draw", "%d metrics are too many for one picture: at most %d",
			len(s.Lines), chart.MaxLines)
	case len(s.Times) == 0:
		return nil, usage("--from and --to farther apart", "the range contains no beginning of a %s", s.Step)
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

// valueOf returns the value to draw for a step: a count, or the mean of readings.
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

// picture writes a picture to a file, or to the standard output.
func (a *app) picture(c *chart.Chart, file string) error {
	if len(c.Lines) == 1 {
		c.Title = c.Lines[0].Name
	}
	names := make([]string, len(c.Lines))
	for i := range c.Lines {
		names[i] = c.Lines[i].Name
	}
	c.Label = strings.Join(names, ", ")
	if file == "" {
		return chart.SVG(a.stdout, c)
	}
	var b bytes.Buffer
	if err := chart.SVG(&b, c); err != nil {
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
