// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"errors"
	"fmt"
	"slices"
)

// UnreadError names what an update of an PerDocumentStore store could not read while other documents of the same kind are
// readable, for example because one shard is down. Nothing was written. The hits that need the named documents
// are refused with Err, and the others are counted by an update without them.
type UnreadError struct {
	Days         []BucketKey
	Metrics      []ID
	Keys         []Key
	Producers    []Producer
	DedupHorizon bool // needed by every batch with a key or a producer
	Err          error
}

// Error describes what could not be read, with Err.
func (e *UnreadError) Error() string {
	text := fmt.Sprintf("counter: %d days, %d metrics and %d batches cannot be read", len(e.Days), len(e.Metrics), len(e.Keys)+len(e.Producers))
	if e.DedupHorizon {
		text += ", nor the dedup horizon"
	}
	return fmt.Sprintf("%s: %v", text, e.Err)
}

// Unwrap returns Err.
func (e *UnreadError) Unwrap() error { return e.Err }

// batch reports whether the record of a batch is among what cannot be read.
func (e *UnreadError) batch(o *once) bool {
	switch {
	case o == nil:
		return false
	case o.key != "":
		return e.DedupHorizon || slices.Contains(e.Keys, o.key)
	}
	return e.DedupHorizon || slices.Contains(e.Producers, o.producer)
}

// without refuses the hits that need what an update could not read. It reports whether there were such hits, and
// whether others are left.
func (g *commitGroup) without(err error) (can, left bool) {
	e, unread := errors.AsType[*UnreadError](err)
	if !unread {
		return false, true
	}
	days, metrics := make(map[BucketKey]bool, len(e.Days)), make(map[ID]bool, len(e.Metrics))
	for _, day := range e.Days {
		days[day] = true
	}
	for _, id := range e.Metrics {
		metrics[id] = true
	}
	for _, p := range g.parts {
		all := e.batch(p.request.once)
		p.unread = p.unread || all
		for i := range p.items {
			it := &p.items[i]
			switch {
			case it.settled:
			case all || metrics[it.place.id] || days[g.day(it)]:
				it.result = fmt.Errorf("counter: metric %q cannot be counted at the moment: %w", it.place.metric, e.Err)
				it.settled, can = true, true
				p.earlier = true // not a replay: hits were refused, not already counted
			default:
				left = true
			}
		}
	}
	g.final = g.final || can
	return can, left
}
