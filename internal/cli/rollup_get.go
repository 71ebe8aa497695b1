// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
)

// getting holds the flags of reading groups.
type getting struct {
	paging
	top     int
	by      string
	min     string
	latest  bool
	partial bool
	rows    bool
}

func (a *app) rollupGet() *cobra.Command {
	var g getting
	c := &cobra.Command{
		Use:   "get NAME [VALUE...]",
		Short: "Show what a rollup counts: one group, all in their order, or the largest",
		Long: "An answer is the recomputation from what the cells held at its watermark. --min-watermark waits for what a write\n" +
			"said, --latest for everything that was written before: what was written is then counted.\n" +
			"A single measure is shown with a column for each value of the dimension, several with a row for each; --rows has\n" +
			"rows in any case.",
		Example: "  locus rollup get places_by_category bakery\n" +
			"  locus rollup get places_by_category --top 10 --by places --latest",
		ValidArgsFunction: a.names(rollupNames, 1),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return arguments("NAME")(c, args)
			}
			return notEmpty(args[1:])
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := g.check(c, args); err != nil {
				return err
			}
			cl, err := a.connect(c, reads)
			if err != nil {
				return err
			}
			defer cl.close()
			if len(args) > 1 {
				return a.oneGroup(c, cl, args[0], args[1:], &g)
			}
			return a.groups(c, cl, args[0], &g)
		},
	}
	g.flags(c)
	c.Flags().IntVar(&g.top, "top", 0, "the groups whose total is largest, at most so many")
	c.Flags().StringVar(&g.by, "by", "", "with --top: the measure that is to be large, a count, sum or avg")
	c.Flags().StringVar(&g.min, "min-watermark", "", "wait until the rollup contains this, such as g0-0:17,g0-3:4; writes say it")
	c.Flags().BoolVar(&g.latest, "latest", false, "wait until the rollup contains all that was written before")
	c.Flags().BoolVar(&g.partial, "partial", false, "answer although some cells do not, without what they hold")
	c.Flags().BoolVar(&g.rows, "rows", false, "a row for each value of the dimension, not a column")
	return a.connection(c)
}

// check rejects flags that do not go together.
func (g *getting) check(c *cobra.Command, args []string) error {
	_, err := changelog.ParseWatermark(g.min)
	list := c.Flags().Changed("limit") || g.cursor != "" || g.all
	switch {
	case err != nil:
		return usage("--min-watermark g0-0:17,g0-3:4, as a write says it", "--min-watermark %.60q is no watermark", g.min)
	case len(args) > 1 && (list || g.top != 0 || g.by != ""):
		return usage("leave out the flag, or VALUE", "locus rollup get: one group is no list: --limit, --cursor, --all and --top are for all groups")
	case g.top != 0 && list:
		return usage("leave out one of them", "locus rollup get: the largest groups are no list that goes on: --top has no --limit, --cursor and --all")
	case c.Flags().Changed("top") && (g.top < 1 || g.top > locus.MaxLimit):
		return usage("--top 10", "--top %d: want 1 to %d", g.top, locus.MaxLimit)
	case g.by != "" && g.top == 0:
		return usage("--top 10 --by "+g.by, "--by is for --top: all groups come in the order of their names")
	case g.limit < 1 || g.limit > locus.MaxLimit:
		return usage("--limit 100", "--limit %d: want 1 to %d", g.limit, locus.MaxLimit)
	}
	return nil
}

// query returns the parameters common to all ways of reading.
func (g *getting) query() url.Values {
	q := url.Values{}
	if g.min != "" {
		q.Set("min_watermark", g.min)
	}
	if g.latest {
		q.Set("latest", "true")
	}
	if g.partial {
		q.Set("partial", "true")
	}
	return q
}

