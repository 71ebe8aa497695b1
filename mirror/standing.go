// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/locality"
)

// Standing is the progress of the mirror in a cell.
type Standing struct {
	Cell cell.ID `json:"cell"`
	// Filled reports that all IDs were written once; Count is the number written so far.
	Filled bool  `json:"filled"`
	Count  int64 `json:"count"`
	// Last is the ID that was filled last; IDs are filled in order.
	Last locality.ID `json:"last,omitzero"`
	// At is the log position up to which a filled mirror has everything, Tail the end of the cell's log.
	At   changelog.Seq `json:"at,string"`
	Tail changelog.Seq `json:"tail,string"`
	// Time is the time of the last mirrored change.
	Time time.Time `json:"time,omitzero"`
	// Settling is the number of IDs that are read again because their records are being resolved.
	Settling int `json:"settling"`
}

func (s *Standing) note(c *Control) {
	s.Filled, s.Count, s.Last = c.Filled, c.Count, c.After
	s.At, s.Time, s.Settling = c.At, c.Time, len(c.Settling)
}

// Behind returns how many log positions the mirror is behind; since log numbers may have gaps, there may be fewer
// changes.
func (s *Standing) Behind() int64 { return max(int64(s.Tail-s.At), 0) }

// Lag returns the age of the last mirrored change, 0 if nothing is missing.
func (s *Standing) Lag(now time.Time) time.Duration {
	if s.Behind() == 0 || s.Time.IsZero() {
		return 0
	}
	return max(now.Sub(s.Time), 0)
}

// Standings returns the last known progress of each cell.
func (m *Mirror) Standings() []Standing {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]Standing, 0, len(m.cells))
	for _, s := range m.cells {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b Standing) int { return a.Cell.Compare(b.Cell) })
	return list
}

// StandingOf reads the progress of the mirror of a source in a target. Cells without anything mirrored yet
// are included. The error wraps ErrForeign if the target has the mirror of another installation.
func StandingOf(ctx context.Context, source Source, target Target) ([]Standing, error) {
	installation, cells, err1 := source.Installation(ctx)
	tail, err2 := source.Tail(ctx)
	if err := cmp.Or(err1, err2); err != nil {
		return nil, fmt.Errorf("read the ends of the logs: %w", err)
	}
	c := copier{source, target}
	fill, err1 := c.fillOf(ctx, installation)
	controls, err2 := target.Controls(ctx)
	if err := cmp.Or(err1, err2); err != nil {
		return nil, fmt.Errorf("read the position of the mirror: %w", err)
	}
	list := make([]Standing, len(cells))
	for i, id := range cells {
		list[i].Cell = id
		for j := range controls {
			if controls[j].Cell == id && controls[j].Fill == fill.Name {
				list[i].note(&controls[j])
			}
		}
		list[i].Tail = tail[id]
	}
	return list, nil
}
