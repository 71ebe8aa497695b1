// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/chart"
	"github.com/locus-db/locus/internal/console"
)

// maxCharted is the maximum number of steps in a chart with a requested step.
const maxCharted = 10_000

// chartPage shows a metric over a range. A query without a range is redirected to today's range, so that the address of
// a chart always contains its range.
func (p *site) chartPage(c *call, body *bytes.Buffer) error {
	shown, err := p.charted(c)
	if errors.Is(err, counter.ErrNotFound) {
		return p.noMetric(c, c.query["name"])
	}
	if err != nil {
		return err
	}
	if c.query["from"] == "" || c.query["to"] == "" {
		http.Redirect(c.w, c.r, shown.Here(), http.StatusSeeOther)
		return nil
	}
	if others, err := p.metricsFrom(c, "", ""); err == nil {
		for _, m := range others {
			shown.Others = append(shown.Others, m.Metric)
		}
	}
	if len(shown.Lines) > 0 {
		for i, size := range []console.Size{console.Whole, console.Narrow} {
			drawn := drawing(shown, size)
			left, right, err := drawn.Area()
			if err != nil {
				return err
			}
			shown.Areas[i] = [3]float64{left, right, float64(drawn.Width)}
		}
	}
	return p.shown(c.r).Chart(body, *shown)
}

// chartFile sends the values of a chart as CSV.
func (p *site) chartFile(c *call, _ *bytes.Buffer) error {
	shown, err := p.charted(c)
	if err == nil && len(shown.Problems) > 0 {
		err = fault(CodeInvalid, "", "%s", shown.Problems[0])
	}
	if err != nil {
		return err
	}
	writeTable(c, cut(string(shown.Name), 64), shown.Table())
	return nil
}

// chartPicture draws a chart.
func (p *site) chartPicture(c *call, _ *bytes.Buffer) error {
	shown, err := p.charted(c)
	if err == nil && len(shown.Lines) == 0 {
		err = fault(CodeInvalid, "", "there is nothing to draw: %s", shown.Problems)
	}
	if err != nil {
		return err
	}
	return writeChart(c, shown.Name, drawing(shown, console.Size(c.query["size"])))
}

func drawing(shown *console.Chart, size console.Size) *chart.Chart {
	c := &chart.Chart{Times: shown.Times, End: shown.Range.To, Floating: true}
	c.Width, c.Height = size.Pixels()
	for i := range shown.Lines {
		c.Floating = c.Floating && shown.Lines[i].Kind == counter.Gauge
	}
	for _, column := range shown.Columns() {
		c.Lines = append(c.Lines, chart.Line{Name: column.Name, Values: column.Values, Faint: column.Faint})
	}
	return c
}

// charted reads the requested chart. Lines that cannot be read are left out, with the reason. The error is
// counter.ErrNotFound if there is no such metric.
func (p *site) charted(c *call) (*console.Chart, error) {
	shown := &console.Chart{Time: time.Now(), Name: counter.Metric(c.query["name"]), With: counter.Metric(c.query["with"]),
		Before: c.query["before"] != ""}
	shown.Range, shown.Problems = rangeFrom(c.query, shown.Time)
	first, err := p.lineOf(c, shown.Name, shown.Range)
	switch {
	case errors.Is(err, counter.ErrNotFound):
		return nil, err
	case err != nil:
		shown.Problems = append(shown.Problems, p.excuse(c, err))
		return shown, nil
	case len(first.Times) == 0:
		shown.Problems = append(shown.Problems, "The range contains no beginning of a "+string(shown.Range.Step)+".")
		return shown, nil
	}
	shown.Times = first.Times
	shown.Lines = []console.ChartLine{{Name: string(shown.Name), Line: &first.Lines[0]}}
	if shown.With != "" {
		other, err := p.lineOf(c, shown.With, shown.Range)
		switch {
		case err != nil:
			shown.Problems = append(shown.Problems, string(shown.With)+" is not shown: "+p.excuse(c, err))
		case other.Lines[0].Kind != first.Lines[0].Kind:
			shown.Problems = append(shown.Problems, fmt.Sprintf("%s is a %v, so its values are not on the axis of a %v.",
				shown.With, other.Lines[0].Kind, first.Lines[0].Kind))
		default:
			shown.Lines = append(shown.Lines, console.ChartLine{Name: string(shown.With), Line: &other.Lines[0]})
		}
	}
	if shown.Before {
		past, err := p.lineOf(c, shown.Name, shown.Range.Past())
		if err != nil {
			shown.Problems = append(shown.Problems, "The period before is not shown: "+p.excuse(c, err))
		} else {
			shown.Lines = append(shown.Lines, console.ChartLine{Name: "the period before", Line: &past.Lines[0], Past: true})
		}
	}
	return shown, nil
}

