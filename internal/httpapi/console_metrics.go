// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/chart"
	"github.com/locus-db/locus/internal/console"
)

// countersPage lists metrics, and the metrics with the most hits today.
func (p *site) countersPage(c *call, body *bytes.Buffer) error {
	shown := console.Counters{Time: time.Now(), Prefix: c.query["prefix"], After: counter.Metric(c.query["after"])}
	prefix := counter.Metric(shown.Prefix)
	var err error
	shown.Top, err = recently(c, p.looks, "top/"+string(prefix), func(ctx context.Context) ([]counter.Ranked, error) {
		return p.svc.Counters().Recorder().Top(ctx, counter.TopQuery{Day: time.Now(), Prefix: prefix, K: console.TopAtOnce})
	})
	if err == nil {
		shown.Metrics, err = p.metricsFrom(c, prefix, shown.After)
	}
	if err != nil {
		shown.Problem = p.excuse(c, err)
	}
	shown.Prefix = cut(shown.Prefix, counter.MaxMetric)
	return p.shown(c.r).Counters(body, shown)
}

// metricsFrom lists metrics, one more than a page shows.
func (p *site) metricsFrom(ctx context.Context, prefix, after counter.Metric) ([]counter.Info, error) {
	return recently(ctx, p.looks, "metrics/"+string(prefix)+"\x00"+string(after), func(ctx context.Context) ([]counter.Info, error) {
		return p.svc.Counters().Recorder().Metrics(ctx, prefix, after, console.MetricsAtOnce+1)
	})
}

// metricPage shows a metric around a day. A view that cannot be read is left out, with the reason.
func (p *site) metricPage(c *call, body *bytes.Buffer) error {
	shown := console.Metric{Time: time.Now(), Name: counter.Metric(c.query["name"]), Day: time.Now().UTC()}
	if text := c.query["day"]; text != "" {
		day, err := time.Parse(time.DateOnly, text)
		if err == nil {
			shown.Day = day
		} else {
			shown.Problems = append(shown.Problems, cut(text, 40)+" is not a day; today is shown.")
		}
	}
	for _, view := range console.Views {
		s, err := p.view(c, shown.Name, view, shown.Day)
		if errors.Is(err, counter.ErrNotFound) {
			return p.noMetric(c, string(shown.Name))
		}
		if err != nil {
			if text := p.excuse(c, err); len(shown.Problems) == 0 || shown.Problems[len(shown.Problems)-1] != text {
				shown.Problems = append(shown.Problems, text)
			}
		}
		shown.Series = append(shown.Series, s)
	}
	return p.shown(c.r).Metric(body, shown)
}

// view reads the series of a view, at most a second old.
func (p *site) view(ctx context.Context, name counter.Metric, view console.View,
	day time.Time) (*counter.Series, error) {
	from, to, step := view.Range(day)
	key := "view/" + string(view) + from.Format(time.DateOnly) + "/" + cut(string(name), counter.MaxMetric+1)
	return recently(ctx, p.looks, key, func(ctx context.Context) (*counter.Series, error) {
		return p.svc.Counters().Recorder().Series(ctx,
			counter.Query{Metrics: []counter.Metric{name}, From: from, To: to, Step: step})
	})
}

// own reads the self-metrics of today by minute.
func (p *site) own(ctx context.Context) (*counter.Series, error) {
	from, to, step := console.DayView.Range(time.Now())
	prefix := counter.Metric(locus.OwnMetrics)
	return p.svc.Counters().Recorder().Series(ctx, counter.Query{Prefix: &prefix, From: from, To: to, Step: step})
}

// noMetric reports that there is no metric of that name, or not yet: the pages link to metrics that Locus keeps about
// itself.
func (p *site) noMetric(c *call, name string) error {
	if strings.HasPrefix(name, locus.OwnMetrics) {
		return p.notice(c.w, c.r, http.StatusOK, console.Notice{
			Title: "Nothing counted yet",
			Text:  "Locus counts each of its own metrics from the first event on. There was none of this one yet.",
			Asked: cut(name, counter.MaxMetric), Command: []string{"locus", "metric", "list", locus.OwnMetrics},
		})
	}
	return p.notice(c.w, c.r, http.StatusNotFound, console.Notice{
		Title: "No such metric", Text: "No hits were counted under this name.", Asked: cut(name, counter.MaxMetric),
		Command: []string{"locus", "metric", "list"},
	})
}

// picture draws a view of a metric. A day is drawn over the day before.
func (p *site) picture(c *call, _ *bytes.Buffer) error {
	name, view := counter.Metric(c.query["name"]), console.View(c.query["view"])
	day, err := time.Parse(time.DateOnly, c.query["day"])
	if err != nil || !slices.Contains(console.Views, view) {
		return fault(CodeInvalid, "", "a picture has a view, day, month or year, and a day such as 2026-11-20")
	}
	series, err := p.view(c, name, view, day)
	if err != nil {
		return err
	}
	_, end, _ := view.Range(day)
	drawn := chartOf(series, end)
	if view == console.DayView && series.Lines[0].Kind == counter.Counter {
		before, err := p.view(c, name, view, day.AddDate(0, 0, -1))
		if err != nil {
			return err
		}
		drawn.Lines[0].Name = day.Format(time.DateOnly)
		drawn.Lines = append(drawn.Lines,
			chart.Line{Name: "the day before", Values: valuesOf(before.Lines[0].Values), Faint: true})
	}
	drawn.Width, drawn.Height = console.Size(c.query["size"]).Pixels()
	return writeChart(c, name, drawn)
}

// writeChart writes the picture of a metric's chart in the theme that the query names.
func writeChart(c *call, name counter.Metric, drawn *chart.Chart) error {
	drawn.Label = cut(string(name), counter.MaxMetric)
	if c.query["theme"] == "dark" {
		drawn.Theme = chart.Dark
	}
	var b bytes.Buffer
	if err := chart.SVG(&b, drawn); err != nil {
		return err
	}
	c.w.Header().Set("Cache-Control", "private, max-age=30") // the URL changes every minute
	writeWhole(c.w, http.StatusOK, "image/svg+xml", b.Bytes())
	return nil
}

// chartOf draws one line for a counter, and for a gauge the mean between the lowest and highest readings.
func chartOf(s *counter.Series, end time.Time) *chart.Chart {
	c := &chart.Chart{Times: s.Times, End: end}
	l := &s.Lines[0]
	if l.Kind == counter.Counter {
		c.Lines = []chart.Line{{Name: string(l.Metric), Values: valuesOf(l.Values)}}
		return c
	}
	n := len(l.Readings)
	mean, low, high := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, r := range l.Readings {
		if mean[i], low[i], high[i] = math.NaN(), math.NaN(), math.NaN(); r.Count > 0 {
			mean[i], low[i], high[i] = float64(r.Sum)/float64(r.Count), float64(r.Min), float64(r.Max)
		}
	}
	c.Floating = true
	c.Lines = []chart.Line{
		{Name: "mean", Values: mean},
		{Name: "lowest", Values: low, Faint: true},
		{Name: "highest", Values: high, Faint: true},
	}
	return c
}

// valuesOf converts values for drawing: unknown ones become gaps.
func valuesOf(values []counter.Value) []float64 {
	drawn := make([]float64, len(values))
	for i, v := range values {
		if drawn[i] = float64(v); v == counter.Null {
			drawn[i] = math.NaN()
		}
	}
	return drawn
}
