// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"crypto/sha256"
	"encoding/json"

	"github.com/locus-db/locus/locality"
)

// Reader reads the content of a target. A driver has one if its targets can be read.
type Reader interface {
	// Position is the same as Sink.Position.
	Position(ctx context.Context) (Position, error)
	// Read calls fn with the target's state of each ID, in ID order: of all IDs or, if ids is not nil, only of these,
	// which are sorted. IDs that the target does not have are left out. Writes during the call may be missing.
	Read(ctx context.Context, ids []locality.ID, fn func(Held) error) error
	// Close releases the connections.
	Close() error
}

// Held is the state of an ID in a target: the event with the highest rev, without its content.
type Held struct {
	ID      locality.ID
	Rev     int64
	Deleted bool
	Sum     Sum
}

// Sum is a hash of the content of an event: everything but its rev and its position. The zero Sum stands for no event.
type Sum [16]byte

// HeldOf returns the content of a target that stores an event whole.
func HeldOf(e *Event) Held {
	return Held{ID: e.ID, Rev: e.Rev, Deleted: e.Op == Delete, Sum: SumOf(e)}
}

// SumOf returns the sum of an event. It is zero if a view has values that no event has.
func SumOf(e *Event) (s Sum) {
	bare := *e
	bare.Rev, bare.At = 0, ""
	text, err := json.Marshal(bare)
	if err != nil {
		return s
	}
	whole := sha256.Sum256(text)
	copy(s[:], whole[:])
	return s
}
