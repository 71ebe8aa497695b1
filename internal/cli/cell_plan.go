// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/term"
)

func planText(p *cell.Plan) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s"+format+"\n", append([]any{name}, args...)...)
	}
	state := ""
	if p.Announced {
		state = ", announced already"
	}
	line("generation", "%d   %s%s", p.Generation, plural(int(p.Cells), "cell"), state)
	when := p.Starts.UTC().Format(time.RFC3339)
	if p.Wait > 0 {
		when += ", in " + term.Left(p.Wait) + ": until then the current cell map covers ids"
	}
	line("starts", "%s", when)
	line("moves", "0 rows; old cells keep their records and their ids")
	for _, g := range p.Generations {
		does := "takes new keys"
		if g.Role != cell.RoleCurrent {
			does = "is read for keys, takes no new ones"
		}
		line("", "generation %d: %s of %.3g %% of the ring, %s", g.Generation, plural(int(g.Cells), "cell"),
			100*g.Share, does)
	}
	for _, s := range p.Servers {
		line("server", "%s   %s now, then %d, %d of them for new keys", term.Escape(s.Server), plural(s.Before, "cell"),
			s.After, s.New)
	}
	line("look-ups", "of a new key %.2f now, then %.2f   of one that is there %.2f, then %.2f", p.Before.FilteredNew,
		p.After.FilteredNew, p.Before.FilteredThere, p.After.FilteredThere)
	if p.Room == 0 {
		line("room", "no further generation like that is possible")
	} else {
		line("room", "%s more like that, up to %s cells", plural(p.Room, "generation"), term.Count(int64(p.RoomCells)))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
