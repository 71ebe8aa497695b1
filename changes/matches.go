// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"context"
	"slices"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage"
)

// Match is a record that joined an existing entity.
type Match struct {
	Time   time.Time   `json:"time"`
	Record entity.Ref  `json:"record"`
	Name   string      `json:"name"`
	Entity locality.ID `json:"entity"`
}

// Matches returns the latest records that joined an entity, the newest first, at most 20. It reads the logs of the
// cells, so matches by every process are included; records deleted since are not. For an unreachable cell it returns
// what it read last.
func (h *Handle) Matches(ctx context.Context) []Match {
	ids := h.engine.Map().Cells()
	lists := make([][]joined, len(ids))
	engine.Parallel(len(ids), func(i int) {
		ctx, cancel := context.WithTimeout(ctx, engine.CellPatience)
		defer cancel()
		known := h.matches.of(ids[i])
		if err := h.engine.View(ctx, ids[i], func(tx storage.Tx) (err error) {
			known, err = known.further(ctx, tx)
			return err
		}); err == nil {
			h.matches.learn(ids[i], known)
		}
		lists[i] = known.joins
	})
	latest := slices.Concat(lists...)
	slices.SortStableFunc(latest, func(a, b joined) int { return b.at.Compare(a.at) })
	latest = latest[:min(len(latest), maxJoins)]
	lines := make([]*Match, len(latest))
	engine.Parallel(len(latest), func(i int) {
		if rec, err := h.engine.Record(ctx, latest[i].record); err == nil {
			lines[i] = &Match{Time: latest[i].at, Record: rec.Ref, Entity: latest[i].entity}
			if schema := h.engine.Schema(rec.Kind); schema != nil {
				lines[i].Name = schema.NameOf(rec.Attributes)
			}
		}
	})
	joins := make([]Match, 0, len(lines))
	for _, line := range lines {
		if line != nil {
			joins = append(joins, *line)
		}
	}
	return joins
}
