// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/lease"
)

// ErrOccupied says that a database cannot take a cell, since that would delete what is in it; the text says what that is,
// and what to do.
var ErrOccupied = errors.New("cell: the database is not empty")

// ErrLeft is the ErrOccupied of rows that Destination.Replace would delete.
var ErrLeft = fmt.Errorf("%w", ErrOccupied)

// Destination is where a cell moves to.
type Destination struct {
	// URL of the database, which is made if it is not there.
	URL string
	// Replace lets the move delete the rows that the cell left behind when it moved away from that database.
	Replace bool
}

// MoveOptions say what Move cannot know of the cell's contents, and who is told how it goes on. All but
// Progress are required.
type MoveOptions[T Store] struct {
	// Owner names the process to those that want to move the same cell.
	Owner string
	// Leases returns the leases in a transaction's cell.
	Leases func(T) lease.Store
	// Copier answers with the rows of a transaction.
	Copier func(T) Copier
	// Made lists the keys of what is not copied but made again (JournaledEntity), those after the
	// key only, at most limit.
	Made func(ctx context.Context, t T, after []any, limit int) ([][]any, error)
	// Make makes, in to, what stands under these keys in from, and removes what does not. A from that
	// is nil has none of them.
	Make func(ctx context.Context, from, to Database[T], keys [][]any) error
	// Last copies what else has to follow while nobody writes.
	Last func(ctx context.Context, from, to T) error
	// Progress is told after every batch of rows.
	Progress func(MoveProgress)
}

// MoveProgress tells how far a move is.
type MoveProgress struct {
	// Step is copy, follow, switch, done, or there: nothing was moved, since the cell is in that database already.
	Step string `json:"step"`
	// Table is the one that is being copied.
	Table string `json:"table,omitempty"`
	// Rows is how many rows have been copied, Followed how many changes of the journal.
	Rows     int64 `json:"rows"`
	Followed int64 `json:"followed"`
	// Pause is how long writers of the cell have waited, once it is over.
	Pause time.Duration `json:"pause_ns,omitempty"`
}

const (
	// moveBatch is how many rows are copied in one transaction.
	moveBatch = 1000
	// moveNear is how many entries of the journal a batch may have for the cell to be switched: the
	// last of them are copied while writers wait.
	moveNear = 200
	// moveRounds bounds how often the journal is read before the switch, for a cell that is written to
	// faster than it can be followed.
	moveRounds = 1000
)

// Move moves a cell to another database while it is written to. Rows are copied, then what changed
// in the meantime; then writers wait while the last changes follow and the map says where the cell is now. Until the map
// says so every failure leaves the cell where it was, serving. A move that was interrupted is begun again by the same
// call.
//
// Several calls at one time never lose a write. The head of the source names the attempt that may go on; every
// transaction in which an attempt writes to the target, or switches, reads the name and fails if it is another's. An attempt
// that takes over from one that gave no sign of life writes its name, then changes the epoch of the map: after
// that the former one cannot switch any more, even if it was stopped just before.
//
// The target serves once the map names it, never before, and what serves is never emptied. Before anything is deleted the name,
// which is random, is read through the target: if it is there, both are one database, however their URLs are
// spelled, and the cell stays where it is.
//
// The error is ErrIdentity if another cell is there, ErrOccupied if there are rows that no attempt
// at this move has written, and ErrConflict if another process moves the cell now.
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

// mover is one Move: one attempt at moving a cell.
type mover[T Store] struct {
	cells    *Cells[T]
	id       ID
	to       Destination
	opts     MoveOptions[T]
	attempt  string // random
	owner    string // of the lease
	progress MoveProgress

	from   Database[T] // the source
	mark   string      // in the head of the source, and of the target once it was claimed; see mark.go
	before Head        // of the source, as this attempt found it
	doubt  bool        // the map may say, now or soon, that the cell has left
	target *target[T]
	full   bool    // the target has rows
	tables []Table // those that are copied while the cell is written to
	seq    int64   // the last entry of the journal that was followed
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
	// The source is held for as long as the move takes: afterwards it has to be told that the cell has
	// left, when the map leads to the new one already.
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

// owned is the move of who owns it.
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

// there ends a move to the database where the cell is already. What an interrupted move has left there is undone.
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
