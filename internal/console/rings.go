// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/locus-db/locus/cell"
)

// The rings of all generations are drawn in the same square as the small ring, the oldest inside. They get thinner as
// their number grows.
const (
	bandsInner = 54.0
	bandsOuter = 148.0
	bandWidest = 30.0
	// bandsMost is how many generations are drawn. A map that doubles each time has fewer.
	bandsMost = 24
	// stops is the maximum number of pieces in the keyboard order. If there are more, the table serves the keyboard.
	stops = 128
)

// ring is the band of one generation, and its row in the table of generations.
type ring struct {
	Gen     int
	Role    cell.Role
	Cells   string // number of cells, by state
	Records string // total
	Starts  stamp  // date of its first ids
	When    string // for an announced generation: "starts in 41 min"
	// Drawn describes how many cells are drawn together, "" if each is drawn separately.
	Drawn  string
	Pieces []segment

	inner, outer float64
}

// segment is a piece of a band: one cell, or neighbours drawn as one.
type segment struct {
	Link  string
	Label string
	Class string
	Path  string
	// Rim is the outer edge of an open piece, Cover the pattern over a sealed or retired one.
	Rim   string
	Cover string
	// Stop reports whether the piece is in the keyboard order.
	Stop bool
}

// Name returns the name of the generation in the table.
func (h ring) Name() string { return "g" + strconv.Itoa(h.Gen) }

// Small reports whether the band is too thin for the name.
func (h ring) Small() bool { return h.outer-h.inner < 9 }

// Y returns the position of the name, at the top of the band.
func (h ring) Y() string {
	return figure(ringSize/2 - (h.inner+h.outer)/2)
}

// thickness returns the thickness of each of so many bands, including the gap.
func thickness(bands int) float64 { return min(bandWidest, (bandsOuter-bandsInner)/float64(bands)) }

// hoops lays out the generations of a map, the oldest first. link returns the address of a cell's row.
func hoops(m *cell.Map, known census, now time.Time, link func(cell.ID) string) []ring {
	first := max(0, m.Generations()-bandsMost)
	thick := thickness(m.Generations() - first)
	all := make([]ring, 0, m.Generations()-first)
	pieces := 0
	for g := first; g < m.Generations(); g++ {
		groups := known.groups(m, g)
		sum := total(groups)
		h := ring{
			Gen: g, Role: m.Role(g), Cells: sum.states(), Records: count(sum.Sum.Counts.Records),
			Starts: stamp(m.Starts(g)),
			inner:  bandsOuter - float64(m.Generations()-g)*thick,
		}
		h.outer = h.inner + thick - min(2.5, thick/5)
		if sum.Known < sum.Cells {
			h.Records += " or more"
		}
		if h.Role == cell.RoleAnnounced {
			h.When = startsIn(m.Starts(g).Sub(now))
			h.Cells, h.Records = count(int64(sum.Cells)), "–"
		}
		if len(groups) < sum.Cells {
			h.Drawn = fmt.Sprintf("%s are drawn as %d pieces", counted(int64(sum.Cells), "cell"), len(groups))
		}
		for i := range groups {
			h.Pieces = append(h.Pieces, h.slab(&groups[i], sum.Sum.Counts.Records, link))
		}
		pieces += len(h.Pieces)
		all = append(all, h)
	}
	for i := range all {
		for j := range all[i].Pieces {
			all[i].Pieces[j].Stop = pieces <= stops
		}
	}
	return all
}

func (h ring) slab(g *group, records int64, link func(cell.ID) string) segment {
	gap := 1.6 / (2 * math.Pi * h.outer)
	state := stateOf(h.Role, g)
	s := segment{Link: link(g.First), Path: slice(g.Arc, h.inner, h.outer, gap), Class: state}
	label := "Cell " + g.Name()
	if g.Cells > 1 {
		label = "Cells " + g.Name()
	}
	s.Label = label + ": " + state
	switch state {
	case stateAnnounced:
		s.Path = slice(g.Arc, h.inner, h.outer, 0)
		return s
	case stateUnknown:
		s.Label = label + ": unavailable, at least in part"
		return s
	case cell.Sealed.String(), cell.Retired.String():
		s.Cover = state
	case cell.Open.String():
		part := min(gap, g.Arc.Share()/4) / 2
		s.Rim = curve(g.Arc.From+part, g.Arc.To-part, h.outer)
	}
	level, words := load(g.Sum.Counts.Records, records, g.Arc.Share())
	s.Class += " load" + strconv.Itoa(level)
	s.Label += fmt.Sprintf(", %s, %s", counted(g.Sum.Counts.Records, "record"), words)
	return s
}

// States in addition to those of cell.KeyState.
const (
	stateAnnounced = "announced"
	stateUnknown   = "unknown"
)

// stateOf returns the word for the state of a piece, which is also its CSS class.
func stateOf(role cell.Role, g *group) string {
	switch {
	case role == cell.RoleAnnounced:
		return stateAnnounced
	case !g.whole():
		return stateUnknown
	default:
		return g.state().String()
	}
}

// load compares the records of a piece with its even share of the generation: as a colour from 0 to 5, and in words.
func load(records, all int64, share float64) (level int, words string) {
	if records <= 0 || all <= 0 || share <= 0 {
		return 0, "empty"
	}
	times := float64(records) / (float64(all) * share)
	words = strconv.FormatFloat(times, 'f', 2, 64) + " of an even share"
	for _, under := range []float64{0.5, 0.9, 1.1, 1.5} {
		level++
		if times < under {
			return level, words
		}
	}
	return level + 1, words
}

// startsIn returns the time until a generation starts, as text.
func startsIn(d time.Duration) string {
	switch {
	case d <= 0:
		return "has started, about to become current"
	case d < 2*time.Minute:
		return fmt.Sprintf("starts in %d s", int(math.Ceil(d.Seconds())))
	case d < 2*time.Hour:
		return fmt.Sprintf("starts in %d min", int(math.Ceil(d.Minutes())))
	case d < 48*time.Hour:
		return fmt.Sprintf("starts in %d h", int(math.Ceil(d.Hours())))
	default:
		return fmt.Sprintf("starts in %d days", int(math.Ceil(d.Hours()/24)))
	}
}
