// SPDX-License-Identifier: Apache-2.0

package perdocument

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/counter"
)

// PartialWriteError names the days that an update did not write, or whose outcome is unknown; in that case the day's
// error wraps counter.ErrCommitUnknown. All other days were written.
type PartialWriteError struct{ Days map[counter.BucketKey]error }

// Error describes one of the days and gives their number.
func (e *PartialWriteError) Error() string {
	for day, err := range e.Days {
		begin := time.Unix(day.Unit()*24*60*60, 0).UTC()
		return fmt.Sprintf("counter: %d days were not written, or not for certain: %s of metric %d: %v", len(e.Days),
			begin.Format(time.DateOnly), day.ID(), err)
	}
	return "counter: some days were not written"
}

// Unwrap returns the errors of the days.
func (e *PartialWriteError) Unwrap() []error {
	errs := make([]error, 0, len(e.Days))
	for _, err := range e.Days {
		errs = append(errs, err)
	}
	return errs
}

// Conflicts reports whether all errors are conflicts with other writers.
func (e *PartialWriteError) Conflicts() bool {
	for _, err := range e.Days {
		if !errors.Is(err, counter.ErrConflict) {
			return false
		}
	}
	return true
}

// UnreadError names the documents that an update could not read while other documents of the same kind are readable,
// for example because one shard is down. Nothing was written. The hits that need the named documents are refused with
// Err, and the others are counted by an update without them.
type UnreadError struct {
	Days         []counter.BucketKey
	Metrics      []counter.ID
	Keys         []counter.Key
	Producers    []counter.Producer
	DedupHorizon bool // needed by every batch with a key or a producer
	Err          error
}

// Error describes the unreadable documents, with Err.
func (e *UnreadError) Error() string {
	text := fmt.Sprintf("counter: %d days, %d metrics and %d batches cannot be read", len(e.Days), len(e.Metrics),
		len(e.Keys)+len(e.Producers))
	if e.DedupHorizon {
		text += ", nor the dedup horizon"
	}
	return fmt.Sprintf("%s: %v", text, e.Err)
}

// Unwrap returns Err.
func (e *UnreadError) Unwrap() error { return e.Err }

// batch reports whether the record of a batch cannot be read.
func (e *UnreadError) batch(n counter.BatchName) bool {
	switch {
	case n == counter.BatchName{}:
		return false
	case n.Key != "":
		return e.DedupHorizon || slices.Contains(e.Keys, n.Key)
	}
	return e.DedupHorizon || slices.Contains(e.Producers, n.Producer)
}
