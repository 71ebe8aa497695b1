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
		Short: "Show one group of a rollup, all of them, or the largest",
		Long: "The result equals a recomputation from the data of the cells at its watermark. --min-watermark waits until the\n" +
			"rollup includes a given write, --latest until it includes everything written before.\n" +
			"A single measure is shown with a column for each value of the dimension, several measures with a row for each;\n" +
			"--rows always uses rows.",
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
	c.Flags().IntVar(&g.top, "top", 0, "only the groups with the largest totals, at most this many")
	c.Flags().StringVar(&g.by, "by", "", "with --top: the measure to order by, a count, sum or avg")
	c.Flags().StringVar(&g.min, "min-watermark", "",
		"wait until the rollup includes this watermark, such as g0-0:17,g0-3:4, which writes return")
	c.Flags().BoolVar(&g.latest, "latest", false, "wait until the rollup includes everything written before")
	c.Flags().BoolVar(&g.partial, "partial", false, "return a result without the cells that are unavailable")
	c.Flags().BoolVar(&g.rows, "rows", false, "a row for each value of the dimension, not a column")
	return a.connection(c)
}

// check rejects flags that do not go together.
func (g *getting) check(c *cobra.Command, args []string) error {
	_, err := changelog.ParseWatermark(g.min)
	list := c.Flags().Changed("limit") || g.cursor != "" || g.all
	switch {
	case err != nil:
		return usage("--min-watermark g0-0:17,g0-3:4, as writes return it", "--min-watermark %.60q is not a watermark", g.min)
	case len(args) > 1 && (list || g.top != 0 || g.by != ""):
		return usage("leave out the flag, or VALUE",
			"locus rollup get: --limit, --cursor, --all and --top are not for one group")
	case g.top != 0 && list:
		return usage("leave out one of them", "locus rollup get: --top excludes --limit, --cursor and --all")
	case c.Flags().Changed("top") && (g.top < 1 || g.top > locus.MaxLimit):
		return usage("--top 10", "--top %d: want 1 to %d", g.top, locus.MaxLimit)
	case g.by != "" && g.top == 0:
		return usage("--top 10 --by "+g.by, "--by needs --top; all groups are in the order of their names")
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
		return "", usage("--by "+strings.Join(names, ", or --by "),
			"locus rollup get: --by is missing: the measure to order by")
	}
	return names[0], nil
}

// reading prints the watermark of an answer.
func (a *app) reading(r *httpapi.RollupReading, skipped int64) {
	a.say("true at %v   %s   lag %s   generation %d   %s", r.Watermark, r.AsOf.UTC().Format(timeMilli), millis(r.LagMS),
		r.Generation, verifiedText(r.VerifiedAt))
	if r.State == rollups.Failed {
		a.say("%s   it is stalled: locus rollup status %s shows why", a.talk.Paint("31", "failed"), r.Rollup)
	}
	if len(r.Missing) > 0 {
		a.say("%s   without cell %s", a.talk.Paint("33", "partial"), term.Escape(joined(r.Missing)))
	}
	if skipped > 0 {
		a.say("skipped   %s: no numbers, or with more digits than the scale has", plural(int(skipped), "value"))
	}
}
