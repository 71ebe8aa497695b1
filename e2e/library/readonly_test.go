// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
)

// A read-only installation never changes the map, however long it is open, and rejects every write.
func TestP06_ReadOnly(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	for _, options := range []*locus.Options{nil, {ReadOnly: true}} {
		opened, err := storage.Open(t.Context(), dir, &storage.Options{Cells: 2, Notice: time.Second, Scratch: true})
		if err != nil {
			t.Fatal(err)
		}
		s, err := locus.OpenCells(t.Context(), opened, options)
		if err == nil && options == nil {
			err = s.Close() // it created files that the next one reads
		}
		if err != nil {
			t.Fatal(err)
		}
		if options == nil {
			continue
		}
		defer s.Close()
		epoch := s.Cells().Map().Epoch()
		select {
		case <-time.After(time.Until(s.Cells().Map().Until())):
		case <-t.Context().Done():
		}
		// Maintenance an hour later.
		reader := &engine.Engine{Cells: opened, ReadOnly: true, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Now().Add(time.Hour) }}
		reader.NewMaintainer().Tick(t.Context())
		if err := opened.Refresh(t.Context()); err != nil || s.Cells().Map().Epoch() != epoch {
			t.Errorf("the map is at epoch %d and was at %d: %v", s.Cells().Map().Epoch(), epoch, err)
		}
		if _, err := s.Cells().Status(t.Context()); err != nil {
			t.Error(err)
		}

		ref, id := entity.Ref{Source: "crm", Key: "1"}, cell.ID{Index: 1}
		refused := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, locus.ErrReadOnly) {
				t.Errorf("%s: %v, want ErrReadOnly", what, err)
			}
		}
		_, err = s.Records().Put(t.Context(),
			[]records.Input{{Ref: ref, Attributes: entity.Attributes{"name": {"Golden Bakery"}}}})
		refused("put", err)
		_, err = s.Records().Delete(t.Context(), []entity.Ref{ref})
		refused("delete", err)
		_, err = s.Records().Erase(t.Context(), []entity.Ref{ref})
		refused("erase", err)
		_, err = s.Decisions().Decide(t.Context(), []decisions.Input{{Verdict: entity.VerdictSame, A: "crm:1", B: "crm:2"}})
		refused("decide", err)
		_, err = s.Counters().Add(t.Context(), counter.Batch{Hits: []counter.Hit{{Metric: "visits", N: 1}}})
		refused("hits", err)
		_, err = s.Kinds().Create(t.Context(), match.Kinds()[0])
		refused("create a kind", err)
		refused("switch a kind", s.Kinds().Migrate(t.Context(), kinds.Proposal{}, nil))
		_, err = s.Kinds().BuildTermFrequencies(t.Context(), "", nil)
		refused("build a pack", err)
		refused("drop a rollup", s.Rollups().Drop(t.Context(), "places"))
		_, err = s.Rollups().Rebuild(t.Context(), "places")
		refused("rebuild a rollup", err)
		_, _, err = s.Rollups().Define(t.Context(),
			rollup.Definition{Name: "places", Kind: "place", Group: []string{"category"}})
		refused("define a rollup", err)
		refused("grow", s.Cells().Grow(t.Context(), cell.Growth{Cells: 4}, nil))
		refused("compact", s.Cells().Compact(t.Context(), 0, nil))
		_, err = s.Cells().Move(t.Context(), id, cell.Destination{URL: "sqlite:" + dir + "/elsewhere.db"}, nil)
		refused("move", err)
		refused("vacuum", s.Cells().Vacuum(t.Context(), nil))
		refused("repair", s.Cells().Check(t.Context(), cells.Checking{Repair: true}, nil, nil))
	}
}
