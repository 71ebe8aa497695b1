// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"errors"
	"testing"
	"time"

	"github.com/locus-db/locus/backend/all"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/rollup"
)

// A service that only reads leaves the map alone however long it runs, and refuses whatever changes something.
func TestP06_ReadOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, options := range []*Options{nil, {ReadOnly: true}} {
		cells, err := all.Open(t.Context(), dir, &all.Options{Cells: 2, Rules: Rules, Notice: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), cells, options)
		if err == nil && options == nil {
			err = s.Close() // it has made what the next one reads
		}
		if err != nil {
			t.Fatal(err)
		}
		if options == nil {
			continue
		}
		defer s.Close()
		s.keeper.stop()
		s.follow.stop() // the clock is changed below
		epoch := s.Map().Epoch()
		select {
		case <-time.After(time.Until(s.Map().Until())):
		case <-t.Context().Done():
		}
		s.opts.Now = func() time.Time { return time.Now().Add(time.Hour) } // the map is to be read again
		(&keeper{Service: s}).tick(t.Context())
		if err := cells.Refresh(t.Context()); err != nil || s.Map().Epoch() != epoch {
			t.Errorf("the map is at epoch %d and was at %d: %v", s.Map().Epoch(), epoch, err)
		}
		if _, err := s.Status(t.Context()); err != nil {
			t.Error(err)
		}

		ref, id := entity.Ref{Source: "crm", Key: "1"}, cell.ID{Index: 1}
		refused := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, ErrReadOnly) {
				t.Errorf("%s: %v, want ErrReadOnly", what, err)
			}
		}
		_, err = s.Put(t.Context(), []Put{{Ref: ref, Attributes: entity.Attributes{"name": {"Golden Bakery"}}}})
		refused("put", err)
		_, err = s.Delete(t.Context(), []entity.Ref{ref})
		refused("delete", err)
		_, err = s.Erase(t.Context(), []entity.Ref{ref})
		refused("erase", err)
		_, err = s.Decide(t.Context(), []Decide{{Verdict: entity.VerdictSame, A: "crm:1", B: "crm:2"}})
		refused("decide", err)
		_, err = s.AddHits(t.Context(), counter.Batch{Hits: []counter.Hit{{Metric: "visits", N: 1}}})
		refused("hits", err)
		_, err = s.CreateKind(t.Context(), match.Kinds()[0])
		refused("create a kind", err)
		refused("switch a kind", s.Switch(t.Context(), Proposal{}, nil))
		_, err = s.BuildPack(t.Context(), "", nil)
		refused("build a pack", err)
		refused("drop a rollup", s.DropRollup(t.Context(), "places"))
		_, err = s.RebuildRollup(t.Context(), "places")
		refused("rebuild a rollup", err)
		_, _, err = s.DefineRollup(t.Context(), rollup.Definition{Name: "places", Kind: "place", Group: []string{"category"}})
		refused("define a rollup", err)
		refused("grow", s.Grow(t.Context(), cell.Growth{Cells: 4}, nil))
		refused("compact", s.Compact(t.Context(), 0, nil))
		_, err = s.Move(t.Context(), id, cell.Destination{URL: "sqlite:" + dir + "/elsewhere.db"}, nil)
		refused("move", err)
		refused("vacuum", s.Vacuum(t.Context(), nil))
		refused("repair", s.CheckCells(t.Context(), Checking{Repair: true}, nil, nil))
	}
}
