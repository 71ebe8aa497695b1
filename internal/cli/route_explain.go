// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/internal/term"
)

// explainRoute prints the long form of a route. If the status is unavailable, it omits how full the cells are.
func (a *app) explainRoute(c *cobra.Command, cl *client, w *walked) error {
	var s cells.Status
	known := map[cell.ID]cells.CellStatus{}
	if _, err := cl.get(c.Context(), "/v1/status", nil, &s); err == nil {
		for _, of := range s.Cells {
			known[of.Cell] = of
		}
	}
	g := newGuide(known, a.out)
	switch {
	case w.Key != nil:
		g.key(w)
	case w.PUID != nil:
		g.puid(w.PUID)
	case w.ID != nil:
		g.id(w.ID)
	}
	if w.Record != nil && w.PUID == nil {
		g.line("puid", "%s   computed%s", *w.Record, inCell(w.record))
	}
	if w.Entity != nil && w.ID == nil {
		g.line("entity", "%s   computed%s", w.Entity, inCell(w.entity))
	}
	_, err := fmt.Fprint(a.stdout, g.String())
	return err
}

// guide writes the long form.
type guide struct {
	strings.Builder
	known map[cell.ID]cells.CellStatus
	style term.Style
}

func newGuide(known map[cell.ID]cells.CellStatus, style term.Style) *guide {
	style.Terminal = true // a drawing is always aligned
	return &guide{known: known, style: style}
}

func (g *guide) line(name, format string, args ...any) {
	fmt.Fprintf(g, "%-9s"+format+"\n", append([]any{name}, args...)...)
}

func (g *guide) key(w *walked) {
	k := w.Key
	g.line("key", "%s", term.Clip(w.Address, 160))
	g.line("hash", "0x%s   XXH64 of source and key", k.Hash)
	g.place(k.Position, "the upper half of the hash")
	g.layers(k.Layers, k.Position)
	steps := &term.Table{Header: []string{"probe", "cell", "state", "answer", "why"}, Right: map[int]bool{0: true}}
	for i, p := range k.Probes {
		steps.Add(strconv.Itoa(i+1), p.Cell.String(), p.State, string(p.Answer), p.Why)
	}
	g.table(steps)
	g.line("cost", "%s of %s, %s", cost(k), directories(k.Cost), ms(k, w.took))
	born := fmt.Sprintf("0x%08x to 0x%08x", k.Window.Lo, k.Window.Hi-1)
	if k.Window.From != "" {
		born += ", dated from " + k.Window.From
	}
	if k.Window.Until != "" {
		born += " until " + k.Window.Until
	}
	g.line("new ids", "%s: beside the key", born)
}

func directories(n int) string {
	if n == 1 {
		return "1 directory"
	}
	return fmt.Sprintf("%d directories", n)
}

func (g *guide) id(id *cell.EntityRoute) {
	g.line("entity", "%s", id.ID)
	g.place(id.Position, "its first 32 bits")
	g.line("time", "%s   its last 48 bits", id.Time)
	g.layers(id.Layers, id.Position)
	g.line("lives in", "%s", placed(id.Place, id.Why))
}

func (g *guide) place(position uint32, what string) {
	g.line("place", "0x%08x   %s, %.2f %% of the turn", position, what, 100*float64(position)/(1<<32))
}

// bandColumns is the width of a drawn band.
const bandColumns = 64

// layers draws a band for each generation, with a caret at the position, and a table of the cells.
func (g *guide) layers(layers []cell.Layer, position uint32) {
	fmt.Fprintf(g, "\n%-6s%-16s%-16s%-16s%-16s%s\n", "", "0", "2^30", "2^31", "3*2^30", "2^32")
	for i, l := range layers {
		fmt.Fprintf(g, "%-6s%s %s\n", "g"+strconv.Itoa(i), unrolled(&l), plural(int(l.Cells), "cell"))
	}
	fmt.Fprintf(g, "%*s\n\n", 6+int(position>>26)+1, "^")
	t := &term.Table{
		Header: []string{"cell", "generation", "starts", "state", "segment", "puids from", "to", "records", "used", "full"},
		Right:  map[int]bool{5: true, 6: true, 7: true, 8: true, 9: true},
	}
	for _, l := range layers {
		row := []string{
			l.Cell.String(), string(l.Role), l.Starts, g.state(l.Cell), fmt.Sprintf("0x%08x to 0x%08x", l.Lo, l.Hi-1),
			strconv.FormatInt(l.Puids.Lo, 10), strconv.FormatInt(l.Puids.Hi, 10),
		}
		t.Add(append(row, g.fill(l.Cell)...)...)
	}
	g.table(t)
}

