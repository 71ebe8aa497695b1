// SPDX-License-Identifier: Apache-2.0

package sinks

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/running"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/storage"
)

// stored is the row of a sink's progress. Its dead letters have a row of their own.
type stored struct {
	sink.Progress
	// Letters is the number of dead letters.
	Letters int `json:"letters"`
	// Returns is the value in the head of the cell: how often it was restored from a backup.
	Returns int `json:"returns"`
}

func readRows(ctx context.Context, tx storage.Tx, name string) (s stored, letters []sink.Letter, asked []sink.Request, err error) {
	s, err = running.Read[stored](ctx, tx, progressName(name))
	if err == nil {
		letters, err = running.Read[[]sink.Letter](ctx, tx, deadName(name))
	}
	if err == nil {
		asked, err = running.Read[[]sink.Request](ctx, tx, askedName(name))
	}
	return s, letters, asked, err
}

// putProgress writes the row of the progress; the dead letters are only counted.
func putProgress(ctx context.Context, tx storage.Tx, name string, s stored) error {
	s.Letters = len(s.Progress.Dead)
	s.Progress.Dead = nil
	return running.Put(ctx, tx, progressName(name), s)
}

// store implements sink.Store for one sink at one revision of its definition.
type store struct {
	h        *Handle
	name     string
	revision int64
	returns  int           // of the cell, when the progress was loaded
	saved    sink.Progress // last; used by one goroutine at a time
}

var _ sink.Store = (*store)(nil)

// Load implements sink.Store.
func (s *store) Load(ctx context.Context) (p sink.Progress, err error) {
	err = s.h.catalog.View(ctx, func(tx storage.Tx) error {
		head, err := tx.Head(ctx)
		if err != nil {
			return err
		}
		row, letters, _, err := readRows(ctx, tx, s.name)
		if err != nil {
			return err
		}
		p = row.Progress
		if p.Dead = letters; row.Returns != head.Returns {
			p = sink.Progress{} // progress made after the backup is unknown
		}
		p.Era, s.returns = int64(head.Incarnation), head.Returns
		return nil
	})
	s.saved = sink.Progress{} // the first Save writes
	return p, err
}

// Save implements sink.Store. If nothing has changed, it only reads.
func (s *store) Save(ctx context.Context, token int64, p sink.Progress) (asked []sink.Request, err error) {
	authority, quiet := s.h.engine.Map().Authority(), same(p, s.saved)
	if quiet {
		err = s.h.engine.View(ctx, authority, func(tx storage.Tx) (err error) {
			asked, err = s.admitted(ctx, tx, token)
			return err
		})
		if err != nil || len(asked) == 0 {
			return nil, err
		}
	}
	applied := p
	err = s.h.engine.Update(ctx, authority, func(tx storage.Tx) error {
		if asked, err = s.admitted(ctx, tx, token); err != nil {
			return err
		}
		applied = p
		applied.Position.Again = append(applied.Position.Again[:0:0], p.Position.Again...)
		for _, r := range asked {
			applied.Apply(r)
		}
		if err := putProgress(ctx, tx, s.name, stored{Progress: applied, Returns: s.returns}); err != nil {
			return err
		}
		if len(asked) > 0 || !reflect.DeepEqual(applied.Dead, s.saved.Dead) {
			if err := running.Put(ctx, tx, deadName(s.name), applied.Dead); err != nil {
				return err
			}
		}
		if len(asked) > 0 {
			return running.Put(ctx, tx, askedName(s.name), []sink.Request{})
		}
		return nil
	})
	if err != nil {
		s.saved = sink.Progress{}
		return nil, err
	}
	s.saved = applied
	return asked, nil
}

// admitted returns the requests that wait, if the owner of the token may write.
func (s *store) admitted(ctx context.Context, tx storage.Tx, token int64) ([]sink.Request, error) {
	if err := running.CheckOwner(ctx, tx, sink.LeaseName(s.name), s.h.catalog.Owner, token); err != nil {
		return nil, err
	}
	head, err := tx.Head(ctx)
	if err != nil {
		return nil, err
	}
	if head.Returns != s.returns {
		return nil, fmt.Errorf("%w: the cell was restored from a backup", lease.ErrLost)
	}
	if err := rows.Check(ctx, tx, s.name, s.revision); err != nil {
		return nil, err
	}
	return running.Read[[]sink.Request](ctx, tx, askedName(s.name))
}

// same reports whether two progresses differ in the time of saving alone.
func same(a, b sink.Progress) bool {
	a.Saved, b.Saved = time.Time{}, time.Time{}
	a.Era, b.Era = 0, 0
	return reflect.DeepEqual(a, b)
}

// Holds returns a function that returns which changes of each cell the logs keep for sinks that lag.
func Holds(e *engine.Engine) func(context.Context) (map[cell.ID][]rollup.Hold, error) {
	return func(ctx context.Context) (map[cell.ID][]rollup.Hold, error) {
		holds := map[cell.ID][]rollup.Hold{}
		err := e.View(ctx, e.Map().Authority(), func(tx storage.Tx) error {
			clear(holds)
			c, err := rows.Read(ctx, tx)
			if err != nil {
				return err
			}
			for _, d := range c.All {
				s, err := running.Read[stored](ctx, tx, progressName(d.Name))
				if err != nil {
					return err
				}
				for id, at := range s.Position.Cells {
					holds[id] = append(holds[id], rollup.Hold{After: at.At, NotBefore: e.Now().Add(-d.Hold)})
				}
			}
			return nil
		})
		return holds, err
	}
}
