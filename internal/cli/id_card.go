// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/locality"
)

type fields struct {
	Type     string      `json:"type,omitempty"` // of a line of a stream
	ID       locality.ID `json:"id"`
	Position uint32      `json:"position"`
	Counter  uint32      `json:"counter"`
	Process  uint16      `json:"process"`
	Node     string      `json:"node"`
	Millis   int64       `json:"time_ms"`
	Time     string      `json:"time"`
	Version  string      `json:"version"`
	// InDoubt reports that the counter may have been damaged by the Java class.
	InDoubt bool   `json:"counter_in_doubt"`
	Order   string `json:"order_guess,omitempty"`
	// Number is the number of ids in the window, 0 if the order is not sequential.
	Number uint32   `json:"window_number,omitempty"`
	Steps  *uint32  `json:"steps,omitempty"`
	Cell   *cell.ID `json:"cell,omitempty"`
}

const (
	sequential    = "sequential"
	notSequential = "not sequential"
)

// explainer explains ids, with a cell map if there is one.
type explainer struct {
	cells *cell.Map
	last  map[[6]byte]locality.ID // last id of each process and node
}

// newExplainer reads the map from a file, unless mapFile is "".
func newExplainer(mapFile string) (*explainer, error) {
	e := &explainer{last: map[[6]byte]locality.ID{}}
	if mapFile == "" {
		return e, nil
	}
	const hint = "a file with the JSON form of a cell map, which begins with {\"format\":\"locus-cellmap/1\""
	text, err := os.ReadFile(mapFile)
	if err != nil {
		return nil, usage(hint, "--map %.200q: cannot be read: %v", mapFile, errors.Unwrap(err))
	}
	if e.cells, err = cell.ParseMap(text); err != nil {
		return nil, usage(hint, "--map %.200q: %v", mapFile, err)
	}
	return e, nil
}

// explain returns the fields of an id that parseID accepted.
func (e *explainer) explain(id locality.ID) *fields {
	var is locality.Fields
	if id.Version() == 8 {
		is, _ = locality.FieldsV8(id)
	} else {
		is.PID, _ = id.PID()
		is.Node, _ = id.Node()
		is.Time, _ = id.Time()
	}
	f := &fields{
		ID: id, Position: id.Position(), Counter: id.Counter(), Process: is.PID,
		Node:   fmt.Sprintf("%x:%02x:%02x:%02x", is.Node>>24, is.Node>>16&0xff, is.Node>>8&0xff, is.Node&0xff),
		Millis: id.Millis(), Time: is.Time.Format(time.RFC3339Nano),
		Version: fmt.Sprintf("%x", id.Version()),
	}
	if id.Version() == 0xb {
		// From 2^31 on, the Java class overwrites bits 24 to 27 of the counter with its sign.
		f.InDoubt = f.Counter >= 1<<31 && f.Counter>>24&0xf == 0xf
		f.Order = notSequential
		if n, ok := id.WindowCount(); ok {
			f.Order, f.Number = sequential, n
		}
	}
	if e.cells != nil {
		if c, err := e.cells.Entity(id); err == nil {
			f.Cell = &c
		}
	}
	return f
}

// card formats an id.
func (e *explainer) card(id locality.ID) string {
	f := e.explain(id)
	var b strings.Builder
	fmt.Fprintf(&b, "id        %s\nposition  0x%08x   %.4f %% of the way round the ring\n", f.ID, f.Position,
		float64(f.Position)/(1<<32)*100)
	fmt.Fprintf(&b, "counter   %s (0x%08x)", term.Count(int64(f.Counter)), f.Counter)
	if f.InDoubt {
		b.WriteString("   7th digit is f: if Java made it, bits 24..27 are unknown")
	}
	fmt.Fprintf(&b, "\nprocess   %-14snode  %-18stime  %s UTC (%d)\n", term.Count(int64(f.Process)), f.Node,
		time.UnixMilli(f.Millis).UTC().Format("2006-01-02 15:04:05.000"), f.Millis)
	switch f.Order {
	case sequential:
		fmt.Fprintf(&b, "order     sequential: number %s of its window", term.Count(int64(f.Number)))
	case notSequential:
		b.WriteString("order     not sequential: not within 2^24 after its window's base")
	default:
		b.WriteString("version   8: read as Locus lays it out, but such an id may be anybody's")
	}
	if e.cells != nil {
		b.WriteString("        cell  " + e.where(f.Cell))
	}
	return b.String() + "\n"
}

// where describes the cell of an id.
func (e *explainer) where(c *cell.ID) string {
	if c == nil {
		return "none: the time of the id is later than the map covers (--map)"
	}
	return fmt.Sprintf("generation %d, cell %d of %d (--map)", c.Gen, c.Index, e.cells.Count(int(c.Gen)))
}
