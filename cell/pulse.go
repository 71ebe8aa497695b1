// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// ErrWentBack means that the database of a cell is older than what others have seen of it: it was replaced by an old
// copy, or its newest commits were lost. Acknowledged writes may be missing and numbers could be allocated twice, so
// the cell is not used. Reincarnate accepts the loss.
var ErrWentBack = fmt.Errorf("cell: the cell went back: %w", ErrUnavailable)

// Pulse is a cell's logical clock. It never decreases in the database that the cell lives in, and no two databases use
// the same incarnation, so a pulse below one seen before belongs to an old copy.
type Pulse struct {
	// Incarnation is that of Head.
	Incarnation int
	// Commits counts commits; several that lie close together may count as one.
	Commits uint64
}

// Before reports whether p is an earlier pulse than q.
func (p Pulse) Before(q Pulse) bool {
	return cmp.Or(cmp.Compare(p.Incarnation, q.Incarnation), cmp.Compare(p.Commits, q.Commits)) < 0
}

// String returns a text for errors.
func (p Pulse) String() string {
	return fmt.Sprintf("commit %d of incarnation %d", p.Commits, p.Incarnation)
}

// Ledger stores the pulses of cells outside of their databases. It is safe for concurrent use.
type Ledger interface {
	// Known returns the highest noted pulse of a cell, and whether there is one.
	Known(id ID) (Pulse, bool)
	// Note stores a pulse that the process has committed, unless a higher one is known. It is called after every
	// commit, so it must not wait for a disk.
	Note(id ID, p Pulse) error
	// Sync makes noted pulses durable.
	Sync() error
	// Accept replaces all noted pulses: for Reincarnate.
	Accept(pulses map[ID]Pulse) error
}

// wentBack returns the error of a cell at p that was seen at a later pulse.
func wentBack(id ID, at string, p, seen Pulse) error {
	return fmt.Errorf("%w: cell %v at %s is at %v and was seen at %v: it is an old copy, or lost its newest commits (a -wal file that is missing or cut short, a snapshot that was put back): put its newest database back, or accept the loss with locus cell restored",
		ErrWentBack, id, at, p, seen)
}

// held is how many cells of each place store the pulses of all others.
const held = 2

// holders returns the cells that store the pulses of the others: the first ones of each place, so that cells that are
// rolled back together are detected from elsewhere.
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

// place returns the server or directory of a database URL.
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
