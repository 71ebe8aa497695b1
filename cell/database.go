// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/locus-db/locus/internal/problem"
)

// ErrIdentity means that a database is not the expected cell: it is another cell, of another map, made under other
// rules, or a copy.
var ErrIdentity = problem.Class(problem.ErrUnavailable, "cell: wrong database for the cell")

// ErrFormat means that a database is not a cell, or was written by a newer Locus.
var ErrFormat = problem.Class(problem.ErrUnavailable, "cell: unknown format")

// ErrURL means that a URL is not valid for a cell; the text names the invalid part and shows a valid URL.
var ErrURL = problem.Class(problem.ErrInvalid, "cell: unusable url")

// ErrClock means that the machine's clock shows a time that an ID cannot represent.
var ErrClock = problem.Class(problem.ErrUnavailable, "cell: the clock is wrong")

// ErrPreflight means that a database, its server or the connection lacks a property that durability or secrecy depend
// on; the text names the rule.
var ErrPreflight = problem.Class(problem.ErrUnavailable, "cell: preflight")

// ErrUnavailable is wrapped by errors of a cell that cannot be reached or takes no work. It is never "not found", and
// nothing was done.
var ErrUnavailable = problem.Class(problem.ErrUnavailable, "cell: cell unavailable")

// ErrFiles means that the process or its machine has reached the limit of open files. It is wrapped together with
// ErrUnavailable.
var ErrFiles = errors.New("too many open files: raise the limit of the process (ulimit -n, or LimitNOFILE= of its unit) and start it again")

// OutOfFiles wraps a system error with ErrFiles if it reports too many open files.
func OutOfFiles(err error) error {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return fmt.Errorf("%w: %w: %w", ErrUnavailable, ErrFiles, err)
	}
	return err
}

// ErrCommitUnknown is wrapped by errors of a commit whose reply was lost: it may have taken effect. All other errors
// of a transaction mean that it did not.
var ErrCommitUnknown = problem.Class(problem.ErrCommitUnknown, "cell: commit outcome unknown")

// Database runs transactions in one cell. T is passed to them: a Store, and the other stores of the same cell. All
// methods return the error of fn, as seen by errors.Is, and then nothing was written. fn may be run more than once, so
// its only lasting effects must be through T.
type Database[T Store] interface {
	// Update commits what fn wrote, durably. Updates of one cell may run concurrently.
	Update(ctx context.Context, fn func(T) error) error
	// Exclusive is an Update that runs alone: it waits for the updates in flight, blocks new ones, and is not overtaken
	// by later ones.
	Exclusive(ctx context.Context, fn func(T) error) error
	// View reads from one snapshot. Writing is an error.
	View(ctx context.Context, fn func(T) error) error
	// Read is a View for callers that read back their own writes: a database that caches pages per connection serves it
	// from the connection that wrote them.
	Read(ctx context.Context, fn func(T) error) error
}

// Opened is the open database of a cell.
type Opened[T Store] interface {
	Database[T]
	// Identify writes the cell's identity into a new database, and compares it with that of an existing one; if they
	// differ the error is ErrIdentity. If several calls are concurrent, one of them writes and the others compare. A
	// new cell has the head Head{Incarnation: 1}. Before Identify, a database has the zero Head, and only CellMap and
	// PutCellMap work in View and Exclusive.
	Identify(ctx context.Context, id Identity) error
	// Stats returns the statistics of the cell.
	Stats(ctx context.Context) (Stats, error)
	// Writable returns nil if the cell takes writes at the moment, otherwise the reason. It relies on recent writes, or
	// else requests the locks that a write takes first, and gives up soon.
	Writable(ctx context.Context) error
	// Vacuum rewrites the database without deleted content. Updates wait for it; if it is interrupted, the database is
	// unchanged.
	Vacuum(ctx context.Context) error
	// Tidy spends some milliseconds on work that makes reads cheaper after writes, and reports whether more is left. It
	// does not wait for updates.
	Tidy(ctx context.Context) (more bool, err error)
	// Pulse reads the cell's pulse; Commits is 0 for a cell that was only identified. It is higher than every pulse
	// that any process read before this process's last commit.
	Pulse(ctx context.Context) (Pulse, error)
	// Latest returns the pulse as this process knows it, without a read, and whether the process has committed
	// something since that the pulse does not include. Writes of leases and attested pulses are not counted, because
	// they also happen on an idle cell.
	Latest() (p Pulse, more bool)
	// Close waits for the transactions in flight.
	Close() error
}

// Driver opens the databases of one kind.
type Driver[T Store] interface {
	// Check validates a URL without connecting: ErrURL.
	Check(url string) error
	// Dial opens the database at a URL without checking which cell it is, and migrates an old schema. create makes a
	// missing database; without it a missing one is ErrMissing.
	Dial(ctx context.Context, url string, create bool) (Opened[T], error)
	// Marked returns the text marked last in the database at a URL, "" if none. It changes nothing, since the database
	// may belong to another installation.
	Marked(ctx context.Context, url string) (string, error)
}

// Identity identifies the cell that a database is.
type Identity struct {
	// Map is the ID of the cell map that the cell belongs to.
	Map  string
	Cell ID
	// Lo and Hi bound the cell's range of puids: the first puid is Lo+1, the last Hi.
	Lo, Hi int64
	// Rules identifies the rules that the cell's derived rows are made with.
	Rules string
}

// IdentityOf returns the identity of a cell of the map. It panics if the map does not list the cell.
func (m *Map) IdentityOf(c ID, rules string) Identity {
	lo, hi := m.PuidRange(c)
	return Identity{Map: m.spec.ID, Cell: c, Lo: lo, Hi: hi, Rules: rules}
}

// Takes reports whether a database with identity got may become this cell. It may if it was created for another growth
// that was not announced, which gave it another range of puids, and nothing was written to it. used is how many of its
// puids were allocated. Every cell of a generation records the map before the generation takes keys, and cannot be
// taken after that.
func (want Identity) Takes(got Identity, head Head, used uint64) bool {
	same := got.Map == want.Map && got.Cell == want.Cell && got.Rules == want.Rules
	return same && got != want && got.Untouched(head, used)
}

// Untouched reports whether nothing was written in a database with this identity since a growth created it. used is how
// many of its puids were allocated.
func (id Identity) Untouched(head Head, used uint64) bool {
	return id.Cell.Gen > 0 && head == Head{Incarnation: 1} && used == 0
}

// Keeps returns ErrIdentity if a database that was identified as this cell now has identity got, because another growth
// took it. at names the database.
func (want Identity) Keeps(got Identity, at string) error {
	if got.Lo == want.Lo && got.Hi == want.Hi {
		return nil
	}
	return fmt.Errorf("%w: %s was taken by another growth at this moment; try again", ErrIdentity, at)
}

// Check compares the identity stored in a database with the expected one; if they differ, the error wraps ErrIdentity
// and says what to do. at names the database.
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
		return fmt.Errorf("%w: %s was made under the rules %q, this Locus works under %q: start it with the schema and term-frequency table of then, or ingest the sources into a new installation",
			ErrIdentity, at, got.Rules, want.Rules)
	}
	return nil
}
