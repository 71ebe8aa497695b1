// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// logPage is the number of changes read at a time.
const logPage = 1000

// logs holds the entities as a log describes them up to where it has been read.
type logs struct {
	after changelog.Seq
	// open are entities that differed from their last change when it was read; a later change may follow.
	open map[locality.ID]changelog.Change
	rows int
}

// log compares the log of a cell with its bounds, and the last change of every entity with the entity.
func (c *checker) log(ctx context.Context, id cell.ID) error {
	l := &logs{open: map[locality.ID]changelog.Change{}}
	if err := c.view(ctx, id, func(tx storage.Tx) error {
		bounds, err := tx.Bounds(ctx)
		l.after = bounds.Trimmed
		return err
	}); err != nil {
		return err
	}
	if err := c.readLog(ctx, id, c.view, l); err != nil || len(l.open) == 0 {
		return err
	}
	// Read the rest of the log and the entities in one snapshot, which has both parts of each write or
	// neither.
	if err := c.view(ctx, id, func(tx storage.Tx) error {
		same := func(_ context.Context, _ cell.ID, fn func(storage.Tx) error) error { return fn(tx) }
		if err := c.readLog(ctx, id, same, l); err != nil {
			return err
		}
		return c.close(ctx, id, same, l, l.open)
	}); err != nil {
		return err
	}
	for _, of := range slices.SortedFunc(maps.Keys(l.open), locality.ID.Compare) {
		last := l.open[of]
		c.report(Difference{
			What: "change", Cell: id, ID: fmt.Sprint(last.Seq), Stored: fmt.Sprintf("%s %v: %v", last.Kind, of, last.After),
			Want: "the last change of the entity says what it is", Advice: "readers of the log begin again; run locus rollup verify",
		})
	}
	return nil
}

func (c *checker) readLog(ctx context.Context, id cell.ID, ask asking, l *logs) error {
	for limit := logPage; ; {
		var page []changelog.Change
		var rows [][]any
		err := ask(ctx, id, func(tx storage.Tx) (err error) {
			page, err = tx.Changes(ctx, l.after, limit)
			return err
		})
		switch {
		case errors.Is(err, cell.ErrUnavailable):
			return err
		case err != nil && limit > 1 && ctx.Err() == nil: // one of the entities cannot be read
			limit = 1
			continue
		case err != nil:
			if e := ask(ctx, id, func(tx storage.Tx) (err error) {
				rows, err = tx.ReadRows(ctx, "change", []any{int64(l.after)}, 1)
				return err
			}); e != nil || len(rows) == 0 {
				return err
			}
			l.after = changelog.Seq(rows[0][0].(int64))
			c.report(Difference{
				What: "change", Cell: id, ID: fmt.Sprint(l.after), Stored: err.Error(), Want: "a change",
				Advice: "readers of the log begin again; run locus rollup verify",
			})
			continue
		case len(page) == 0:
			return nil
		}
		last := map[locality.ID]changelog.Change{}
		for _, change := range page {
			if !change.Kind.OfRecord() {
				last[change.Entity] = change
			}
		}
		if err := c.close(ctx, id, ask, l, last); err != nil {
			return err
		}
		l.after, l.rows, limit = page[len(page)-1].Seq, l.rows+len(page), logPage
		if err := c.tell(Progress{Cell: id, Step: "log", Rows: l.rows}); err != nil {
			return err
		}
	}
}

// close compares entities with their changes and keeps differing ones open.
func (c *checker) close(ctx context.Context, id cell.ID, ask asking, l *logs,
	last map[locality.ID]changelog.Change) error {
	anchors := make([]entity.PUID, 0, len(last))
	changes := make([]changelog.Change, 0, len(last))
	for _, change := range last {
		members := change.After
		if change.Kind == changelog.Retired {
			members = change.Before
		}
		if len(members) > 0 {
			anchors, changes = append(anchors, members[0].PUID), append(changes, change)
		}
	}
	var stored []*entity.Entity
	if err := ask(ctx, id, func(tx storage.Tx) (err error) {
		stored, err = tx.Entities(ctx, anchors)
		return err
	}); errors.Is(err, cell.ErrUnavailable) {
		return err
	} else if err != nil && len(last) > 1 && ctx.Err() == nil {
		for of, change := range last {
			if err := c.close(ctx, id, ask, l, map[locality.ID]changelog.Change{of: change}); err != nil {
				return err
			}
		}
		return nil
	} else if err != nil {
		stored = make([]*entity.Entity, len(anchors)) // it cannot be read
	}
	for i, change := range changes {
		e := stored[i]
		same := e != nil && e.ID == change.Entity && slices.Equal(versions(e), change.After)
		if change.Kind == changelog.Retired {
			same = e == nil || e.ID != change.Entity
		}
		if same {
			delete(l.open, change.Entity)
		} else {
			l.open[change.Entity] = change
		}
	}
	return nil
}

// stays finds redo entries that are not done.
func (c *checker) stays(ctx context.Context, id cell.ID) error {
	if !c.Repair {
		return c.staysBeside(ctx, id)
	}
	c.mu.Lock()
	defer c.unlock()
	before, err := c.entries(ctx, id)
	if err != nil || len(before) == 0 {
		return err
	}
	if err := c.quiet(ctx); err != nil {
		return err
	}
	defer c.release(ctx)
	after, err := c.entries(ctx, id)
	if err != nil {
		return err
	}
	for p, e := range after {
		if was, there := before[p]; !there || was.Version != e.Version || was.Decided != e.Decided {
			continue
		}
		why := "a cell is unavailable"
		if trouble := c.redoLog.lastTrouble(); trouble != nil {
			why = trouble.Error()
		}
		c.report(Difference{What: "redo", Cell: id, ID: p.String(), Stored: "cannot be resolved: " + why, Want: "no entry"})
	}
	return nil
}

func (c *checker) entries(ctx context.Context, id cell.ID) (map[entity.PUID]derived.Redo, error) {
	all := map[entity.PUID]derived.Redo{}
	for after := entity.PUID(math.MinInt64); ; {
		var page []derived.Redo
		if err := c.view(ctx, id, func(tx storage.Tx) (err error) {
			page, err = tx.Redo(ctx, after, redoBatch)
			return err
		}); err != nil {
			return nil, err
		}
		for _, e := range page {
			all[e.PUID] = e
		}
		if len(page) < redoBatch {
			return all, nil
		}
		after = page[len(page)-1].PUID
	}
}
