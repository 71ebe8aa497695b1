// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
)

// Difference is a row that is not what it should be, or one that is missing.
type Difference struct {
	// What the row is: key, record, birth, decision, posting, edge, entity, member, search, change, redo or total; checksum if
	// it is not as it was written.
	What string `json:"what"`
	// Cell is where the row lies, or should lie.
	Cell cell.ID `json:"cell"`
	// ID names the row in its cell.
	ID     string `json:"id"`
	Stored string `json:"stored"`
	Want   string `json:"want"`
	// Advice says what a person can do about a row that cannot be made again from others.
	Advice string `json:"advice,omitempty"`
	// Repaired tells that the row is now as it should be.
	Repaired bool `json:"repaired,omitempty"`
}

// Progress is how far a check is.
type Progress struct {
	Cell cell.ID `json:"cell"`
	// Step is what is compared, Rows how many rows of it were.
	Step string `json:"step"`
	Rows int    `json:"rows"`
	// Done tells that all rows of the step in this cell were.
	Done bool `json:"done,omitempty"`
}

// Checking are the options of Check.
type Checking struct {
	// Cells are the cells whose rows are compared; all if nil. What they are compared with may lie anywhere.
	Cells []cell.ID
	// Repair has what differs resolved again from the records.
	Repair bool
	// Skip, if set, reports whether a step of a cell is passed over.
	Skip func(cell.ID, string) bool
	// Report is called for every difference, Progress, if set, after every page. An error ends the check.
	Report   func(Difference) error
	Progress func(Progress) error
}

const (
	checkPage  = 200 // rows that are compared at a time
	checkTries = 20  // how often rows are looked at that others keep writing
	// checkRounds is how often a repair checks everything, maxLeft how many differences it keeps for the last one.
	checkRounds = 4
	maxLeft     = 10_000
)

// ErrBusy says that rows could not be compared, because what they follow from was written all the time.
var ErrBusy = errors.New("resolve: rows were written all the time while they were compared")

// checker compares what is stored with what follows from the records.
type checker struct {
	*Resolver
	Checking
	carried   *carried
	damaged   map[entity.PUID]bool // records whose checksum is wrong
	abandoned waiting              // entries of redo sets that nothing works off
	busy      []string             // rows that could not be compared
	found     int                  // differences of this round
	kept      []Difference         // and those that were not repaired
	noted     []Difference         // and those to be told of
}

// checks is what a page of rows is compared by, in one look.
type checks struct {
	reading
	id      cell.ID
	keys    *cell.Directory[Tx] // remembers nothing from looks before
	carried *carried            // nil in a second look
	found   []suspect
}

// suspect is a difference that a look has found. Records that are being written may be the reason.
type suspect struct {
	Difference
	row   []any         // key of the row of the page
	about []entity.PUID // records that it follows from
	redo  []entity.PUID // records to be resolved again
	lost  []uint64      // features whose postings of the first of redo go
	mend  []mend        // and before that
}

// mend is a write in one cell.
type mend struct {
	cell  cell.ID
	write func(ctx context.Context, tx Tx) error
}

// step compares the rows of one table.
type step struct {
	name  string
	table string
	look  func(v *checks, ctx context.Context, rows [][]any) error
}

// steps in their order: what is compared later relies on what was repaired before.
var steps = []step{
	{"postings", "posting", (*checks).lookPostings},
	{"records", "record", (*checks).lookRecords},
	{"keys", "locus_key", (*checks).lookKeys},
	{"births", "birth", (*checks).lookBirths},
	{"decisions", "decision", (*checks).lookDecisions},
	{"edges", "edge", (*checks).lookEdges},
	{"entities", cell.JournaledEntity, (*checks).lookEntities},
	{"clusters", "record", (*checks).lookClusters},
}

// Check compares every row of cells with what it should be, while everything goes on. What differs is looked at
// again when nothing is left to follow from the records concerned, so that no
// write in flight is taken for damage. Without Repair nothing is written, nor is the lease taken. A repair does so, and checks again what
// it has made, until nothing differs or nothing more can be done. The error names the cells that could not be compared; what was found in others was reported.
func (r *Resolver) Check(ctx context.Context, opts Checking) error {
	if err := r.switching(); err != nil {
		return err
	}
	c := &checker{Resolver: r, Checking: opts, carried: newCarried(), abandoned: waiting{}}
	if c.Cells == nil {
		c.Cells = r.opts.Cells.Map().Cells()
	}
	for round := 1; ; round++ {
		c.found, c.kept = 0, nil
		err := c.round(ctx)
		if err != nil || c.found == 0 || !c.Repair || round == checkRounds {
			for _, d := range c.kept {
				err = errors.Join(err, opts.Report(d))
			}
			return err
		}
		c.Skip = nil
	}
}

