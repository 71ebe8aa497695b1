// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/locality"
)

// Sink is a target of events. A driver runs sinktest.Run to certify itself.
type Sink interface {
	// Position returns the position that the target stored last, and the zero Position if it has stored none. The
	// error is ErrNoPosition if the target stores no positions: Locus stores them then.
	Position(ctx context.Context) (Position, error)
	// Deliver delivers a batch and returns once the target has it durably. Applying a batch twice, or after a later
	// one, leaves for each ID the event with the highest rev. A target that stores positions is called by one goroutine
	// at a time, and stores events, position and token in one transaction; others are called by several goroutines,
	// never with the same ID at the same time.
	//
	// The error is a *RejectedError if the target will never accept some of the events and has accepted the others.
	// It wraps ErrFenced if the target has seen a higher token, and ErrStop if the sink is to be paused. After any
	// other error the batch may have been applied, and the caller repeats it.
	Deliver(ctx context.Context, batch Batch) error
	// Close releases the connections. Deliver is not called any more.
	Close() error
}

var (
	// ErrNoPosition means that the target stores no positions.
	ErrNoPosition = errors.New("sink: the target stores no positions")
	// ErrFenced means that another owner with a higher token delivers to the target. Nothing was applied.
	ErrFenced = errors.New("sink: fenced: a process with a higher token delivers")
	// ErrStop means that the sink must be paused until a person has looked at it, for the reason in the text.
	ErrStop = errors.New("sink: paused")
	// ErrForeign means that the target has the position of another installation.
	ErrForeign = fmt.Errorf("%w: the target belongs to another installation", ErrStop)
)

// Batch is a part of the feed. It has each ID at most once, and may have no events, to store only the position.
type Batch struct {
	// Token is the token of the lease under which the batch is delivered.
	Token int64
	// Events have increasing revs.
	Events []Event
	// Position is true after the events. It is nil for a target that stores no positions.
	Position *Position
	// Sweep, if not 0, ends a fill: every existing ID was delivered with a rev of at least Sweep. A target that can
	// list its IDs marks those with lower revs as deleted, because they were lost when a backup was restored.
	Sweep int64
}

// Rejected is an event that the target will never accept, and why.
type Rejected struct {
	ID     locality.ID
	Reason string
}

// RejectedError lists the rejected events of a batch. The others were accepted.
type RejectedError struct{ Events []Rejected }

// Error names the first rejected events.
func (e *RejectedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d events were rejected", len(e.Events))
	for i, r := range e.Events {
		if i == 3 {
			b.WriteString("; ...")
			break
		}
		fmt.Fprintf(&b, "; %v: %s", r.ID, r.Reason)
	}
	return b.String()
}

// Apart writes each event of the batch separately, and then the position, to find the events that a target will never
// accept. rejected returns the reason for such an error; for any other error it returns "", and Apart ends. The error
// is a *RejectedError if there are such events.
func (b Batch) Apart(write func(Batch) error, rejected func(error) string) error {
	var all []Rejected
	for _, e := range b.Events {
		if err := write(Batch{Token: b.Token, Events: []Event{e}}); err != nil {
			reason := rejected(err)
			if reason == "" {
				return err
			}
			all = append(all, Rejected{ID: e.ID, Reason: reason})
		}
	}
	b.Events = nil
	if err := write(b); err != nil {
		return err
	}
	if all == nil {
		return nil
	}
	return &RejectedError{Events: all}
}

// Position is how far a sink is.
type Position struct {
	// Installation is the ID of the cell map. It is "" in the zero Position.
	Installation string `json:"installation"`
	// Token is the token of the owner that stored the position.
	Token int64 `json:"token,string,omitempty"`
	// Begun is when the fill began, and Base the lowest rev that it could use. Swept reports that IDs with lower revs
	// were removed from the target.
	Begun time.Time `json:"begun"`
	Base  int64     `json:"base,string"`
	Swept bool      `json:"swept"`
	// Cells has the position in each cell. A cell added later is filled, and followed from the beginning of its log.
	Cells map[cell.ID]CellPosition `json:"cells"`
	// Again has IDs to be read again, sorted, because the cells do not agree yet on their state.
	Again []locality.ID `json:"again,omitempty"`
}

// CellPosition is the position in one cell.
type CellPosition struct {
	// At is the position in the log up to which all touched IDs were delivered, and Time the time of that change, or
	// of the start of the fill.
	At   changelog.Seq `json:"at,string"`
	Time time.Time     `json:"time"`
	// After is the last ID filled, Filled reports that there are no more, and Count is how many were read.
	After  locality.ID `json:"after,omitzero"`
	Filled bool        `json:"filled"`
	Count  int64       `json:"count"`
}

// Filled reports whether all cells are filled.
func (p *Position) Filled() bool {
	for _, c := range p.Cells {
		if !c.Filled {
			return false
		}
	}
	return p.Installation != ""
}

// Change is an entry of a cell's log, as a target receives it.
type Change struct {
	Cell cell.ID `json:"cell"`
	changelog.Change
}

// ChangeSink is a target of changes: an audit trail of all events, whereas a Sink has the current state.
type ChangeSink interface {
	// DeliverChanges delivers changes of one cell in order, and returns once the target has them durably. It is called
	// for several cells at once. delivered is how many of the first changes it has, also with an error, after which the
	// others are repeated. The target may already have some of these, so a consumer drops changes of a cell whose seq
	// is not higher than the highest it has. The error wraps ErrStop if the target will never accept the next one.
	DeliverChanges(ctx context.Context, changes []Change) (delivered int, err error)
	// Close releases the connections.
	Close() error
}
