// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"syscall"
)

// ErrIdentity says that a database is not the cell that it should be: another
// cell, of another map, made under other rules, or a copy.
var ErrIdentity = errors.New("cell: not the cell that it should be")

// ErrFormat says that a database is no cell, or was written by a newer Locus.
var ErrFormat = errors.New("cell: unknown format")

// ErrURL says that a url cannot be where a cell lives; the text says which part of it is
// wrong, and shows one that is right.
var ErrURL = errors.New("cell: unusable url")

// ErrClock says that the clock of the machine shows a time that no id can hold.
var ErrClock = errors.New("cell: the clock is wrong")

// ErrPreflight says that a database, its server or the way to it lacks what durability
// or secrecy rest on; the text names the rule.
var ErrPreflight = errors.New("cell: preflight")

// ErrUnavailable is wrapped by errors of a cell that cannot be asked, or takes no
// work. It is never "not found", and nothing was done.
var ErrUnavailable = errors.New("cell: cell unavailable")

// ErrFiles says that the process, or its machine, has as many files open as it may have.
// It comes with ErrUnavailable.
var ErrFiles = errors.New("too many open files: raise the limit of the process (ulimit -n, or LimitNOFILE= of its unit) and start it again")

// OutOfFiles adds ErrFiles to an error of the system that says so.
func OutOfFiles(err error) error {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return fmt.Errorf("%w: %w: %w", ErrUnavailable, ErrFiles, err)
	}
	return err
}

// ErrUnknownOutcome is wrapped by errors of a commit whose answer was lost: it may
// have been done. All other errors of a transaction mean that it was not.
var ErrUnknownOutcome = errors.New("cell: outcome unknown")

// Database is a cell as a database: how its transactions are run. T is what they
// are given: a Store, and whatever else lives in the same cells. All methods hand on
// the error of fn, as errors.Is sees it; after one nothing was written. fn may be run
// again if the database asks for that, so it must do nothing that lasts but by T.
type Database[T Store] interface {
	// Update commits what fn wrote, durably. Updates of one cell may run side by side.
	Update(ctx context.Context, fn func(T) error) error
	// Exclusive is an Update that runs alone: it waits for the updates in flight,
	// others wait for it, and it is not overtaken by those that come after it.
	Exclusive(ctx context.Context, fn func(T) error) error
	// View reads one snapshot. Writing in it is an error.
	View(ctx context.Context, fn func(T) error) error
	// Read is a View for who reads what it wrote itself: a database that keeps pages in
	// memory by connection reads them there.
	Read(ctx context.Context, fn func(T) error) error
}

// Opened is a cell's database, opened.
type Opened[T Store] interface {
	Database[T]
	// Identify writes who the cell is into a new database, and compares it with what an
	// old one says: ErrIdentity. Of several at one time one is first. A new cell has the
	// head Head{Incarnation: 1}. Before it was told who it is, a database has the zero
	// Head, and View and Exclusive serve CellMap and PutCellMap.
	Identify(ctx context.Context, id Identity) error
	// Stats tells how full the cell is.
	Stats(ctx context.Context) (Stats, error)
	// Writable returns nil if the cell takes writes at the moment, and otherwise why not. It learns that from the
	// writes there were, or by asking for what a write needs first, and gives up soon.
	Writable(ctx context.Context) error
	// Vacuum writes the database anew, without what was deleted from it. Updates wait for it; what it was
	// stopped in stays as it was.
	Vacuum(ctx context.Context) error
	// Pulse reads how far the cell has come: no commit when it was told who it is. It is above all pulses that were read, by any
	// process, before the last commit of this process.
	Pulse(ctx context.Context) (Pulse, error)
	// Latest returns the pulse as this process knows it without asking, and whether it has
	// committed something since that does not count in it yet. Leases and attested pulses
	// are not counted: they are written while nothing happens.
	Latest() (p Pulse, more bool)
	// Close waits for the transactions in flight.
	Close() error
}

// Driver opens the databases of one kind.
type Driver[T Store] interface {
	// Check reports what is wrong with a url, without asking a database: ErrURL.
	Check(url string) error
	// Dial opens the database at a url, without asking which cell it is, and brings an old
	// schema up to date. create makes a database that is not there; without it the error is
	// ErrMissing if there is none.
	Dial(ctx context.Context, url string, create bool) (Opened[T], error)
	// Marked returns the text that was marked last in the database at a url, "" if none, and
	// changes nothing there: it may be the database of another installation.
	Marked(ctx context.Context, url string) (string, error)
}

// Identity says which cell a database is.
type Identity struct {
	// Map is the id of the cell map that the cell belongs to.
	Map  string
	Cell ID
	// Lo and Hi are the ends of the cell's range of puids: the first puid is Lo+1, the
	// last Hi.
	Lo, Hi int64
	// Rules name what the derived rows of the cell are made with.
	Rules string
}

// IdentityOf returns who a cell of the map is. It panics if the map does not list
// the cell.
func (m *Map) IdentityOf(c ID, rules string) Identity {
	lo, hi := m.PuidRange(c)
	return Identity{Map: m.spec.ID, Cell: c, Lo: lo, Hi: hi, Rules: rules}
}

// Takes reports whether a database that says got may become this cell all the same: it was made for another growth,
// which was not announced, so it has another range of puids, and nothing was written there. used is how many puids
// were given away. Every cell of a generation is told of the map before the generation takes keys, and is not taken after that.
func (want Identity) Takes(got Identity, head Head, used uint64) bool {
	same := got.Map == want.Map && got.Cell == want.Cell && got.Rules == want.Rules
	return same && got != want && want.Cell.Gen > 0 && head == Head{Incarnation: 1} && used == 0
}

// Keeps returns ErrIdentity if a database that was identified as this cell says got by now: another growth took it. at
// names the database.
func (want Identity) Keeps(got Identity, at string) error {
	if got.Lo == want.Lo && got.Hi == want.Hi {
		return nil
	}
	return fmt.Errorf("%w: %s was taken by another growth at this moment; try again", ErrIdentity, at)
}

// Check compares what a database says with who it should be, and says with
// ErrIdentity what to do if they differ. at names the database.
func (want Identity) Check(got Identity, at string) error {
	switch {
	case got.Map != want.Map:
		return fmt.Errorf("%w: %s belongs to the cell map %s, not to %s: it is of another installation; put the right one in its place",
			ErrIdentity, at, got.Map, want.Map)
	case got.Cell != want.Cell:
		return fmt.Errorf("%w: %s is cell %s, not %s: databases were swapped or copied; give each its own name back",
			ErrIdentity, at, got.Cell, want.Cell)
	case got.Lo != want.Lo || got.Hi != want.Hi:
		return fmt.Errorf("%w: %s has puids %d to %d, not %d to %d: the cell map is not the one that it was made with; restore the map",
			ErrIdentity, at, got.Lo+1, got.Hi, want.Lo+1, want.Hi)
	case got.Rules != want.Rules:
		return fmt.Errorf("%w: %s was made under the rules %q, this Locus works under %q: start it with the schema and pack of then, or ingest the sources into a new installation",
			ErrIdentity, at, got.Rules, want.Rules)
	}
	return nil
}
