// SPDX-License-Identifier: Apache-2.0

package perdocumenttest

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/perdocument"
)

func (t *memoryTx) DayBatches(ctx context.Context, of []perdocument.DayBatch) ([]counter.DedupRecord, error) {
	all := make([]counter.DedupRecord, len(of))
	for i, b := range of {
		d, err := t.day(b.Day)
		if err != nil {
			return nil, err
		}
		d.compared = true
		for name := range d.memory {
			t.seen[name] = true
		}
		all[i] = d.memory[batchName{b.Key, b.Producer}]
	}
	return all, ctx.Err()
}

func (t *memoryTx) PutDayBatches(ctx context.Context, of []perdocument.DayMemory) error {
	if t.reading {
		return errReading
	}
	for _, b := range of {
		d, err := t.day(b.Day)
		if err != nil {
			return err
		}
		name := batchName{b.Key, b.Producer}
		d.memory[name], d.fresh[name], d.dedup = b.DedupRecord, true, true
	}
	return ctx.Err()
}

// recall reads summaries one by one, including those of batches seen in days.
func (t *memoryTx) recall(names []batchName) ([]counter.DedupRecord, error) {
	n := len(names)
	names = append(names, slices.SortedFunc(maps.Keys(t.seen), batchName.compare)...)
	clear(t.seen)
	all := make([]counter.DedupRecord, n)
	for i, name := range names {
		s := t.whole[name]
		if s == nil {
			s = &ownSummary{}
			err := t.step(Step{Of: SummaryDocument}, func() error { s.summary = t.summaries[name]; return nil })
			if i >= n && errors.Is(err, errDown) {
				continue // the day keeps its record
			}
			if err != nil {
				what := perdocument.UnreadError{Keys: []counter.Key{name.key}}
				if name.key == "" {
					what = perdocument.UnreadError{Producers: []counter.Producer{name.producer}}
				}
				return nil, t.unread(err, what)
			}
			t.whole[name] = s
		}
		if i < n {
			all[i] = s.is
		}
	}
	return all, nil
}

func (t *memoryTx) Batches(ctx context.Context, keys []counter.Key) ([]counter.DedupRecord, error) {
	names := make([]batchName, len(keys))
	for i, key := range keys {
		names[i].key = key
	}
	all, err := t.recall(names)
	return all, cmp.Or(err, ctx.Err())
}

func (t *memoryTx) Producers(ctx context.Context, producers []counter.Producer) ([]counter.DedupRecord, error) {
	names := make([]batchName, len(producers))
	for i, p := range producers {
		names[i] = nameOfProducer(p)
	}
	all, err := t.recall(names)
	return all, cmp.Or(err, ctx.Err())
}

func (t *memoryTx) summarise(ctx context.Context, name batchName, is counter.DedupRecord) error {
	if t.reading {
		return errReading
	}
	if _, err := t.recall([]batchName{name}); err != nil {
		return err
	}
	s := t.whole[name]
	s.is, s.changed, s.gone = is, true, false
	return ctx.Err()
}

func (t *memoryTx) PutBatches(ctx context.Context, batches []counter.KeyedBatch) error {
	for _, b := range batches {
		if err := t.summarise(ctx, batchName{key: b.Key}, b.DedupRecord); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (t *memoryTx) PutProducers(ctx context.Context, batches []counter.ProducedBatch) error {
	for _, b := range batches {
		if err := t.summarise(ctx, nameOfProducer(b.Producer), b.DedupRecord); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (t *memoryTx) DropBatches(ctx context.Context, below int64, limit int) (int, error) {
	return t.drop(ctx, func(name batchName) bool { return name.key != "" }, below, limit)
}

func (t *memoryTx) DropProducers(ctx context.Context, below int64, limit int) (int, error) {
	return t.drop(ctx, func(name batchName) bool { return name.key == "" }, below, limit)
}

func (t *memoryTx) drop(ctx context.Context, kind func(batchName) bool, below int64, limit int) (n int, _ error) {
	if t.reading {
		return 0, errReading
	}
	err := t.step(Step{Of: Listing}, func() error {
		for name, there := range t.summaries {
			if t.whole[name] == nil && kind(name) && there.is.Newest < below {
				t.whole[name] = &ownSummary{summary: there}
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for name, s := range t.whole {
		if kind(name) && n < limit && !s.gone && s.is.Print != [16]byte{} && s.is.Newest < min(below, math.MaxInt64) {
			s.is, s.changed, s.gone = counter.DedupRecord{}, true, true
			n++
		}
	}
	return n, ctx.Err()
}
