// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"slices"
	"time"

	"github.com/locus-db/locus/changelog"
)

// Standing is the state of a generation in a cell, returned with each answer.
type Standing struct {
	Generation
	// Last is the last change in the cell's log in the same snapshot.
	Last changelog.Seq `json:"last,string"`
	// Oldest is the time of the oldest change that the generation does not contain, zero if it contains all.
	Oldest time.Time `json:"oldest,omitzero"`
	// Owner is the process that follows the cell, with its lease token; "" if none.
	Owner string `json:"owner,omitempty"`
	Token int64  `json:"token"`

	watermark changelog.Seq // as stored
}

// Lag returns how long the oldest change has been waiting, 0 if no change is.
func (s *Standing) Lag(now time.Time) time.Duration {
	if s.Oldest.IsZero() {
		return 0
	}
	return max(now.Sub(s.Oldest), 0)
}

// StandingOf reads the state of a generation in a cell. The error is ErrGone if the cell does not have it.
func StandingOf(ctx context.Context, tx Tx, generation int64) (*Standing, error) {
	all, err := generations(ctx, tx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(g Generation) bool { return g.Number == generation })
	if i < 0 {
		return nil, ErrGone
	}
	s := &Standing{Generation: all[i], watermark: all[i].Watermark}
	bounds, err := tx.Bounds(ctx)
	if err != nil {
		return nil, err
	}
	if s.Last = bounds.Last; s.Watermark >= bounds.Trimmed && s.Watermark < s.Last {
		next, err := tx.Changes(ctx, s.Watermark, 1)
		if err != nil {
			return nil, err
		}
		// A restored cell skips numbers: the generation also contains everything before the next change.
		if s.Watermark = s.Last; len(next) > 0 {
			s.Watermark, s.Oldest = next[0].Seq-1, next[0].Time
		}
	}
	l, err := tx.Lease(ctx, LeaseName)
	s.Owner, s.Token = l.Owner, l.Token
	return s, err
}
