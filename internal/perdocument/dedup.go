// SPDX-License-Identifier: Apache-2.0

package perdocument

import (
	"cmp"
	"context"
	"slices"

	"github.com/locus-db/locus/counter"
)

// dedup is the counter.Dedup of a group: a record for each day of a batch.
type dedup struct {
	tx     Store // of the current update
	days   map[DayBatch]*counter.DedupState
	whole  counter.BatchStates        // the summaries
	unread map[counter.BatchName]bool // batches whose summaries cannot be read
}

func newDedup() dedup {
	return dedup{days: map[DayBatch]*counter.DedupState{}, whole: counter.BatchStates{},
		unread: map[counter.BatchName]bool{}}
}

func dayBatch(n counter.BatchName, day counter.BucketKey) DayBatch {
	return DayBatch{Day: day, Key: n.Key, Producer: n.Producer}
}

func (b DayBatch) name() counter.BatchName {
	return counter.BatchName{Key: b.Key, Producer: b.Producer}
}

// names returns the batches whose summaries are needed and can be read.
func (d *dedup) names(g *counter.CommitGroup) (names []counter.BatchName) {
	for _, b := range g.Batches() {
		if n := b.Name(); n != (counter.BatchName{}) && !d.unread[n] {
			names = append(names, n)
		}
	}
	return names
}

// Load reads in the order that finds every record: the days, because a day forgets its record only after the summary
// was written; then the summaries, because they are only dropped after the dedup horizon has risen; then the horizon.
func (d *dedup) Load(ctx context.Context, tx counter.Tx, g *counter.CommitGroup) (int64, error) {
	clear(d.days)
	clear(d.whole)
	names := d.names(g)
	if len(names) == 0 {
		return 0, nil
	}
	if err := d.loadDays(ctx, g); err != nil {
		return 0, err
	}
	if err := d.whole.Load(ctx, tx, names); err != nil {
		return 0, err
	}
	horizon, err := tx.DedupHorizon(ctx)
	if err != nil {
		return 0, err
	}
	d.rememberDays()
	return horizon, nil
}

// loadDays reads the days' records of the group's batches.
func (d *dedup) loadDays(ctx context.Context, g *counter.CommitGroup) error {
	var of []DayBatch
	for h := range g.Pending() {
		n := h.Batch().Name()
		if n == (counter.BatchName{}) {
			continue
		}
		b := dayBatch(n, h.Day())
		if _, asked := d.days[b]; !asked {
			d.days[b] = nil
			of = append(of, b)
		}
	}
	there, err := d.tx.DayBatches(ctx, of)
	for i := range there {
		d.days[of[i]] = counter.NewDedupState(there[i])
	}
	return err
}

// rememberDays gives days the record from the summary if they have no record of a batch, or one of an earlier batch of
// its producer.
func (d *dedup) rememberDays() {
	for b, m := range d.days {
		if whole := d.whole[b.name()]; whole.Known() && (!m.Known() || m.Seq < whole.Seq) {
			is := counter.NewDedupState(whole.DedupRecord)
			if m.Known() {
				is.Newest = max(is.Newest, m.Newest) // the day may know of hits that the summary does not
			}
			d.days[b] = is
		}
	}
}

// State returns the record of the day.
func (d *dedup) State(b *counter.GroupBatch, day counter.BucketKey) *counter.DedupState {
	return d.days[dayBatch(b.Name(), day)]
}

// Save writes the records of counted batches atomically with their days (R4).
func (d *dedup) Save(ctx context.Context, _ counter.Tx) error {
	var put []DayMemory
	for b, m := range d.days {
		if m.Changed() {
			put = append(put, DayMemory{b, m.DedupRecord})
		}
	}
	if len(put) == 0 {
		return nil
	}
	slices.SortFunc(put, func(a, b DayMemory) int { return cmp.Compare(a.Day, b.Day) })
	return d.tx.PutDayBatches(ctx, put)
}

// summarise writes the summaries of a group's batches after its days. If it fails, the days still have their
// records.
func (g *groupCommit) summarise(ctx context.Context) {
	if len(g.dedup.days) == 0 {
		return
	}
	_ = g.db.Update(ctx, func(tx Store) error {
		if err := g.dedup.whole.Load(ctx, tx, g.dedup.names(g.CommitGroup)); err != nil {
			return err
		}
		for _, b := range g.Batches() {
			if whole := g.dedup.whole[b.Name()]; whole != nil {
				b.Add(whole)
			}
		}
		return g.dedup.whole.Save(ctx, tx)
	})
}
