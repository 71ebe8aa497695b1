// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/rollups"
)

func (a *app) rollupExplain() *cobra.Command {
	limit := 20
	c := &cobra.Command{
		Use:   "explain NAME VALUE...",
		Short: "Show the latest changes of a group: where each entity or record counted before and after",
		Long: "Reaches back as far as the change logs; see locus serve --retain. VALUE is the value of the grouping attribute; with\n" +
			"several grouping attributes, give one VALUE for each, in their order.",
		Example: "  locus rollup explain places_by_category bakery\n" +
			"  locus rollup explain records_by_source vendor --limit 100 --json",
		ValidArgsFunction: a.names(rollupNames, 1),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return arguments("NAME", "VALUE")(c, args)
			}
			return notEmpty(args[1:])
		},
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			if limit < 1 || limit > locus.MaxLimit {
				return usage("--limit 20", "--limit %d: want 1 to %d", limit, locus.MaxLimit)
			}
			var of httpapi.Rollup
			if _, err := cl.get(c.Context(), rollupPath(args[0]), nil, &of); err != nil {
				return err
			}
			var list struct {
				Effects []json.RawMessage `json:"effects"`
			}
			if _, err := cl.get(c.Context(), httpapi.ExplainPath(args[0], args[1:]), url.Values{"limit": {strconv.Itoa(limit)}}, &list); err != nil {
				return err
			}
			t := &term.Table{Header: []string{"cell", "seq", "time", "kind", "entity", "counted", "counts", "what"},
				Right: map[int]bool{1: true}}
			for _, raw := range list.Effects {
				if a.json {
					if err := a.printRaw(typed("result", raw)); err != nil {
						return err
					}
					continue
				}
				var e rollups.CellEffect
				if err := json.Unmarshal(raw, &e); err != nil {
					return fmt.Errorf("read a change: %w", err)
				}
				t.Add(e.Cell.String(), fmt.Sprint(e.Seq), e.Time.UTC().Format(timeMilli), string(e.Kind), e.Entity.String(),
					slots(e.Effect.Before, of.Definition.Dimension), slots(e.Effect.After, of.Definition.Dimension), what(&e.Change))
			}
			if a.json {
				return a.listed(len(list.Effects), "")
			}
			if len(list.Effects) == 0 {
				a.say("the logs contain no change of this group since the rollup was defined")
			}
			return a.printTable(t)
		}),
	}
	c.Flags().IntVar(&limit, "limit", limit, "number of changes, at most 1000")
	return a.connection(c)
}

// slots formats the dimension values under which something counted; without a dimension, whether it counted.
func slots(of []string, dimension string) string {
	switch {
	case len(of) == 0:
		return "no"
	case dimension == "":
		return "yes"
	}
	names := make([]string, len(of))
	for i, name := range of {
		names[i] = cmp.Or(name, noValue)
	}
	return strings.Join(names, " ")
}

// notEmpty rejects an empty group value: nothing is counted under one.
func notEmpty(values []string) error {
	if slices.Contains(values, "") {
		return usage("leave it out", "a value of the group is empty; no group has an empty value")
	}
	return nil
}
