// SPDX-License-Identifier: Apache-2.0

package perdocumenttest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/perdocument"
)

// commit writes metrics, then days, then summaries, unless the dedup horizon has risen.
func (t *memoryTx) commit() error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	if t.horizonRead {
		err := t.step(Step{Of: FloorDocument, Write: t.is != t.was}, func() error {
			if t.horizon != t.was && t.bug != "the dedup horizon is not looked at again" {
				return errAnew
			}
			t.horizon = max(t.horizon, t.is)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := t.writeMetrics(); err != nil {
		return err
	}
	n, err := t.writeDays()
	if err != nil {
		return err
	}
	if err = t.writeSummaries(); errors.Is(err, errAnew) && n > 0 {
		return fmt.Errorf("%w: %d days are written, and a summary beside them is not", counter.ErrCommitUnknown, n)
	}
	return err
}

func (t *memoryTx) writeMetrics() error {
	for _, id := range slices.Sorted(maps.Keys(t.put)) {
		err := t.step(Step{Of: MetricDocument, Write: true}, func() error {
			is := t.put[id]
			if there, ok := t.metrics[id]; ok {
				if there.Kind != is.Kind {
					return errAnew
				}
				there.First = min(there.First, is.First)
				is = there
			}
			t.metrics[id] = is
			return nil
		})
		if errors.Is(err, counter.ErrCommitUnknown) {
			err = errDown // an update without hits
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *memoryTx) writeDays() (int, error) {
	failed := map[counter.BucketKey]error{}
	n, conflicts, crashed := 0, 0, false
	for _, key := range slices.Sorted(maps.Keys(t.days)) {
		d := t.days[key]
		if !d.rewritten && !d.dedup && len(d.tallies) == 0 {
			continue
		}
		n++
		err := errCrash
		if !crashed {
			err = t.step(Step{Of: DayDocument, Write: true, Day: key}, func() error { return t.write(d) })
		}
		switch {
		case err == nil:
			continue
		case errors.Is(err, errAnew) || errors.Is(err, counter.ErrOverflow):
			conflicts++
			err = counter.ErrConflict
		case errors.Is(err, errCrash):
			crashed = true
			err = fmt.Errorf("%w: %w", counter.ErrCommitUnknown, err)
		}
		failed[key] = err
	}
	switch {
	case len(failed) == 0:
		return n, nil
	case conflicts == n || conflicts > 0 && t.bug == "a conflict starts again":
		return 0, errAnew
	case t.bug == "a conflict names all days":
		for key := range t.days {
			failed[key] = counter.ErrConflict
		}
	case t.bug == "a conflict is no error":
		return n, nil
	}
	return 0, &perdocument.PartialWriteError{Days: failed}
}

func (t *memoryTx) write(d *ownDay) error {
	there := t.memory.days[d.key]
	if there == nil {
		there = newMemoryDay()
	}
	compare := d.rewritten || d.dedup || d.compared
	switch {
	case t.bug == "nothing is compared", t.bug == "memories are not compared" && d.dedup, t.bug == "who opens does not compare" && !d.rewritten && !d.dedup:
	case compare && there.v != d.v:
		if t.bug == "of a conflict the tallies are written" {
			_, _ = there.AddTallies(t.ctx, d.tallies)
		}
		return errAnew
	case d.rewritten && there.tallied != d.tallied && t.bug != "tallies are not compared" && (t.bug != "who packs does not compare" || len(d.Packed) == 0), t.bug == "tallies conflict" && there.tallied != d.tallied:
		return errAnew
	}
	next := there.copy()
	if d.rewritten {
		next.Cell = d.Cell
	} else if _, err := next.AddTallies(context.WithoutCancel(t.ctx), d.tallies); err != nil {
		return err
	}
	if compare {
		t.forget(d)
		next.memory = d.memory
		next.v++
	} else {
		next.tallied++
	}
	t.memory.days[d.key] = next
	return nil
}

// forget removes the records of a day that summaries cover, or that are below the dedup horizon.
func (t *memoryTx) forget(d *ownDay) {
	maps.DeleteFunc(d.memory, func(name batchName, of counter.DedupRecord) bool {
		s := t.whole[name]
		switch {
		case t.bug == "days never forget" || d.fresh[name]:
			return false
		case t.bug == "days forget at once":
			return true
		case s != nil && !s.changed && t.bug == "days forget what is summarised in part":
			return s.is.Print == of.Print
		case s != nil && !s.changed && t.bug == "any number covers":
			s.is.Seq = max(s.is.Seq, of.Seq)
		case s != nil && !s.changed && t.bug == "any time covers":
			of.Newest = s.is.Newest
		}
		return s != nil && !s.changed && perdocument.Covers(s.is, of) || t.horizonRead && of.Newest < t.was
	})
}

func (t *memoryTx) writeSummaries() error {
	for _, name := range slices.SortedFunc(maps.Keys(t.whole), batchName.compare) {
		s := t.whole[name]
		if !s.changed {
			continue
		}
		err := t.step(Step{Of: SummaryDocument, Write: true}, func() error {
			switch there := t.summaries[name]; {
			case there.v != s.v && s.gone: // another transaction has added to it
			case there.v != s.v && t.bug != "summaries are not compared":
				return errAnew
			default: // only the version number of a deleted summary remains
				t.summaries[name] = summary{v: there.v + 1, is: s.is}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
