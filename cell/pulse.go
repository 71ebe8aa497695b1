// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// ErrWentBack says that the database of a cell is older than what others have seen of
// it: an old copy was put in its place, or its newest commits were lost. What was
// acknowledged may be missing and numbers could be given twice, so it is not used.
// Reincarnate accepts the loss.
var ErrWentBack = fmt.Errorf("cell: the cell went back: %w", ErrUnavailable)

// Pulse is how far a cell has come. It never falls in the database that the cell lives
// in, and an incarnation is never used by two databases, so a pulse that is below one
// that was seen before belongs to an old copy.
type Pulse struct {
	// Incarnation is that of Head.
	Incarnation int
	// Commits counts commits: each one, or several that lie close together as one.
	Commits uint64
}

// Before reports whether p is the pulse of an earlier moment than q.
func (p Pulse) Before(q Pulse) bool {
	return cmp.Or(cmp.Compare(p.Incarnation, q.Incarnation), cmp.Compare(p.Commits, q.Commits)) < 0
}

// String is for error texts.
func (p Pulse) String() string {
	return fmt.Sprintf("commit %d of incarnation %d", p.Commits, p.Incarnation)
}

// Ledger keeps the pulses of cells outside of their databases. It is safe for many
// goroutines.
type Ledger interface {
	// Known returns the highest pulse of a cell that was noted, and whether there is one.
	Known(id ID) (Pulse, bool)
	// Note keeps a pulse that the process has committed, unless a higher one is known. It
	// is called after every commit, so it must not wait for a disk.
	Note(id ID, p Pulse) error
	// Sync makes durable what was noted.
	Sync() error
	// Accept keeps these pulses in place of what was noted: Reincarnate.
	Accept(pulses map[ID]Pulse) error
}

// wentBack refuses a cell at p that was seen at a later pulse.
func wentBack(id ID, at string, p, seen Pulse) error {
	return fmt.Errorf("%w: cell %v at %s is at %v and was seen at %v: it is an old copy, or lost its newest commits (a -wal file that is missing or cut short, a snapshot that was put back): put its newest database back, or accept the loss with locus cell restored",
		ErrWentBack, id, at, p, seen)
}

// held is how many cells of one place keep the pulses of all others.
const held = 2

// holders returns the cells that keep the pulses of the others: the first ones of each
// place, so that what goes back together is seen from elsewhere.
func (m *Map) holders() (ids []ID) {
	taken := map[string]int{}
	for _, id := range m.Cells() {
		if p := place(m.URL(id)); taken[p] < held {
			taken[p]++
			ids = append(ids, id)
		}
	}
	return ids
}

// place is what the databases of some URLs have in common: the server, or the directory.
func place(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	if u.Opaque != "" || u.Host == "" && strings.HasPrefix(raw, u.Scheme+":/") && u.RawQuery == "" { // a file
		return u.Scheme + ":" + path.Dir(cmp.Or(u.Opaque, u.Path))
	}
	return u.Scheme + "://" + cmp.Or(u.Host, u.Query().Get("host")+":"+u.Query().Get("port"))
}
