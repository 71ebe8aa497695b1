// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"encoding/hex"
	"slices"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/perdocument"
)

// entry is the dedup record of a batch in a day.
type entry struct {
	Name    string `bson:"name"` // see nameOf
	Seq     int64  `bson:"seq"`  // its bits
	Newest  int64  `bson:"newest"`
	Print   []byte `bson:"print"`
	Results []byte `bson:"results"`
	fresh   bool   // written by this transaction
}

// nameOf returns the name of a batch with a key, or of the last batch of a producer.
func nameOf(key counter.Key, producer counter.Producer) string {
	if key != "" {
		return "k" + string(key)
	}
	return "p" + hex.EncodeToString(producer[:])
}

func newEntry(name string, r counter.DedupRecord) entry {
	return entry{Name: name, Seq: int64(r.Seq), Newest: r.Newest, Print: slices.Clone(r.Print[:]), Results: r.Results} //nolint:gosec // its bits
}

func (e *entry) dedup() counter.DedupRecord {
	r := counter.DedupRecord{Seq: uint64(e.Seq), Newest: e.Newest, Results: e.Results} //nolint:gosec // its bits
	copy(r.Print[:], e.Print)
	return r
}

// DayBatches reads the batches stored in days. It also notes the other batches in these days, which can be removed from
// them once their summaries exist.
func (t *counterTx) DayBatches(ctx context.Context, of []perdocument.DayBatch) ([]counter.DedupRecord, error) {
	keys := make([]counter.BucketKey, len(of))
	for i := range of {
		keys[i] = of[i].Day
	}
	if err := t.load(ctx, keys, false); err != nil {
		return nil, err
	}
	all := make([]counter.DedupRecord, len(of))
	for i := range of {
		d, name := t.days[of[i].Day], nameOf(of[i].Key, of[i].Producer)
		d.compared = true
		for j := range d.memory {
			e := &d.memory[j]
			if t.seen[e.Name] = true; e.Name == name {
				all[i] = e.dedup()
			}
		}
	}
	return all, nil
}

// PutDayBatches remembers batches in days.
func (t *counterTx) PutDayBatches(ctx context.Context, of []perdocument.DayMemory) error {
	if err := t.writes(); err != nil {
		return err
	}
	keys := make([]counter.BucketKey, len(of))
	for i := range of {
		keys[i] = of[i].Day
	}
	if err := t.load(ctx, keys, false); err != nil {
		return err
	}
	for i := range of {
		d, e := t.days[of[i].Day], newEntry(nameOf(of[i].Key, of[i].Producer), of[i].DedupRecord)
		e.fresh = true
		d.memory = slices.Clone(d.memory)
		if at := slices.IndexFunc(d.memory, func(old entry) bool { return old.Name == e.Name }); at >= 0 {
			d.memory[at] = e
		} else {
			d.memory = append(d.memory, e)
		}
		d.remembers, d.compared = true, true
	}
	return nil
}

// forget removes from a day the batches that summaries cover or that are below the dedup horizon. This is free because
// the day is written anyway.
func (t *counterTx) forget(d *day) {
	n := len(d.memory)
	kept := slices.DeleteFunc(slices.Clone(d.memory), func(e entry) bool {
		if e.fresh {
			return false
		}
		s := t.summaries[e.Name]
		return s != nil && s.there && !s.changed && perdocument.Covers(s.is, e.dedup()) || t.floor != nil && e.Newest < t.floor.was
	})
	if len(kept) < n {
		d.memory, d.remembers = kept, true
	}
}