// unrolled draws the ring of a generation as a line: the cell's segment is filled, and segment ends are marked where
// they can be distinguished.
func unrolled(l *cell.Layer) string {
	b := make([]byte, bandColumns+1)
	for i := range b {
		lo := uint64(i) << 32 / bandColumns
		hi := uint64(i+1) << 32 / bandColumns
		switch {
		case i == bandColumns, l.Cells <= bandColumns/2 && segmentStarts(l.Cells, lo, hi):
			b[i] = '|'
		case lo < l.Hi && hi > l.Lo:
			b[i] = '#'
		default:
			b[i] = '-'
		}
	}
	return string(b)
}

// segmentStarts reports whether a segment starts in lo to hi-1.
func segmentStarts(cells, lo, hi uint64) bool {
	next := (lo*cells + 1<<32 - 1) >> 32 // the first segment that starts at lo or later
	return (next<<32+cells-1)/cells < hi
}

func (g *guide) state(c cell.ID) string {
	s, ok := g.known[c]
	if !ok || s.PUIDRoom == 0 {
		return "?"
	}
	state := s.Head.Keys.String()
	if s.Filter {
		state += ", filter"
	}
	if s.Head.Home != cell.Serving {
		state += ", " + s.Head.Home.String()
	}
	return state
}

func (g *guide) fill(c cell.ID) []string {
	s, ok := g.known[c]
	if !ok || s.PUIDRoom == 0 {
		return []string{"?", "?", "?"}
	}
	return []string{
		term.Count(s.Counts.Records), term.Count(int64(s.PUIDs)),
		fullness(s.PUIDs, s.PUIDRoom),
	}
}

// fullness formats a percentage with two digits and never rounds a positive value to zero.
func fullness(used, room uint64) string {
	percent := 100 * float64(used) / float64(room)
	digits := 1
	for edge := 1.0; percent > 0 && percent < edge && digits < 12; edge /= 10 {
		digits++
	}
	return strconv.FormatFloat(percent, 'f', digits, 64) + " %"
}

// puid draws the ranges that begin at the same start, a column for each generation, so that they do not overlap.
func (g *guide) puid(p *cell.PuidRoute) {
	g.line("puid", "%d", p.PUID)
	g.line("range", "%s   its upper half, counted from the lowest puid", term.Count(int64(p.Slot)))
	g.line("start", "%s   of finest segment %s; the range lies %s behind", term.Count(int64(p.Slot-p.Distance)),
		term.Count(int64(p.Finest)), term.Count(int64(p.Distance)))
	g.WriteByte('\n')
	for i, s := range p.Slots {
		box, owner := "[ ]", "nobody's"
		if s.Cell != nil {
			box, owner = "[=]", s.Cell.String()
		}
		if uint64(i) == p.Distance {
			box = "[#]"
		}
		fmt.Fprintf(g, "%-6s%s%s %s   %d to %d\n", "g"+strconv.Itoa(i), strings.Repeat(" ", 3*i), box, owner, s.Lo, s.Hi)
	}
	g.WriteByte('\n')
	g.line("lives in", "%s", placed(p.Place, p.Why))
	if p.Place != nil {
		f := g.fill(p.Cell)
		g.line("cell", "%s; records %s, puids allocated %s, full %s", g.state(p.Cell), f[0], f[1], f[2])
	}
}

func (g *guide) table(t *term.Table) {
	_ = t.Write(g, g.style) // cannot fail in memory
	g.WriteByte('\n')
}
