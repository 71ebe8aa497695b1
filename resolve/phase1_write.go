// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/storage"
)

// maxAttempts is how many times the first round is attempted while cells change.
const maxAttempts = 50

// put is the first round: key, puid, record, birth id, change and redo entry in one transaction of the
// record's home cell. An unavailable cell fails only its own records.
func (b *batch) put(ctx context.Context) {
	b.awaitBirths()
	todo := b.pass
	for attempt := 0; ; attempt++ {
		again, late, why := b.putOnce(ctx, todo)
		if len(again) == 0 {
			return
		}
		err := b.pause(ctx, attempt)
		if err == nil {
			err = b.refresh(ctx, why)
		}
		if err == nil && len(late) > 0 { // other cells get the rules after the first round, because one of them may hang
			b.untold = true
			err = b.spread(ctx, late)
		}
		if err != nil || attempt == maxAttempts {
			b.refuse(again, fmt.Errorf("%w: %w", cell.ErrUnavailable, errors.Join(why, err)))
			return
		}
		todo = again
	}
}

// pause waits before a retry, to let a cell move. The first attempts follow at once.
func (b *batch) pause(ctx context.Context, attempt int) error {
	if attempt < 3 {
		return ctx.Err()
	}
	t := time.NewTimer(min(time.Millisecond<<(attempt-3), 100*time.Millisecond))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *batch) refuse(group []int, err error) {
	for _, i := range group {
		b.results[i] = Result{Err: err}
		b.tell(i, b.results[i])
	}
}

// putOnce runs the first round for ops. It returns the ops for which the cell map or the rules were
// outdated, the cells with other rules, and the errors.
func (b *batch) putOnce(ctx context.Context, todo []int) (again []int, late []cell.ID, why error) {
	targets, err := b.find(ctx, todo)
	var successors map[entity.PUID]locality.ID
	if err == nil {
		successors, err = b.successors(ctx, targets)
	}
	if err != nil {
		b.refuse(todo, err)
		return nil, nil, nil
	}
	groups := map[cell.ID][]int{}
	for _, i := range todo {
		if t, ok := targets[i]; ok {
			groups[t.cell] = append(groups[t.cell], i)
		}
	}
	for len(groups) > 0 {
		r := b.putCells(ctx, groups, targets, successors)
		again, late, why = append(again, r.again...), append(late, r.late...), errors.Join(why, r.why)
		clear(groups)
		for i, puid := range r.elsewhere {
			home, err := b.home(puid)
			if err != nil {
				again, why = append(again, i), errors.Join(why, err)
				continue
			}
			t := targets[i]
			b.dir.Know(t.key, int64(puid))
			targets[i] = target{key: t.key, cell: home, puid: puid, sure: true}
			groups[home] = append(groups[home], i)
		}
		for i, t := range b.findAgain(ctx, r.vanished, targets) {
			targets[i] = t
			groups[t.cell] = append(groups[t.cell], i)
		}
		for _, group := range groups {
			slices.Sort(group)
		}
	}
	return again, late, why
}

// unwritten are ops that cells did not write.
type unwritten struct {
	again     []int               // the cell map or the rules were outdated
	late      []cell.ID           // the cells with other rules
	why       error               // of again
	elsewhere map[int]entity.PUID // the keys have records of other cells
	vanished  []int               // the cached records are gone
}

// putCells writes the group of each cell, in one transaction per cell.
func (b *batch) putCells(ctx context.Context, groups map[cell.ID][]int, targets map[int]target,
	successors map[entity.PUID]locality.ID) unwritten {
	r := unwritten{elsewhere: map[int]entity.PUID{}}
	var mu sync.Mutex
	var written []cell.ID
	_ = eachCell(groups, func(id cell.ID, group []int) error {
		p, err := b.putCell(ctx, id, group, targets, successors)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			b.took(id, p)
			for _, i := range p.group {
				if !slices.Contains(p.vanished, i) {
					b.tell(i, b.results[i])
				}
			}
			written = append(written, id)
			maps.Copy(r.elsewhere, p.elsewhere)
			r.vanished = append(r.vanished, p.vanished...)
		case outdated(err):
			r.again, r.why = append(r.again, group...), errors.Join(r.why, err)
			if errors.Is(err, errOldRules) {
				r.late = append(r.late, id)
			}
		default:
			if errors.Is(err, cell.ErrCommitUnknown) {
				b.redoLog.markDirty()
			}
			b.refuse(group, fmt.Errorf("cell %v: %w", id, b.asked(id, err)))
		}
		return nil
	})
	b.redoLog.removed(written)
	return r
}

func (b *batch) putCell(ctx context.Context, id cell.ID, group []int, targets map[int]target,
	successors map[entity.PUID]locality.ID) (*recordWriter, error) {
	c, err := b.opts.Cells.Cell(id)
	if err != nil {
		return nil, err
	}
	norms := b.normalise(group)
	var p *recordWriter
	err = c.Update(ctx, func(tx storage.Tx) error {
		// new per attempt
		p = &recordWriter{batch: b, id: id, group: group, targets: targets, successors: successors, norms: norms}
		return p.run(ctx, tx)
	})
	return p, err
}

func (b *batch) took(id cell.ID, p *recordWriter) {
	b.noteMark(id, p.mark)
	b.noteBirths(p.births)
	b.redo[id] = append(b.redo[id], p.entered...)
	for i, w := range p.writes {
		w.lost = p.entered[i].LostKeys
		if b.writes[w.puid] = w; b.holding {
			b.cache.nodes.drop(w.puid)
			continue
		}
		n := w.new
		if n == nil {
			n = &node{Record: p.records[i]}
		}
		b.nodes[w.puid] = n
		b.cache.nodes.put(n.PUID, n)
	}
	for _, n := range p.unchanged {
		b.nodes[n.PUID] = n
		if !b.holding {
			b.cache.nodes.put(n.PUID, n)
		}
	}
}

// normalise normalises the records to be put, before the transaction begins. A load does it later.
func (b *batch) normalise(group []int) map[int]*match.Record {
	if b.holding {
		return nil
	}
	norms := make(map[int]*match.Record, len(group))
	for _, i := range group {
		if op := &b.ops[i]; !op.Delete {
			norms[i] = b.Rules().Kind(op.Kind).Matcher.Normalise(op.Source, op.Key, match.Attributes(op.Attributes))
		}
	}
	return norms
}
