// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) routeCommand() *cobra.Command {
	var explain bool
	c := a.connection(&cobra.Command{
		Use:   "route ADDRESS",
		Short: "Show the cell of an entity id, a puid or SOURCE:KEY, and why it is there",
		Example: "  locus route vendor:88231 --explain\n" +
			"  locus route 80e51ef9-7a7f-bd53-7a50-01a1f8660d00 --url http://127.0.0.1:7070",
		Args: arguments("ADDRESS"),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			start := time.Now()
			w := &walked{}
			raw, err := cl.get(c.Context(), "/v1/route", url.Values{"address": args}, &w.Route)
			if err != nil {
				return err
			}
			w.took = time.Since(start)
			switch {
			case a.json:
				err = a.printRaw(raw)
			case explain:
				w.on(c, cl)
				err = a.explainRoute(c, cl, w)
			default:
				w.on(c, cl)
				_, err = fmt.Fprint(a.stdout, w.text())
			}
			if err == nil && !w.Found {
				err = &failure{Code: "not_found", Message: term.Clip(w.Address, 80) + ": nothing is stored under it",
					Exit: exitNotFound}
			}
			return err
		}),
	})
	c.Flags().BoolVar(&explain, "explain", false, "show every generation, the path through them, ranges and sizes")
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if negative.MatchString(err.Error()) {
			return usage("locus route -- "+negative.FindStringSubmatch(err.Error())[1], "a negative puid looks like a flag")
		}
		return c.Root().FlagErrorFunc()(c, err)
	})
	return c
}

// negative finds a negative puid in the error about an unknown flag.
var negative = regexp.MustCompile(`in (-[0-9]+)$`)

// walked is the route of an address, with the cells of the data found there.
type walked struct {
	explain.Route
	record, entity *cell.ID // cells of the record and the entity
	took           time.Duration
}

// on computes the cells of the record and the entity by the server's map. Without an answer they stay empty.
func (w *walked) on(c *cobra.Command, cl *client) {
	m, _, err := newestMap(c, cl)
	if err != nil {
		return
	}
	if w.Record != nil {
		if id, err := m.Puid(int64(*w.Record)); err == nil {
			w.record = &id
		}
	}
	if w.Entity != nil {
		if id, err := m.Entity(*w.Entity); err == nil {
			w.entity = &id
		}
	}
}

// text returns a line for the address, with the cost of the lookup, and one for each thing found.
func (w *walked) text() string {
	var b strings.Builder
	switch {
	case w.Key != nil:
		fmt.Fprintf(&b, "key     hash 0x%08x", w.Key.Position)
		for _, p := range w.Key.Probes {
			switch {
			case p.Answer != cell.AnswerNotAsked:
				fmt.Fprintf(&b, "   cell %s: %s", p.Cell, short[p.Answer])
			case w.Key.Asked+w.Key.Saved == 0:
				fmt.Fprintf(&b, "   cell %s", p.Cell)
			}
		}
		fmt.Fprintf(&b, "   %s, %s\n", cost(w.Key), ms(w.Key, w.took))
	case w.PUID != nil:
		fmt.Fprintf(&b, "puid    %-36d   computed: %s\n", w.PUID.PUID, placed(w.PUID.Place, w.PUID.Why))
	case w.ID != nil:
		fmt.Fprintf(&b, "entity  %s   computed: %s\n", w.ID.ID, placed(w.ID.Place, w.ID.Why))
	}
	if w.Record != nil && w.PUID == nil {
		fmt.Fprintf(&b, "puid    %-36s   computed%s\n", *w.Record, inCell(w.record))
	}
	if w.Entity != nil && w.ID == nil {
		fmt.Fprintf(&b, "entity  %s   computed%s\n", w.Entity, inCell(w.entity))
	}
	return b.String()
}

// short abbreviates the answers of probes.
var short = map[cell.Answer]string{
	cell.AnswerNo: "no", cell.AnswerFilterNo: "filtered", cell.AnswerFound: "yes", cell.AnswerUnavailable: "unavailable",
}

// cost describes the cost of a lookup, actual or expected.
func cost(k *cell.KeyRoute) string {
	switch {
	case k.Asked+k.Saved == 0:
		return plural(k.Cost, "probe")
	case k.Saved == 0:
		return plural(k.Asked, "probe")
	default:
		return fmt.Sprintf("%s, %d saved by filters", plural(k.Asked, "probe"), k.Saved)
	}
}

// ms returns the time of a lookup: by the server's clock, or by ours including the network.
func ms(k *cell.KeyRoute, took time.Duration) string {
	if k.TookMS > 0 {
		return fmt.Sprintf("%.1f ms", k.TookMS)
	}
	return fmt.Sprintf("%.1f ms", float64(took.Microseconds())/1000)
}

func placed(p *cell.Place, why string) string {
	if p == nil {
		return "no cell: " + why
	}
	return fmt.Sprintf("cell %s (%s)", p.Cell, why)
}

func inCell(c *cell.ID) string {
	if c == nil {
		return ""
	}
	return ": cell " + c.String()
}
