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

// Snapshot is the content of the operations page at one moment.
type Snapshot struct {
	Time    time.Time
	Status  *cells.Status
	Map     *cell.Map
	Joins   []changes.Match // the latest matches, the newest first
	History *History        // of the records written
	// Own holds the self-metrics of today by minute; nil if they cannot be read.
	Own *counter.Series
	// Review is how many pairs are in the review queue; ReviewMore reports that there are more than that.
	Review     int
	ReviewMore bool
	// Address is the address that the viewer used, such as 127.0.0.1:7070. It is shown in commands.
	Address string
}

// Operations writes the page of operations: tiles, self-metrics, the ring with its table, and the latest matches.
func (c *Console) Operations(w io.Writer, s Snapshot) error {
	gen := s.Status.Generation
	groups := censusOf(s.Status).groups(s.Map, gen)
	return c.render(w, "operations", "", operations{
		Live:  c.Live(s),
		As:    clock(s.Time),
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
		Hits:  picturesOf(Hits, DayView, s.Time, s.Time, Half, "Hits by minute, today and yesterday"),
	})
}

// operations is the page of operations with its slots.
type operations struct {
	Live
	As    string // time of day in UTC
	Kind  string
	Rate  string // the command that shows the write rate
	Gen   int    // the current generation
	Made  string // its number of cells
	Gens  int    // number of generations
	Cells []piece
	Even  float64 // radius of the circle for an even share
	Share string  // size of an even share
	of    int     // number of cells
	Own   []ownLine
	Hits  pictures // hits of today
}

// Drawn describes how many cells are drawn together, "" if each is drawn separately.
func (o operations) Drawn() string {
	if len(o.Cells) == o.of {
		return ""
	}
	return "Each piece stands for several neighbouring cells."
}

// Size returns the side of the square of the ring.
func (operations) Size() int { return ringSize }

// Middle returns the centre of that square.
func (operations) Middle() int { return ringSize / 2 }

// Outer returns the radius of a full cell.
func (operations) Outer() float64 { return ringOuter }

// Counted reports whether there is a picture of hits.
func (o operations) Counted() bool { return strings.HasSuffix(o.Page, withHits) }

// Blank returns the template for new rows.
func (operations) Blank() join { return join{} }

// kindsOf lists the names of the kinds.
func kindsOf(s *cells.Status) string {
	names := make([]string, len(s.Kinds))
	for i, k := range s.Kinds {
		names[i] = k.Kind
	}
	return strings.Join(names, ", ")
}
