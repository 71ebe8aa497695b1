// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) cellCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "cell",
		Short: "List, grow, move and compact cells while reads and writes continue",
		Example: "  locus cell list\n" +
			"  locus cell grow --to 48 --wait",
	}
	c.AddCommand(
		a.cellList(), a.cellShow(), a.cellMapCommand(), a.cellPlan(), a.cellGrow(), a.cellCompact(), a.cellMove(),
		a.cellRestored(),
	)
	return c
}

// errUnavailable returns the error for a list that lacks unavailable cells.
func errUnavailable(cells []string) error {
	if len(cells) == 0 {
		return nil
	}
	text := cells[0] + " is unavailable"
	if len(cells) > 1 {
		text = fmt.Sprintf("%d cells are unavailable, among them %s", len(cells), cells[0])
	}
	return &failure{Code: "unavailable", Message: text,
		Hint: "check whether its database is up; locus route shows what is stored there", Exit: exitUnavailable}
}

func (a *app) cellList() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "list",
		Short: "List the cells with their databases, states and sizes",
		Example: "  locus cell list\n" +
			"  locus cell list --json | jq -r 'select(.keys == \"open\").cell'",
		Args: arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			var list struct {
				httpapi.CellList
				Cells []json.RawMessage `json:"cells"`
			}
			if _, err := cl.get(c.Context(), "/v1/cells", nil, &list); err != nil {
				return err
			}
			var unavailable []string
			t := &term.Table{
				Header: []string{"cell", "role", "keys", "home", "epoch", "records", "entities", "puids", "used", "redo",
					"bytes", "url"},
				Right: map[int]bool{4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true},
			}
			for _, raw := range list.Cells {
				var of httpapi.Cell
				if err := json.Unmarshal(raw, &of); err != nil {
					return fmt.Errorf("read a cell: %w", err)
				}
				if !of.Answers {
					unavailable = append(unavailable, of.Cell.String())
				}
				if a.json {
					if err := a.printRaw(typed("result", raw)); err != nil {
						return err
					}
					continue
				}
				t.Add(cellRow(&of)...)
			}
			if a.json {
				if err := a.printJSON(map[string]any{"type": "summary", "count": len(list.Cells), "unavailable": len(unavailable), "epoch": list.Epoch}); err != nil {
					return err
				}
				return errUnavailable(unavailable)
			}
			a.say("%s", generationsLine(&list.CellList))
			if err := a.printTable(t); err != nil {
				return err
			}
			return errUnavailable(unavailable)
		}),
	})
}

// generationsLine describes the growth of the installation.
func generationsLine(list *httpapi.CellList) string {
	parts := make([]string, 0, len(list.Generations))
	for _, g := range list.Generations {
		parts = append(parts, fmt.Sprintf("%d %s", g.Cells, g.Role))
	}
	text := fmt.Sprintf("epoch %d   cells by generation: %s", list.Epoch, strings.Join(parts, ", "))
	if !list.Until.IsZero() {
		text += "   covers ids until " + list.Until.UTC().Format(time.RFC3339)
	}
	return text
}

func cellRow(of *httpapi.Cell) []string {
	row := []string{of.Cell.String(), string(of.Role)}
	if !of.Answers {
		return append(row, "unavailable", "", "", "", "", "", "", "", "", of.URL)
	}
	keys := of.Keys.String()
	if of.Filter {
		keys += ", filter"
	}
	return append(
		row, keys, of.Home.String(), fmt.Sprint(of.Epoch), fmt.Sprint(of.Records), fmt.Sprint(of.Entities),
		fmt.Sprint(of.PUIDs),
		percent(of.PUIDs, of.PUIDRoom), fmt.Sprint(of.Redo), fmt.Sprint(of.Bytes), of.URL,
	)
}

func (a *app) cellShow() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "show CELL",
		Short: "Show one cell: its segment of the ring, its puids, its state and its database",
		Example: "  locus cell show g0-3\n" +
			"  locus cell show g1-19 --json | jq .puid_range",
		Args: arguments("CELL"),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			var of httpapi.CellDetail
			raw, err := cl.get(c.Context(), "/v1/cells/"+url.PathEscape(args[0]), nil, &of)
			if err != nil {
				return err
			}
			if a.json {
				err = a.printRaw(raw)
			} else {
				_, err = fmt.Fprint(a.stdout, cellCard(&of))
			}
			if err == nil && !of.Answers {
				err = errUnavailable([]string{of.Cell.Cell.String()})
			}
			return err
		}),
	})
}

func cellCard(of *httpapi.CellDetail) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s"+format+"\n", append([]any{name}, args...)...)
	}
	line("cell", "%s   one of %d of generation %d, %s", of.Cell.Cell, of.Cells, of.Cell.Cell.Gen, of.Role)
	line("url", "%s", term.Escape(of.URL))
	line("segment", "0x%08x to 0x%08x   %.4g %% of the ring", of.SegmentLo, of.SegmentHi-1, 100*of.Share)
	line("ids", "dated %s", dated(of.Starts, of.Ends, of.Cell.Cell.Gen == 0))
	if of.Puids != nil {
		line("puids", "%d to %d   %s allocated, %s", of.Puids.Lo+1, of.Puids.Hi, term.Count(int64(of.PUIDs)),
			percent(of.PUIDs, of.PUIDRoom))
	}
	if !of.Answers {
		line("state", "it is unavailable")
		return b.String()
	}
	state := of.Keys.String()
	switch {
	case of.Filter:
		state += " for keys, with a filter of them"
	case state == "open":
		state += " for keys"
	}
	line("state", "%s   %s, in its %s database   knows epoch %d", state, of.Home, ordinal(of.Incarnation), of.KnownEpoch)
	line("holds", "%s, %s   %d to redo   %s bytes", counted(of.Records, "record", "records"),
		counted(of.Entities, "entity", "entities"), of.Redo, term.Count(of.Bytes))
	return b.String()
}

// dated describes when the ids of a generation were minted.
func dated(from, until time.Time, first bool) string {
	day := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	switch {
	case first && until.IsZero():
		return "at any time"
	case first:
		return "before " + day(until)
	case until.IsZero():
		return "from " + day(from)
	default:
		return "from " + day(from) + " until " + day(until)
	}
}

func ordinal(n int) string {
	switch {
	case n%10 == 1 && n%100 != 11:
		return fmt.Sprint(n, "st")
	case n%10 == 2 && n%100 != 12:
		return fmt.Sprint(n, "nd")
	case n%10 == 3 && n%100 != 13:
		return fmt.Sprint(n, "rd")
	default:
		return fmt.Sprint(n, "th")
	}
}