// switching refuses to check while the rules change.
func (r *Resolver) switching() error {
	if c := r.Rules().Change(); c != nil {
		return fmt.Errorf("%w: kind %s since %v; check when that is done", ErrSwitching, c.Kind, c.Since)
	}
	return nil
}

// report notes a difference. One that a repair leaves may be gone after the next round.
func (c *checker) report(d Difference) {
	c.found++
	if c.Repair && !d.Repaired && len(c.kept) < maxLeft {
		c.kept = append(c.kept, d)
	} else {
		c.noted = append(c.noted, d)
	}
}

// flush tells of what was noted, while the lock of the resolver is not held: the reader may be slow.
func (c *checker) flush() error {
	noted := c.noted
	c.noted = nil
	for _, d := range noted {
		if err := c.Report(d); err != nil {
			return err
		}
	}
	return nil
}

// round is every step in every cell, once.
func (c *checker) round(ctx context.Context) (failed error) {
	c.damaged = map[entity.PUID]bool{}
	for _, id := range c.Cells {
		failed = errors.Join(failed, c.each(ctx, id, "checksums", func() error { return c.sums(ctx, id) }))
	}
	for _, s := range steps {
		c.carried.clear()
		for _, id := range c.Cells {
			failed = errors.Join(failed, c.each(ctx, id, s.name, func() error { return c.pages(ctx, id, s) }))
		}
	}
	for _, id := range c.Cells {
		failed = errors.Join(failed,
			c.each(ctx, id, "log", func() error { return c.log(ctx, id) }),
			c.each(ctx, id, "totals", func() error { return c.totals(ctx, id) }),
			c.each(ctx, id, "redo", func() error { return c.stays(ctx, id) }))
	}
	return failed
}

// each runs a step in a cell, unless it is to be skipped.
func (c *checker) each(ctx context.Context, id cell.ID, name string, run func() error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c.Skip != nil && c.Skip(id, name) {
		return nil
	}
	c.busy = nil
	err := errors.Join(run(), c.flush())
	if n := len(c.busy); err == nil && n > 0 {
		err = fmt.Errorf("%w: %s and rows of %d more pages", ErrBusy, c.busy[0], n-1)
	}
	if err != nil {
		return fmt.Errorf("check %s of cell %v: %w", name, id, err)
	}
	return c.tell(Progress{Cell: id, Step: name, Done: true})
}

func (c *checker) tell(p Progress) error {
	if c.Progress == nil {
		return nil
	}
	return c.Progress(p)
}

// pages compares the rows of a table, page by page.
func (c *checker) pages(ctx context.Context, id cell.ID, s step) error {
	var after []any
	for n := 0; ; {
		var rows [][]any
		var key int
		if err := c.view(ctx, id, func(tx Tx) (err error) {
			rows, err = tx.ReadRows(ctx, s.table, after, checkPage)
			return err
		}); err != nil {
			return err
		}
		if len(rows) == 0 {
			return nil
		}
		key = keyWidth(s.table)
		after = rows[len(rows)-1][:key]
		v := c.first(id)
		if err := s.look(v, ctx, rows); err != nil {
			return err
		}
		if len(v.found) > 0 {
			if err := c.settle(ctx, id, s, v.found); err != nil {
				return err
			}
		}
		n += len(rows)
		if err := c.tell(Progress{Cell: id, Step: s.name, Rows: n}); err != nil {
			return err
		}
	}
}

// keyWidth is how many values the key of a table has.
func keyWidth(table string) int {
	switch table {
	case "locus_key", "posting", "edge", "decision":
		return 2
	}
	return 1
}

// first is a look beside whatever is being written.
func (c *checker) first(id cell.ID) *checks { return c.checks(id, c.view, c.carried) }

func (c *checker) checks(id cell.ID, ask asking, carried *carried) *checks {
	v := &checks{reading: c.reading(), id: id, keys: cell.NewDirectory[Tx](c.opts.Cells), carried: carried}
	v.ask, v.unread = ask, map[entity.PUID]error{}
	return v
}
