// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) routeCommand() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "route ADDRESS",
		Short: "Show where an entity id, a puid or SOURCE:KEY lives, and why",
		Example: "  locus route vendor:88231\n" +
			"  locus route 80e51ef9-7a7f-bd53-7a50-01a1f8660d00 --url http://127.0.0.1:7070",
		Args: arguments("ADDRESS"),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			start := time.Now()
			var r locus.Route
			raw, err := cl.get(c.Context(), "/v1/route", url.Values{"address": args}, &r)
			if err != nil {
				return err
			}
			if a.json {
				err = a.printRaw(raw)
			} else {
				_, err = fmt.Fprint(a.stdout, routeText(&r, time.Since(start)))
			}
			if err == nil && !r.Found {
				err = &failure{Code: "not_found", Message: term.Clip(r.Address, 80) + ": nothing is stored there", Exit: exitNotFound}
			}
			return err
		}),
	})
}

// routeText is a line for what was asked for, with all that it costs, and one for each thing that
// it leads to.
func routeText(r *locus.Route, took time.Duration) string {
	var b strings.Builder
	cellOf := ""
	switch {
	case r.Key != nil:
		fmt.Fprintf(&b, "key     hash 0x%s   position 0x%08x", r.Key.Hash, r.Key.Position)
		for _, p := range r.Key.Probes {
			fmt.Fprintf(&b, "   cell %s (%s)", p.Cell, p.Why)
			if cellOf == "" {
				cellOf = p.Cell.String()
			}
		}
		fmt.Fprintf(&b, "   %s, %.1f ms\n", plural(r.Key.Cost, "probe"), float64(took.Microseconds())/1000)
	case r.PUID != nil:
		fmt.Fprintf(&b, "puid    %-36d   computed: %s\n", r.PUID.PUID, placed(r.PUID.Place, r.PUID.Why))
	case r.ID != nil:
		fmt.Fprintf(&b, "entity  %s   position 0x%08x   minted %s   computed: %s\n", r.ID.ID, r.ID.Position, r.ID.Time, placed(r.ID.Place, r.ID.Why))
	}
	if r.Record != nil && r.PUID == nil {
		fmt.Fprintf(&b, "puid    %-36s   computed, no database asked%s\n", *r.Record, inCell(cellOf))
	}
	if r.Entity != nil && r.ID == nil {
		fmt.Fprintf(&b, "entity  %s   computed, no database asked\n", r.Entity)
	}
	return b.String()
}

func placed(p *cell.Place, why string) string {
	if p == nil {
		return "no cell: " + why
	}
	return fmt.Sprintf("cell %s (%s)", p.Cell, why)
}

func inCell(name string) string {
	if name == "" {
		return ""
	}
	return ": cell " + name
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
