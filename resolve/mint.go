// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"errors"
	"log/slog"
	"math/bits"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
)

// backdated is how long before the end of its segment an id is dated if the segment is already over.
const backdated = time.Second

// NewMint returns the Options.Mint of an installation's process. The date of an id determines its cell, so an id minted
// after the end of its key's generation, or of the cell map, is dated shortly before that end. The former happens while
// no newer generation takes keys yet, the latter in a process that was suspended or cannot reach the authority.
func NewMint(node locality.Node, now func() time.Time, logger *slog.Logger) (func(entity.Ref, locality.Segment) (locality.ID, error), error) {
	ids, err := locality.NewGenerator(&locality.Options{Node: node, OnEvent: func(e locality.Event) {
		logger.Warn("id generator", "event", e)
	}})
	return func(_ entity.Ref, segment locality.Segment) (locality.ID, error) {
		id, err := ids.NewIn(gathered(segment, now()))
		if !errors.Is(err, locality.ErrSegmentOver) {
			return id, err
		}
		segment.From = max(segment.From, segment.Until-backdated.Milliseconds())
		return ids.NewInPast(segment)
	}, err
}

// awaitBirths waits until the millisecond of the latest birth of earlier batches is over, because births of one
// millisecond are in no order: the entity of two records has the id of the one that was acknowledged before the other
// was put. Only cells that commit in less than a millisecond make it wait.
func (r *Resolver) awaitBirths() {
	if rest := time.UnixMilli(r.latest + 1).Sub(r.opts.Now()); rest > 0 && rest <= time.Millisecond {
		time.Sleep(rest)
	}
}

// noteBirths notes the latest of the births that a cell has stored. Those of the future are from a clock that was ahead.
func (r *Resolver) noteBirths(births []entity.Birth) {
	now := r.opts.Now().UnixMilli()
	for _, b := range births {
		if at := b.ID.Millis(); at <= now {
			r.latest = max(r.latest, at)
		}
	}
}

// gathering is how many milliseconds ids are minted side by side, and how many positions they share.
const gathering = 1 << 13

// gathered returns a part of a key's segment, a different one every few seconds. Then the births of a batch are
// inserted into a few pages of their index, and not each into a different page. The parts of successive periods are
// spread evenly, and within hours cover the segment.
func gathered(s locality.Segment, now time.Time) locality.Segment {
	if parts := (s.Hi - uint64(s.Lo)) / gathering; parts > 0 {
		period := bits.Reverse32(uint32(now.UnixMilli() / gathering)) //nolint:gosec // the low bits
		s.Lo += uint32(uint64(period) * parts >> 32 * gathering)      //nolint:gosec // inside the segment
		s.Hi = uint64(s.Lo) + gathering
	}
	return s
}
