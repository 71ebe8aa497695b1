// SPDX-License-Identifier: Apache-2.0

package posting

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
)

// append writes entries as a new run, or at the end of one.
func (r *Runs) append(ctx context.Context, s *state, batch []entry) error {
	w := &writer{put: func(rows []Row) error { return r.rows.PutChunks(ctx, rows) }}
	at := s.before(batch)
	if at < len(s.runs) {
		w.run = s.runs[at]
		s.runs = slices.Delete(s.runs, at, at+1)
	} else if err := s.number(&w.run); err != nil {
		return err
	}
	for _, e := range batch {
		if err := w.add(e); err != nil {
			return err
		}
	}
	return r.finish(s, w, at, 0)
}

// before returns the position of the run that entries are appended to, or the number of runs if there is none. The
// entries begin near the end of that run, as when several ranges are loaded at once. Newer runs have nothing in the
// range of the entries, so it does not matter that these become older.
func (s *state) before(batch []entry) int {
	if len(batch) < extended {
		return len(s.runs)
	}
	start, end := batch[0].key, batch[len(batch)-1].key
	for i, of := range slices.Backward(s.runs) {
		if of.end < start && uint64(start)-uint64(of.end) <= uint64(end)-uint64(start) && of.parts > 0 {
			return i
		}
		if of.start <= end && start <= of.end {
			break
		}
	}
	return len(s.runs)
}

var errFull = errors.New("the numbers of runs are used up")

// number assigns the next number to a run.
func (s *state) number(to *run) error {
	if s.next >= maxRuns {
		return errFull
	}
	to.id = s.next
	s.next++
	return nil
}

// finish ends a run and enters it in the list.
func (r *Runs) finish(s *state, w *writer, at, level int) error {
	x, err := w.close()
	if err != nil || w.run.chunks == 0 {
		return err
	}
	w.run.level = max(level, w.run.level, levelOf(w.run.entries))
	if x != nil {
		r.cache.put(w.run, x)
	}
	s.runs = slices.Insert(s.runs, at, w.run)
	return nil
}

// levelOf returns the level of a run by its size.
func levelOf(entries uint64) (level int) {
	for ; entries > levelZero; entries /= fanout {
		level++
	}
	return level
}

// level merges the newest runs of a level if there are too many, together with the newer runs of lower levels.
func (r *Runs) level(ctx context.Context, s *state) error {
	for level := 0; ; level++ {
		from, same := len(s.runs), 0
		for from > 0 && s.runs[from-1].level <= level {
			if from--; s.runs[from].level == level {
				same++
			}
		}
		if same >= fanout {
			m := newMerger(r, s.runs[from:], fromStart, false)
			m.remember()
			if err := r.merge(ctx, s, from, level+1, m); err != nil {
				return err
			}
		}
		if from == 0 {
			return nil
		}
	}
}

func fromStart(run) uint32 { return 0 }

// merge makes one run of all runs from a position on, which m reads.
func (r *Runs) merge(ctx context.Context, s *state, from, level int, m *merger) error {
	old := slices.Clone(s.runs[from:])
	s.runs = s.runs[:from]
	w := &writer{put: func(rows []Row) error { return r.rows.PutChunks(ctx, rows) }}
	if err := s.number(&w.run); err != nil {
		return err
	}
	if err := m.begin(ctx); err != nil {
		return err
	}
	for {
		e, more, err := m.next(ctx)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if e.gone && from == 0 {
			continue // there is nothing older that it hides
		}
		if err := w.add(e); err != nil {
			return err
		}
	}
	if err := r.finish(s, w, from, level); err != nil {
		return err
	}
	for _, o := range old {
		for ids := range slices.Chunk(o.ids(), dropsAtOnce) {
			if err := r.rows.DropChunks(ctx, ids); err != nil {
				return err
			}
		}
	}
	return nil
}

// Merge makes one run of all, without the postings that are gone. With mend, it leaves out damaged chunks, or
// everything if the list of runs is damaged.
func (r *Runs) Merge(ctx context.Context, mend bool) error {
	now, err := r.current(ctx, true, nil)
	if _, damaged := errors.AsType[*cell.DamagedError](err); damaged && mend {
		if err := r.rows.Clear(ctx); err != nil {
			return err
		}
		return r.put(ctx, &state{next: 1, tail: packed(nil)})
	}
	if err != nil {
		return err
	}
	if n := len(now.runs); !mend && len(now.tail) == 1 && (n == 0 || n == 1 && now.runs[0].gone == 0) {
		return nil
	}
	s := now.clone()
	tail, err := unpacked(s.tail)
	if err != nil {
		return fmt.Errorf("read the tail: %w", err)
	}
	s.tail = packed(nil)
	if len(tail) > 0 {
		if err := r.append(ctx, s, tail); err != nil {
			return err
		}
	}
	if len(s.runs) > 0 {
		if err := r.merge(ctx, s, 0, 0, newMerger(r, s.runs, fromStart, mend)); err != nil {
			return err
		}
	}
	return r.put(ctx, s)
}
