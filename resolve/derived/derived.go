// SPDX-License-Identifier: Apache-2.0

package derived

import (
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// RulesName is the version of the matcher: the code that makes entities by normalisation, blocking keys, scoring and
// clustering. The rules of an installation name the version that their entities were made by; see
// resolve.Resolver.Upgrade. A change of that code gets the next number. Kinds and term-frequency tables are data and
// not part of it.
const RulesName = "matcher 22"

// RowsName names the form of the derived rows. It is part of a cell's identity: a backend refuses rows of another form.
const RowsName = "matcher 6"

// Posting maps a blocking key to a record that carries it. Records that share a blocking key are compared. A
// posting is stored in the cell that the blocking key's hash selects.
type Posting struct {
	Key  uint64
	PUID entity.PUID
}

// Edge is the scored comparison of two records. It is stored twice, once in the home cell of each record; A
// is the record that the row is stored under.
type Edge struct {
	A, B   entity.PUID
	Vector match.Vector
	Weight match.Weight
}

// Mirror returns the edge as it is stored under the other record.
func (e Edge) Mirror() Edge { e.A, e.B = e.B, e.A; return e }

// Pair identifies an edge without its content.
type Pair struct{ A, B entity.PUID }

// PairOf returns the pair of two records, the smaller puid first.
func PairOf(a, b entity.PUID) Pair { return Pair{A: min(a, b), B: max(a, b)} }

// Redo marks a record that was written or decided about and whose consequences may be missing. It is
// written in the transaction of the record or decision, and removed once all consequences are durable.
type Redo struct {
	PUID entity.PUID
	// Version is the record version that was written.
	Version int64
	// Decided is the time of the last decision under the record whose consequences may be missing, in
	// milliseconds since 1970; 0 if there is none.
	Decided int64
	// LostKeys are blocking keys that earlier versions of the record carried and this version does not.
	LostKeys []uint64
}
