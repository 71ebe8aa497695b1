// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) metricSeries() *cobra.Command {
	var (
		q         asked
		s         span
		format    string
		explained bool
		at        string
	)
	c := &cobra.Command{
		Use:   "series NAME... | --prefix P",
		Short: "Show a metric by minute, hour or day",
		Long: "A counter has one column, a gauge five. An empty value is unknown: before the first hit, in the future, or no longer\n" +
			"kept at this step. All values of a metric are read at one moment.",
		Example: "  locus metric series 'page /about' --day 2026-11-20 --step minute\n" +
			"  locus metric series --prefix 'page /' --from 2026-11-01 --to 2026-12-01 --zone Europe/Berlin --format csv",
		ValidArgsFunction: a.names(metricNames, many),
		RunE: func(c *cobra.Command, args []string) error {
			if err := q.take(c, args); err != nil {
				return err
			}
			switch format {
			case "table", "csv":
			case "json":
				a.json = true
			default:
				return usage("--format table, csv or json", "unknown --format %.20q", format)
			}
			if err := s.settle(time.Now(), counter.ByHour); err != nil {
				return err
			}
			cl, err := a.connect(c, reads)
			if err != nil {
				return err
			}
			defer cl.close()
			if explained {
				return a.explainHit(c.Context(), cl, &q, at)
			}
			ask, err := q.question(&s)
			if err != nil {
				return err
			}
			if format == "csv" && !a.json {
				return a.seriesCSV(c.Context(), cl, ask)
			}
			var series httpapi.Series
			raw, _, err := cl.exchange(c.Context(), ask, &series)
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(raw)
			}
			return a.printSeries(&series)
		},
	}
	q.flags(c)
	s.flags(c)
	c.Flags().StringVar(&format, "format", "table", "table, csv or json")
	c.Flags().BoolVar(&explained, "explain", false, "show which stored rows and fields a hit of NAME changes")
	c.Flags().StringVar(&at, "at", "", "with --explain: time of the hit; now by default")
	return a.connection(c)
}

// seriesCSV prints the table from the server.
func (a *app) seriesCSV(ctx context.Context, cl *client, ask question) error {
	ask.accept = "text/csv"
	raw, _, err := cl.exchange(ctx, ask, nil)
	if err != nil {
		return err
	}
	_, err = a.stdout.Write(raw)
	return err
}

func (a *app) printSeries(s *httpapi.Series) error {
	t := &term.Table{Header: []string{"time"}, Right: map[int]bool{}}
	var columns []httpapi.Column
	for i := range s.Lines {
		names, of := s.Lines[i].Columns()
		t.Header, columns = append(t.Header, names...), append(columns, of...)
	}
	for i := range columns {
		t.Right[i+1] = true
	}
	for i, at := range s.Times {
		row := make([]string, 1, len(columns)+1)
		row[0] = stepText(at, s.Step)
		for _, column := range columns {
			row = append(row, column.Text(i))
		}
		t.Add(row...)
	}
	if err := a.printTable(t); err != nil {
		return err
	}
	a.totals(s)
	return nil
}

// stepText formats the start of a step.
func stepText(at time.Time, step counter.Step) string {
	if step == counter.ByDay {
		return at.Format(time.DateOnly)
	}
	return at.Format("2006-01-02T15:04Z07:00")
}

// totals prints the totals of the series, and the missing values.
func (a *app) totals(s *httpapi.Series) {
	for i := range s.Lines {
		l := &s.Lines[i]
		text := term.Escape(l.Metric)
		if l.Total != nil {
			text += "   total " + term.Count(*l.Total)
		}
		if len(s.Times) > 0 && l.Since.After(s.Times[0]) {
			text += "   counted since " + l.Since.Format(time.DateOnly)
		}
		if len(s.Times) > 0 && l.Kept.After(s.Times[0]) {
			text += fmt.Sprintf("   %ss are kept since %s", s.Step, l.Kept.Format(time.DateOnly))
		}
		a.say("%s", text)
	}
	if len(s.Lines) == 0 {
		a.say("there is no such metric: locus metric list")
	}
	if n := len(s.Times); n > 0 && !s.Times[n-1].Before(s.Complete) {
		a.say("after %s nothing is known yet", s.Complete.UTC().Format(time.RFC3339))
	}
}

// explainHit prints the rows that a hit touches.
func (a *app) explainHit(ctx context.Context, cl *client, q *asked, at string) error {
	if len(q.names) != 1 {
		return usage("locus metric series NAME --explain", "--explain needs the name of one metric")
	}
	if at == "" {
		at = time.Now().UTC().Format(time.RFC3339)
	}
	var e counter.Explanation
	raw, err := cl.get(ctx, "/v1/series/explain", url.Values{"metric": {q.names[0]}, "at": {at}}, &e)
	if err != nil {
		return err
	}
	if a.json {
		return a.printRaw(raw)
	}
	beside := ""
	if e.Compacted {
		beside = "   the day is compacted; the hit is stored beside it"
	}
	a.say("%s %s   cell %s   number %d%s", e.Kind, a.talk.Paint("1", term.Escape(string(e.Metric))), term.Escape(e.Cell),
		e.ID, beside)
	t := &term.Table{Header: []string{"table", "row", "place", "what", "now"},
		Right: map[int]bool{1: true, 2: true, 4: true}}
	for _, touch := range e.Touches {
		t.Add(touch.Table, strconv.FormatInt(int64(touch.Key), 10), strconv.Itoa(touch.Index), touch.What,
			strconv.FormatInt(touch.Now, 10))
	}
	return a.printTable(t)
}
