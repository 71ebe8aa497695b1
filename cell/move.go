// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/lease"
)

// ErrOccupied means that a database cannot take a cell because that would delete its content; the text names the
// content and the remedy.
var ErrOccupied = problem.Class(problem.ErrConflict, "cell: the database is not empty")

// ErrLeft is the ErrOccupied for rows that Destination.Replace would delete.
var ErrLeft = fmt.Errorf("%w", ErrOccupied)

// Destination is where a cell moves to.
type Destination struct {
	// URL of the database, which is created if it does not exist.
	URL string
	// Replace allows the move to delete the rows that the cell left in the target when it moved away from it.
	Replace bool
}

// MoveOptions supply what Move does not know about the cell's content. All but Progress are required.
type MoveOptions[T Store] struct {
	// Owner names the process in errors of others that want to move the same cell.
	Owner string
	// Leases returns the leases in a transaction's cell.
	Leases func(T) lease.Store
	// Copier returns the rows of a transaction.
	Copier func(T) Copier
	// Made lists up to limit keys of rows that are rebuilt rather than copied (JournaledEntity), those after the given
	// key only.
	Made func(ctx context.Context, t T, after []any, limit int) ([][]any, error)
	// Make rebuilds the derived rows for keys in to from the rows in from, and deletes rows that from does not have. A
	// nil from has no rows.
	Make func(ctx context.Context, from, to Database[T], keys [][]any) error
	// Last copies the remaining content while writers wait.
	Last func(ctx context.Context, from, to T) error
	// Progress is called after every batch of rows.
	Progress func(MoveProgress)
}

// MoveProgress is the progress of a move.
type MoveProgress struct {
	// Step is copy, follow, switch, done, or there: nothing was moved, because the cell is in that database already.
	Step string `json:"step"`
	// Table is the table being copied.
	Table string `json:"table,omitempty"`
	// Rows is how many rows have been copied, Followed how many journal entries have been replayed.
	Rows     int64 `json:"rows"`
	Followed int64 `json:"followed"`
	// Pause is how long writers of the cell waited; it is set when the switch is over.
	Pause time.Duration `json:"pause_ns,omitempty"`
}

const (
	// moveBatch is how many rows are copied in one transaction.
	moveBatch = 1000
	// moveNear is the largest batch of journal entries at which the switch may begin: later entries are copied while
	// writers wait.
	moveNear = 200
	// moveRounds bounds how often the journal is read before the switch, for a cell that is written to faster than it
	// can be followed.
	moveRounds = 1000
)

// Move moves a cell to another database while it is written to. It copies the rows, then follows the journal of
// changes; then writers wait while the last changes are copied and the map is switched to the new database. Until the
// map is switched, every failure leaves the cell where it was, serving. Repeating the call starts an interrupted move
// again.
//
// Concurrent calls never lose a write. The head of the source names the attempt that may proceed; every transaction in
// which an attempt writes to the target, or switches, reads that name and fails if it is another's. An attempt that
// takes over from a silent one writes its name, then changes the epoch of the map: after that the former one can no
// longer switch, even if it was stopped just before.
//
// The target serves only once the map names it, and a serving database is never emptied. Before anything is deleted,
// the name, which is random, is looked for in the target. If it is there, source and target are one database, however
// their URLs are spelled, and the cell stays where it is.
//
// The error is ErrIdentity if the target is another cell, ErrOccupied if it has rows that no attempt at this move has
// written, and ErrConflict if another process is moving the cell.
func Move[T Store](ctx context.Context, c *Cells[T], id ID, to Destination, opts MoveOptions[T]) (MoveProgress, error) {
	m := &mover[T]{cells: c, id: id, to: to, opts: opts, attempt: rand.Text()}
	if opts.Progress == nil {
		m.opts.Progress = func(MoveProgress) {}
	}
	if err := m.run(ctx); err != nil {
		return m.progress, fmt.Errorf("move cell %v: %w", id, err)
	}
	return m.progress, nil
}

// mover is one attempt at moving a cell.
type mover[T Store] struct {
	cells    *Cells[T]
	id       ID
	to       Destination
	opts     MoveOptions[T]
	attempt  string // random
	owner    string // of the lease
	progress MoveProgress

	from   Database[T] // the source
	mark   string      // in the head of the source, and of the target once it was claimed; see move_own.go
	before Head        // of the source, as this attempt found it
	doubt  bool        // the map may name another home of the cell, now or soon
	target *target[T]
	full   bool    // the target has rows
	tables []Table // tables that are copied while the cell is written to
	seq    int64   // last journal entry that was replayed
}

func (m *mover[T]) run(ctx context.Context) error {
	leave, err := m.enter()
	if err != nil {
		return err
	}
	defer leave()
	if err := m.cells.Refresh(ctx); err != nil {
		return err
	}
	// The connection to the source is kept for the whole move: at the end its head is marked as moved, when the map
	// already leads to the target.
	home, err := m.cells.home(m.id)
	if err != nil {
		return err
	}
	conn, err := home.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.users.Done()
	m.from = conn.Opened
	ctx, release, err := m.own(ctx)
	if err != nil {
		return err
	}
	err = m.owned(ctx, conn.url)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errTaken) || errors.Is(err, errTaken) || errors.Is(err, ErrMoved) {
		err = fmt.Errorf("%w: %w", ErrConflict, errTaken)
	}
	return errors.Join(err, release())
}

// owned runs the move while this process holds its lease.
func (m *mover[T]) owned(ctx context.Context, at string) (err error) {
	if err := m.begin(ctx); err != nil {
		return errors.Join(err, m.giveUp(ctx))
	}
	if at == m.to.URL {
		return m.there(ctx)
	}
	opened, err := m.cells.Dial(ctx, m.to.URL, true)
	if err != nil {
		return errors.Join(unfit(err), m.giveUp(ctx))
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	m.target = &target[T]{Opened: opened, mark: m.mark}
	same, err := m.claim(ctx)
	if same {
		return m.there(ctx)
	}
	if err == nil {
		err = m.empty(ctx)
	}
	if err == nil {
		err = m.copy(ctx)
	}
	if err == nil {
		err = m.follow(ctx, moveNear)
	}
	if err == nil {
		err = m.change(ctx)
	}
	if err != nil {
		return errors.Join(err, m.giveUp(ctx))
	}
	m.tell("done", "")
	return nil
}

// there ends a move to the database where the cell already is, and removes what an interrupted move has left in it.
func (m *mover[T]) there(ctx context.Context) error {
	if err := m.giveUp(ctx); err != nil {
		return err
	}
	m.tell("there", "")
	return nil
}

func (m *mover[T]) tell(step, table string) {
	m.progress.Step, m.progress.Table = step, table
	m.opts.Progress(m.progress)
}
