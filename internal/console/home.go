// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"strings"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/counter"
)

// Snapshot is what the first screen shows: the state at one moment.
type Snapshot struct {
	Time    time.Time
	Status  *cells.Status
	Map     *cell.Map
	Joins   []changes.Match // the latest, the newest first
	History *History        // of Own's records
	// Own is today by minute of the metrics that Locus counts itself by, as far as they are; nil if that cannot be read.
	Own *counter.Series
	// Review is how many pairs wait for a person; ReviewMore tells that there are more than that.
	Review     int
	ReviewMore bool
	// Address is how the viewer reached this server, such as 127.0.0.1:7070. It stands in commands.
	Address string
}

// Home writes the first screen: tiles, what Locus counts of itself, the ring with its table, and the latest joins.
func (c *Console) Home(w io.Writer, s Snapshot) error {
	gen := s.Status.Generation
	groups := censusOf(s.Status).groups(s.Map, gen)
	return c.render(w, "home", "", home{
		Live:  c.Live(s),
		Kind:  kindsOf(s.Status),
		Rate:  command("curl", "-s", s.Address+"/metrics"),
		Gen:   gen,
		Made:  counted(int64(s.Map.Count(gen)), "cell"),
		Gens:  s.Map.Generations(),
		Cells: pieces(groups),
		Even:  ringInner + (ringOuter-ringInner)*ringEven,
		Share: percent(groups[0].Arc.Share(), 1),
		of:    int(s.Map.Count(gen)),
		Own:   ownLines(),
		Hits:  picturesOf(Hits, DayView, s.Time, s.Time, Half, "Hits by minute, today over yesterday"),
	})
}

// home is the first screen, with the slots in it.
type home struct {
	Live
	Kind  string
	Rate  string // the command that counts what is written
	Gen   int    // the current generation
	Made  string // how many cells it has
	Gens  int    // how many generations there are
	Cells []piece
	Even  float64 // radius of the circle that marks an even share
	Share string  // what an even share is
	of    int     // cells
	Own   []ownLine
	Hits  pictures // of the hits of today
}

// Drawn says that cells are drawn together; "" if each is drawn.
func (h home) Drawn() string {
	if len(h.Cells) == h.of {
		return ""
	}
	return "Each piece is several neighbouring cells."
}

// Size is the side of the square that the ring is drawn in.
func (home) Size() int { return ringSize }

// Middle is the middle of that square.
func (home) Middle() int { return ringSize / 2 }

// Outer is the radius of a full cell.
func (home) Outer() float64 { return ringOuter }

// Counted tells whether there is a picture of hits.
func (h home) Counted() bool { return strings.HasSuffix(h.Page, withHits) }

// Blank is the line that the module makes new ones from.
func (home) Blank() join { return join{} }

// kindsOf names the kinds of things.
func kindsOf(s *cells.Status) string {
	names := make([]string, len(s.Kinds))
	for i, k := range s.Kinds {
		names[i] = k.Kind
	}
	return strings.Join(names, ", ")
}
