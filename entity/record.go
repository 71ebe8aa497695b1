// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
)

var (
	// ErrNotFound means that no record or entity ever had this address.
	ErrNotFound = problem.Class(problem.ErrNotFound, "entity: not found")
	// ErrErased means that the last record behind the address has been deleted. Only a tombstone without
	// content is left.
	ErrErased = problem.Class(problem.ErrErased, "entity: erased")
	// ErrVersion means that a conditional write was not done, because the record has another version.
	ErrVersion = problem.Class(problem.ErrConflict, "entity: the record has another version")
	// ErrRefused means that a conditional write was not done, because its condition protects the stored record.
	ErrRefused = problem.Class(problem.ErrConflict, "entity: a condition of the write on the stored record failed")
)

// PUID is a record's internal id: a signed 64-bit number that the home cell of the record's external key
// allocates. It is never reused, and its cell follows from it by arithmetic (cell.Map.Puid). Zero is never
// allocated. JSON encodes it as a string, because a JavaScript number is exact to 53 bits only.
type PUID int64

// ParsePUID parses the decimal form that String writes. A plus sign, a minus zero and leading zeros are
// errors.
func ParsePUID(s string) (PUID, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != s {
		return 0, fmt.Errorf("entity: puid %.40q is not a decimal 64-bit number", s)
	}
	return PUID(n), nil
}

// String returns the decimal form.
func (p PUID) String() string { return strconv.FormatInt(int64(p), 10) }

// MarshalText returns the decimal form, so that JSON carries a string.
func (p PUID) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(p), 10), nil }

// UnmarshalText parses the form that MarshalText writes.
func (p *PUID) UnmarshalText(text []byte) error {
	n, err := ParsePUID(string(text))
	if err != nil {
		return err
	}
	*p = n
	return nil
}

// Attributes maps attribute names to values, byte for byte as received from the source. A single value is a
// list of one; numbers are decimal text. An attribute without values is absent.
type Attributes map[string][]string

// Compare orders attributes lexicographically by sorted names and their values. If one is a prefix of the
// other, it is less.
func (a Attributes) Compare(b Attributes) int {
	names, others := slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))
	for i := range min(len(names), len(others)) {
		if c := cmp.Or(cmp.Compare(names[i], others[i]), slices.Compare(a[names[i]], b[others[i]])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(names), len(others))
}

// Ref is a record's external key: the source, and the key that the source assigned.
type Ref struct {
	Source string `json:"source"`
	Key    string `json:"key"`
}

// String returns SOURCE:KEY, the form that the command line takes. A source has no colon, so the first one
// divides.
func (r Ref) String() string { return r.Source + ":" + r.Key }

// Record is the content that one source has about one thing.
type Record struct {
	PUID PUID
	Ref
	// Kind of the thing, such as place; "" in the tombstone of a deleted record.
	Kind string
	// Version rises by one with every change of content. It never falls, even if the record is deleted and
	// put again.
	Version int64
	// Birth is the Locality UUID that the record got when it was first put. It is minted near the record's
	// key, so it names the same cell. A record that is put again after its deletion keeps it, unless it was
	// erased.
	Birth locality.ID
	// Anchor is the record whose birth id is the id of this record's entity. The earliest record of an
	// entity and every record that is not yet resolved are their own anchors.
	Anchor PUID
	// Observed is when the source observed the content, in UTC, to the millisecond.
	Observed time.Time
	// Attributes are nil in the tombstone of a deleted record. A tombstone keeps version and anchor and,
	// unless the record was erased, the birth id.
	Attributes Attributes
}

// Deleted reports whether the record is a tombstone.
func (r *Record) Deleted() bool { return r.Attributes == nil }

// Birth maps a birth id to its record. Births are never removed.
type Birth struct {
	ID locality.ID
	// PUID is the record that was born with this id, 0 while it is deleted.
	PUID PUID
	// Successor is set on deletion: the birth id of the earliest record left in the entity, or the zero id
	// if there is none.
	Successor locality.ID
}