func (a *app) oneGroup(c *cobra.Command, cl *client, name string, group []string, g *getting) error {
	var of httpapi.Rollup
	if _, err := cl.get(c.Context(), rollupPath(name), nil, &of); err != nil {
		return err
	}
	d := &of.Definition
	if len(group) != len(d.Group) {
		return usage("locus rollup get "+name+" "+strings.ToUpper(strings.Join(d.Group, " ")),
			"rollup %s groups by %s: want %s of it, not %d", name, strings.Join(d.Group, ", "), plural(len(d.Group), "value"), len(group))
	}
	var one httpapi.RollupOne
	raw, err := cl.get(c.Context(), httpapi.GroupPath(name, group), g.query(), &one)
	if err != nil {
		return err
	}
	if a.json {
		return a.printRaw(raw)
	}
	if err := a.printTable(groupsTable(d, []httpapi.RollupGroup{one.RollupGroup}, g.rows, a.out.Terminal)); err != nil {
		return err
	}
	a.reading(&one.RollupReading, one.Skipped)
	return nil
}

// groups lists groups page by page. Each page has its own watermark.
func (a *app) groups(c *cobra.Command, cl *client, name string, g *getting) error {
	query, cursor := g.query(), g.cursor
	var all []httpapi.RollupGroup
	var page httpapi.RollupGroups
	for count := 0; ; {
		if g.top > 0 {
			query.Set("top", strconv.Itoa(g.top))
			by, err := g.measure(c, cl, name)
			if err != nil {
				return err
			}
			query.Set("by", by)
		} else {
			query.Set("limit", strconv.Itoa(g.limit))
		}
		if cursor != "" {
			query.Set("after", cursor)
		}
		var rows struct {
			Groups []json.RawMessage `json:"groups"`
		}
		page = httpapi.RollupGroups{}
		raw, err := cl.get(c.Context(), "/v1/rollups/"+url.PathEscape(name)+"/groups", query, &page)
		if err == nil && a.json {
			err = json.Unmarshal(raw, &rows)
		}
		if err != nil {
			return err
		}
		for _, row := range rows.Groups {
			if err := a.printRaw(typed("result", row)); err != nil {
				return err
			}
		}
		if count += len(page.Groups); !a.json {
			all = append(all, page.Groups...)
		}
		if cursor = page.Next; g.all && cursor != "" {
			continue
		}
		if a.json {
			return a.printJSON(struct {
				Type   string `json:"type"`
				Count  int    `json:"count"`
				Cursor string `json:"cursor"`
				httpapi.RollupReading
			}{"summary", count, cursor, page.RollupReading})
		}
		break
	}
	if err := a.printTable(groupsTable(page.Definition, all, g.rows, a.out.Terminal)); err != nil {
		return err
	}
	skipped := int64(0)
	for i := range all {
		skipped += all[i].Skipped
	}
	a.reading(&page.RollupReading, skipped)
	return a.listed(len(all), cursor)
}

// measure returns the measure to order by; the only one is the default.
func (g *getting) measure(c *cobra.Command, cl *client, name string) (string, error) {
	if g.by != "" {
		return g.by, nil
	}
	var of httpapi.Rollup
	if _, err := cl.get(c.Context(), rollupPath(name), nil, &of); err != nil {
		return "", err
	}
	var names []string
	for _, m := range of.Definition.Measures {
		if m.Func == rollup.Count || m.Func == rollup.Sum || m.Func == rollup.Avg {
			names = append(names, m.Name)
		}
	}
	if len(names) != 1 {
		return "", usage("--by "+strings.Join(names, ", or --by "), "locus rollup get: --by is missing: which measure is to be large")
	}
	return names[0], nil
}

// reading prints the watermark of an answer.
func (a *app) reading(r *httpapi.RollupReading, skipped int64) {
	a.say("true at %v   %s   lag %s   generation %d   %s", r.Watermark, r.AsOf.UTC().Format(timeMilli), millis(r.LagMS), r.Generation, verifiedText(r.VerifiedAt))
	if r.State == rollups.Failed {
		a.say("%s   it stands still: locus rollup status %s says why", a.talk.Paint("31", "failed"), r.Rollup)
	}
	if len(r.Missing) > 0 {
		a.say("%s   without what is in %s", a.talk.Paint("33", "partial"), term.Escape(joined(r.Missing)))
	}
	if skipped > 0 {
		a.say("skipped   %s: no numbers, or with more digits than the scale has", plural(int(skipped), "value"))
	}
}
