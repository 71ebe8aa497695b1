// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) metricCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "metric",
		Short: "Count hits by minute, hour and day, each exactly once",
		Example: "  locus metric hit 'page /about'\n" +
			"  locus metric plot 'page /about' --day 2026-11-20 -o day.svg",
	}
	c.AddCommand(a.metricHit(), a.metricSeries(), a.metricTop(), a.metricPlot(), a.metricList())
	return c
}

func (a *app) metricList() *cobra.Command {
	var p paging
	c := &cobra.Command{
		Use:   "list [PREFIX]",
		Short: "List metrics by the prefix of their names",
		Example: "  locus metric list\n" +
			"  locus metric list 'page /' --all --json",
		Args:              atMost("PREFIX"),
		ValidArgsFunction: a.names(metricNames, 1),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			q := url.Values{}
			if len(args) > 0 && args[0] != "" {
				q.Set("prefix", args[0])
			}
			t := &term.Table{Header: []string{"metric", "kind", "since", "cell"}}
			if err := p.list(c.Context(), a, cl, "/v1/metrics", "metrics", q, func(raw json.RawMessage) error {
				var m httpapi.Metric
				if err := json.Unmarshal(raw, &m); err != nil {
					return fmt.Errorf("read a metric: %w", err)
				}
				t.Add(m.Metric, m.Kind, m.Since.Format(time.DateOnly), m.Cell)
				return nil
			}); err != nil || a.json {
				return err
			}
			if t.Len() == 0 {
				a.say("there are none; locus metric hit NAME creates one")
			}
			return a.printTable(t)
		}),
	}
	p.flags(c)
	return a.connection(c)
}

func (a *app) metricTop() *cobra.Command {
	var day, prefix string
	k := 10
	c := &cobra.Command{
		Use:   "top",
		Short: "Show the counters with the most hits of a day",
		Example: "  locus metric top -k 20\n" +
			"  locus metric top --day 2026-11-20 --prefix 'page /'",
		Args: arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			if k < 1 || k > counter.MaxTop {
				return usage("-k 10", "-k %d: want 1 to %d", k, counter.MaxTop)
			}
			if day == "" {
				day = time.Now().UTC().Format(time.DateOnly)
			}
			q := url.Values{"day": {day}, "k": {strconv.Itoa(k)}}
			if prefix != "" {
				q.Set("prefix", prefix)
			}
			var top httpapi.Top
			raw, err := cl.get(c.Context(), "/v1/top", q, &top)
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(raw)
			}
			if len(top.Metrics) == 0 {
				a.say("no hits on %s", term.Escape(top.Day))
			}
			t := &term.Table{Header: []string{"metric", "hits"}, Right: map[int]bool{1: true}}
			for _, m := range top.Metrics {
				t.Add(m.Metric, strconv.FormatInt(m.N, 10))
			}
			return a.printTable(t)
		}),
	}
	c.Flags().StringVar(&day, "day", "", "day in UTC, such as 2026-11-20; today by default")
	c.Flags().StringVar(&prefix, "prefix", "", "only metrics with this prefix")
	c.Flags().IntVarP(&k, "count", "k", k, "number of metrics, at most 1000")
	return a.connection(c)
}

// asked selects metrics: by prefix, or by name.
type asked struct {
	names  []string
	prefix string
	all    bool // by prefix, which may be empty
}

func (q *asked) flags(c *cobra.Command) {
	c.Flags().StringVar(&q.prefix, "prefix", "", "all metrics with this prefix, instead of NAME; '' for all")
}

func (q *asked) take(c *cobra.Command, args []string) error {
	q.names, q.all = args, flagged(c, "prefix")
	switch {
	case q.all && len(args) > 0:
		return usage("leave out one of them", "%s: NAME and --prefix exclude each other", c.CommandPath())
	case !q.all && len(args) == 0:
		return usage(c.CommandPath()+" NAME, or --prefix P", "%s: NAME is missing", c.CommandPath())
	}
	return nil
}

// question returns the request for series.
func (q *asked) question(r *span) (question, error) {
	if q.all {
		query := url.Values{"prefix": {q.prefix}, "from": {r.from}, "to": {r.to}, "step": {r.step}}
		if r.zone != "" {
			query.Set("zone", r.zone)
		}
		return question{method: "GET", path: "/v1/series", query: query}, nil
	}
	body, err := json.Marshal(httpapi.SeriesRequest{Metrics: q.names, From: r.from, To: r.to, Step: counter.Step(r.step),
		Zone: r.zone})
	if err != nil {
		return question{}, fmt.Errorf("ask for series: %w", err)
	}
	return question{method: "POST", path: "/v1/series/query", body: body}, nil
}
