// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/rollups"
)

func (a *app) rollupCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "rollup",
		Short: "Maintain counts and sums by group that always equal their recomputation",
		Example: "  locus rollup define places_by_category.yaml --wait\n" +
			"  locus rollup get places_by_category --top 10 --by places",
	}
	c.AddCommand(
		a.rollupDefine(), a.rollupList(), a.rollupStatus(), a.rollupGet(), a.rollupExplain(), a.rollupRebuild(),
		a.rollupVerify(), a.rollupDrop(),
	)
	return c
}

func rollupPath(name string) string { return "/v1/rollups/" + url.PathEscape(name) }

func (a *app) rollupList() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "list",
		Short: "List the rollups with their definitions, states and lags",
		Example: "  locus rollup list\n" +
			"  locus rollup list --json | jq -r 'select(.lag_ms > 1000).name'",
		Args: arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			var list struct {
				Rollups []json.RawMessage `json:"rollups"`
			}
			if _, err := cl.get(c.Context(), "/v1/rollups", nil, &list); err != nil {
				return err
			}
			t := &term.Table{
				Header: []string{"rollup", "state", "over", "group", "dimension", "measures", "generation", "groups", "lag",
					"verified"},
				Right: map[int]bool{6: true, 7: true, 8: true},
			}
			for _, raw := range list.Rollups {
				if a.json {
					if err := a.printRaw(typed("result", raw)); err != nil {
						return err
					}
					continue
				}
				var of httpapi.Rollup
				if err := json.Unmarshal(raw, &of); err != nil {
					return fmt.Errorf("read a rollup: %w", err)
				}
				d := &of.Definition
				names := make([]string, 0, len(d.Measures))
				for _, m := range d.Measures {
					names = append(names, m.Name)
				}
				t.Add(of.Name, string(of.State), string(d.Over), strings.Join(d.Group, " "), d.Dimension, strings.Join(names, " "),
					generationsOf(&of), fmt.Sprint(of.Groups), millis(of.LagMS), moment(of.VerifiedAt))
			}
			if a.json {
				return a.listed(len(list.Rollups), "")
			}
			if len(list.Rollups) == 0 {
				a.say("there are no rollups; locus rollup define FILE creates one")
			}
			return a.printTable(t)
		}),
	})
}

// generationsOf returns the active generation, and the one being built.
func generationsOf(of *httpapi.Rollup) string {
	if of.Building != 0 {
		return fmt.Sprintf("%d, building %d", of.Generation, of.Building)
	}
	return fmt.Sprint(of.Generation)
}

func (a *app) rollupStatus() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "status NAME",
		Short: "Show the state of a rollup in each cell: its watermark, its lag and its follower",
		Example: "  locus rollup status places_by_category\n" +
			"  locus rollup status places_by_category --json | jq .lag_ms",
		Args:              arguments("NAME"),
		ValidArgsFunction: a.names(rollupNames, 1),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			var of httpapi.Rollup
			raw, err := cl.get(c.Context(), rollupPath(args[0]), nil, &of)
			if err != nil {
				return err
			}
			if a.json {
				err = a.printRaw(raw)
			} else {
				err = a.printRollup(&of)
			}
			if err == nil {
				err = unwell(&of)
			}
			return err
		}),
	})
}

func (a *app) printRollup(of *httpapi.Rollup) error {
	color := map[rollups.State]string{rollups.Following: "32", rollups.Failed: "31", rollups.Partial: "33"}[of.State]
	a.say("rollup %s   %s   generation %s   %s, lag %s   %s", a.talk.Paint("1", of.Name),
		a.talk.Paint(color, string(of.State)),
		generationsOf(of), counted(of.Groups, "group", "groups"), millis(of.LagMS), verifiedText(of.VerifiedAt))
	t := &term.Table{
		Header: []string{"cell", "state", "watermark", "last", "lag", "groups", "owner", "token", "verified", "reason"},
		Right:  map[int]bool{2: true, 3: true, 4: true, 5: true, 7: true},
	}
	for _, in := range of.Cells {
		t.Add(in.Cell.String(), string(in.State), fmt.Sprint(in.Watermark), fmt.Sprint(in.Last), millis(in.LagMS), fmt.Sprint(in.Groups),
			in.Owner, fmt.Sprint(in.Token), moment(in.VerifiedAt), in.Reason)
	}
	return a.printTable(t)
}

// verifiedText says when a rollup was last found equal to its recomputation.
func verifiedText(at time.Time) string {
	if at.IsZero() {
		return "not verified yet"
	}
	return "verified " + moment(at)
}

// unwell returns an error for a rollup that has failed in some cell.
func unwell(of *httpapi.Rollup) error {
	if of.State != rollups.Failed && of.State != rollups.Partial {
		return nil
	}
	for _, in := range of.Cells {
		if in.Reason == "" {
			continue
		}
		if of.State == rollups.Partial {
			return errUnavailable([]string{in.Cell.String()})
		}
		return &failure{
			Code: "failed", Message: fmt.Sprintf("rollup %s is stalled in cell %s: %s", of.Name, in.Cell, in.Reason),
			Exit: exitFailed,
			Hint: "fix the cause; then locus rollup rebuild " + of.Name,
		}
	}
	return nil
}

func (a *app) rollupDrop() *cobra.Command {
	var f changing
	c := &cobra.Command{
		Use:   "drop NAME",
		Short: "Delete a rollup and its groups; records and entities stay",
		Example: "  locus rollup drop places_by_category --dry-run\n" +
			"  locus rollup drop places_by_category --yes",
		Args:              arguments("NAME"),
		ValidArgsFunction: a.names(rollupNames, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.connectedTo(f.access(), func(c *cobra.Command, cl *client, args []string) error {
				var of httpapi.Rollup
				if _, err := cl.get(c.Context(), rollupPath(args[0]), nil, &of); err != nil {
					return err
				}
				if a.json {
					if err := a.printJSON(map[string]any{"type": "plan", "rollup": of.Name, "groups": of.Groups}); err != nil {
						return err
					}
				} else {
					a.say("will drop rollup %s, %s in %s", of.Name, counted(of.Groups, "group", "groups"),
						plural(len(of.Cells), "cell"))
				}
				if f.dryRun {
					return nil
				}
				if err := a.confirm(f.yes, fmt.Sprintf("Drop rollup %s? Defining it again restores it.", of.Name)); err != nil {
					return err
				}
				if _, err := cl.do(c.Context(), http.MethodDelete, rollupPath(of.Name), nil, nil, nil); err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"type": "summary", "rollup": of.Name, "outcome": "dropped"})
				}
				a.say("dropped rollup %s", of.Name)
				return nil
			})(c, args)
		},
	}
	f.flags(c)
	return a.connection(c)
}
