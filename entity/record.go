// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/locus-db/locus/locality"
)

var (
	// ErrNotFound means that no record or entity ever had this address.
	ErrNotFound = errors.New("entity: not found")
	// ErrErased means that the address was once a record's or an entity's, and that the last
	// record behind it has been deleted since. Only a tombstone without content is left.
	ErrErased = errors.New("entity: erased")
)

// PUID is a record's internal id: a signed 64-bit number that the home cell of the record's
// external key allocates, that is never reused and that names its cell by arithmetic
// (cell.Map.Puid). Zero is never a record's. In JSON it is a string, because a number in
// JavaScript holds 53 bits only.
type PUID int64

// ParsePUID reads the decimal form that String writes and no other: no plus sign, no minus
// zero, no leading zero.
func ParsePUID(s string) (PUID, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != s {
		return 0, fmt.Errorf("entity: puid %.40q is not a decimal 64-bit number", s)
	}
	return PUID(n), nil
}

// String is the decimal form.
func (p PUID) String() string { return strconv.FormatInt(int64(p), 10) }

// MarshalText writes the decimal form, so that JSON carries a string.
func (p PUID) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(p), 10), nil }

// UnmarshalText reads what MarshalText writes.
func (p *PUID) UnmarshalText(text []byte) error {
	n, err := ParsePUID(string(text))
	if err != nil {
		return err
	}
	*p = n
	return nil
}

// Attributes are what a source says of a thing: attribute name to the values as they were
// received, byte for byte. An attribute with one value is a list of one; numbers are their
// decimal text. An attribute without values is not there.
type Attributes map[string][]string

// Compare orders attributes by their names and values: the first name that one has and the other has not, or the
// first value that differs, decides, and what ends first is less.
func (a Attributes) Compare(b Attributes) int {
	names, others := slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))
	for i := range min(len(names), len(others)) {
		if c := cmp.Or(cmp.Compare(names[i], others[i]), slices.Compare(a[names[i]], b[others[i]])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(names), len(others))
}

// Ref is a record's external key: the source, and the key that the source itself gave.
type Ref struct {
	Source string `json:"source"`
	Key    string `json:"key"`
}

// String is SOURCE:KEY, the form that the command line takes; the first colon divides, for a
// source holds none.
func (r Ref) String() string { return r.Source + ":" + r.Key }

// Record is what one source says about one thing.
type Record struct {
	PUID PUID
	Ref
	// Kind of the thing, such as place; "" in the tombstone of a deleted record.
	Kind string
	// Version rises by one with every change of content. It never falls, not even when the
	// record is deleted and comes back.
	Version int64
	// Birth is the Locality UUID that the record was given when first put. It is minted near the
	// record's key, so it names the same cell. A record that returns after its deletion has it
	// again, unless it was erased.
	Birth locality.ID
	// Anchor is the record whose birth id is the id of this record's entity: itself for the
	// earliest record of an entity, and for every record that is not resolved yet.
	Anchor PUID
	// Observed is when the source saw it so, to the millisecond, in UTC.
	Observed time.Time
	// Attributes are nil in the tombstone of a deleted record, which keeps its version, its anchor
	// and, unless it was erased, its birth id.
	Attributes Attributes
}

// Deleted tells whether only the tombstone is left.
func (r *Record) Deleted() bool { return r.Attributes == nil }

// Birth says what a birth id leads to. A birth id answers for ever.
type Birth struct {
	ID locality.ID
	// PUID is the record that was born with this id, 0 while that record is deleted.
	PUID PUID
	// Successor is, after a deletion, the birth id of the earliest record that was left in the
	// entity; the zero id if none was.
	Successor locality.ID
}