// lineOf reads the series of a metric, at most a second old.
func (p *site) lineOf(ctx context.Context, name counter.Metric, of console.Range) (*counter.Series, error) {
	key := fmt.Sprintf("chart/%d %d %s %s %s", of.From.Unix(), of.To.Unix(), of.Step, of.Zone,
		cut(string(name), counter.MaxMetric+1))
	return recently(ctx, p.looks, key, func(ctx context.Context) (*counter.Series, error) {
		return p.svc.Counters().Recorder().Series(ctx,
			counter.Query{Metrics: []counter.Metric{name}, From: of.From, To: of.To, Step: of.Step, Zone: of.Zone})
	})
}

// rangeFrom reads the range of a chart: a missing or invalid part is replaced by today's, with the reason.
func rangeFrom(q values, now time.Time) (of console.Range, problems []string) {
	of.Zone = time.UTC
	if name := q["zone"]; name != "" {
		zone, err := time.LoadLocation(name)
		if err != nil || name == "Local" {
			problems = append(problems, cut(name, 60)+" is not a time zone such as Europe/Berlin; UTC is used.")
		} else {
			of.Zone = zone
		}
	}
	year, month, day := now.In(of.Zone).Date()
	of.From = beginOf(time.Date(year, month, day, 0, 0, 0, 0, time.UTC), of.Zone)
	of.To = beginOf(time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC), of.Zone)
	from, badFrom := timeIn(q, "from", of.From, of.Zone)
	to, badTo := timeIn(q, "to", of.To, of.Zone)
	switch problem := badFrom + badTo; {
	case problem != "":
		problems = append(problems, problem+" Today is shown.")
	case !to.After(from):
		problems = append(problems, "The range ends before it begins; today is shown.")
	default:
		of.From, of.To = from, to
	}
	length := of.To.Sub(of.From)
	of.Step = console.StepFor(length)
	if step := counter.Step(q["step"]); step != "" {
		unit := map[counter.Step]time.Duration{counter.ByMinute: time.Minute, counter.ByHour: time.Hour,
			counter.ByDay: 24 * time.Hour}[step]
		switch {
		case unit == 0:
			problems = append(problems, cut(q["step"], 40)+" is not a step: want minute, hour or day.")
		case length/unit > maxCharted:
			problems = append(problems, fmt.Sprintf("A chart has at most %d steps, so this one is by %s.", maxCharted, of.Step))
		default:
			of.Step = step
		}
	}
	return of, problems
}

// timeIn reads a time of a form or a link: a day or a time of the zone, or an instant.
func timeIn(q values, name string, missing time.Time, zone *time.Location) (t time.Time, problem string) {
	text := q[name]
	if text == "" {
		return missing, ""
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return beginOf(day, zone), ""
	}
	for _, form := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(form, text, zone); err == nil {
			return t.Truncate(time.Minute), ""
		}
	}
	if t, ok := parseInstant(text); ok {
		return t.Truncate(time.Minute), ""
	}
	return missing, cut(text, 40) + " is not a time. "
}
