// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/storage"
)

// Difference is a row that is missing or differs from its expected content.
type Difference struct {
	// What is the type of row: key, record, birth, decision, posting, edge, entity, member, search, change,
	// redo or total; checksum if the row is not as it was written.
	What string `json:"what"`
	// Cell is the cell of the row, or where it should be.
	Cell cell.ID `json:"cell"`
	// ID identifies the row within its cell.
	ID     string `json:"id"`
	Stored string `json:"stored"`
	Want   string `json:"want"`
	// Advice tells the operator how to restore a row that cannot be derived from others.
	Advice string `json:"advice,omitempty"`
	// Repaired reports whether the row was repaired.
	Repaired bool `json:"repaired,omitempty"`
}

// Progress is the progress of a check.
type Progress struct {
	Cell cell.ID `json:"cell"`
	// Step is the current step, Rows the number of rows compared so far.
	Step string `json:"step"`
	Rows int    `json:"rows"`
	// Done marks the end of the step in this cell.
	Done bool `json:"done,omitempty"`
}

// Checking are the options of Check.
type Checking struct {
	// Cells are the cells to check; all if nil. The rows they are compared with may be in any cell.
	Cells []cell.ID
	// Repair resolves differing records again.
	Repair bool
	// Skip, if set, reports whether to skip a step of a cell.
	Skip func(cell.ID, string) bool
	// Report is called for every difference and Progress, if set, after every page. An error stops the
	// check.
	Report   func(Difference) error
	Progress func(Progress) error
}

const (
	checkPage  = 200 // rows compared at a time
	checkTries = 20  // maximum number of looks at a row that keeps changing
	// checkRounds is the maximum number of rounds of a repair, and maxLeft the number of unrepaired
	// differences kept for the last one.
	checkRounds = 4
	maxLeft     = 10_000
)

// ErrBusy means that rows could not be compared because their inputs were changing all the time.
var ErrBusy = problem.Class(problem.ErrUnavailable, "resolve: rows changed during each comparison")

// checker compares stored rows with those derived from the records.
type checker struct {
	*Resolver
	Checking
	carried   *carried
	damaged   map[entity.PUID]bool // records with a wrong checksum
	abandoned waiting              // redo entries that no process works off
	busy      []string             // rows that could not be compared
	found     int                  // number of differences in this round
	kept      []Difference         // unrepaired differences
	noted     []Difference         // differences to report
}

// checks compares one page of rows, in one look.
type checks struct {
	reading
	id      cell.ID
	keys    *cell.Directory[storage.Tx] // without cached keys of earlier looks
	carried *carried                    // nil in a second look
	found   []suspect
}

// suspect is a difference found by one look. A concurrent write may be the reason.
type suspect struct {
	Difference
	row     []any         // key of the row on the page
	about   []entity.PUID // records that the row is derived from
	redo    []entity.PUID // records to resolve again
	lost    []uint64      // blocking keys whose postings of redo[0] are removed
	repairs []repairWrite // writes before that
}

// repairWrite is a repairing write in one cell.
type repairWrite struct {
	cell  cell.ID
	write func(ctx context.Context, tx storage.Tx) error
}

type step struct {
	name  string
	table string
	look  func(v *checks, ctx context.Context, rows [][]any) error
}

// steps lists the steps in order: later ones rely on earlier repairs.
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

// Check compares every row of the cells with its expected content while the installation stays in use. It
// looks at differing rows again once no redo entry of their records is open, so that a write in progress is
// not taken for damage. Without Repair, Check writes nothing and does not take the lease. With Repair it
// does both, and repeats until nothing differs or nothing more can be repaired. The error names the cells
// that could not be compared; differences in other cells are reported.
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

// migrating returns an error while the rules are changing.
func (r *Resolver) switching() error {
	if err := r.Rules().outdated(); err != nil {
		return err
	}
	if c := r.Rules().Change(); c != nil && c.From != "" {
		return fmt.Errorf("%w from %s since %v; check when that is done", ErrUpgrading, c.From, c.Since)
	} else if c != nil {
		return fmt.Errorf("%w: kind %s since %v; check when that is done", ErrMigrating, c.Kind, c.Since)
	}
	return nil
}

// report records a difference. An unrepaired one is kept, because the next round of a repair may resolve
// it.
func (c *checker) report(d Difference) {
	c.found++
	if c.Repair && !d.Repaired && len(c.kept) < maxLeft {
		c.kept = append(c.kept, d)
	} else {
		c.noted = append(c.noted, d)
	}
}

// flush reports the recorded differences without holding the lock, because the receiver may be slow.
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

// each runs a step in a cell, unless it is skipped.
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

func (c *checker) pages(ctx context.Context, id cell.ID, s step) error {
	var after []any
	for n := 0; ; {
		var rows [][]any
		var key int
		if err := c.view(ctx, id, func(tx storage.Tx) (err error) {
			rows, err = tx.ReadRows(ctx, s.table, after, checkPage)
			return err
		}); err != nil {
			damaged, is := errors.AsType[*cell.DamagedError](err)
			if !is || s.table != tablePosting || !c.Repair {
				return err
			}
			if err := c.mendPostings(ctx, id); err != nil {
				return err
			}
			c.report(Difference{
				What: "checksum", Cell: id, ID: damaged.Table + " " + damaged.Key, Stored: damaged.Err.Error(),
				Want: "the row as it was written", Repaired: true,
			})
			continue
		}
		if len(rows) == 0 {
			return c.searchCarried(ctx, id, s, true)
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
		if err := c.searchCarried(ctx, id, s, false); err != nil {
			return err
		}
		n += len(rows)
		if err := c.tell(Progress{Cell: id, Step: s.name, Rows: n}); err != nil {
			return err
		}
	}
}

// keyWidth returns the number of key columns of a table.
func keyWidth(table string) int {
	switch table {
	case "locus_key", "posting", "edge", "decision":
		return 2
	}
	return 1
}

// first returns the checks of a first look, concurrent with writers.
func (c *checker) first(id cell.ID) *checks { return c.checks(id, c.view, c.carried) }

func (c *checker) checks(id cell.ID, ask asking, carried *carried) *checks {
	v := &checks{reading: c.reading(), id: id, keys: cell.NewDirectory[storage.Tx](c.opts.Cells), carried: carried}
	v.ask, v.unread = ask, map[entity.PUID]error{}
	return v
}
