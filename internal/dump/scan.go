// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage"
)

// decisions reads the decisions of a cell. One about a pair is stored under both records, and both rows are read: after
// an erasure they differ.
func (t *taking) decisions(ctx context.Context, tx storage.Tx) error {
	var l lines
	for after := (entity.DecisionKey{A: engine.FirstPUID}); ; {
		found, err := tx.ListDecisions(ctx, after, page)
		if err != nil {
			return err
		}
		for _, d := range found {
			if err := l.put(decisionLine{typeDecision, d}); err != nil {
				return err
			}
		}
		if err := t.sections[sectionDecisions].add(&l); err != nil || len(found) < page {
			return err
		}
		after = found[len(found)-1].Key()
	}
}

// records reads the records of a cell. Tombstones are kept until their keys are found.
func (t *taking) records(ctx context.Context, tx storage.Tx) error {
	var l lines
	puids := make([]entity.PUID, 0, page)
	return eachRow(ctx, tx, "record", func(rows [][]any) error {
		puids = puids[:0]
		for _, row := range rows {
			puids = append(puids, entity.PUID(row[0].(int64)))
		}
		found, err := tx.Records(ctx, puids)
		if err != nil {
			return err
		}
		for _, rec := range found {
			if rec.Deleted() {
				t.mu.Lock()
				t.deleted[rec.PUID] = &deletedLine{Type: typeDeleted, PUID: rec.PUID, Version: rec.Version, Birth: rec.Birth}
				t.mu.Unlock()
				continue
			}
			if err := l.put(recordLine{
				typeRecord, rec.PUID, rec.Source, rec.Key, rec.Kind, rec.Version, rec.Birth, rec.Observed, rec.Attributes,
			}); err != nil {
				return err
			}
		}
		return t.sections[sectionRecords].add(&l)
	})
}

// births reads the births whose record is deleted. Births of live records follow from the records.
func (t *taking) births(ctx context.Context, tx storage.Tx) error {
	var l lines
	for after := (locality.ID{}); ; {
		found, err := tx.ListBirths(ctx, after, page)
		if err != nil {
			return err
		}
		for _, b := range found {
			if b.PUID == 0 {
				if err := l.put(birthLine{typeBirth, b.ID, b.Successor}); err != nil {
					return err
				}
			}
		}
		if err := t.sections[sectionBirths].add(&l); err != nil || len(found) < page {
			return err
		}
		after = found[len(found)-1].ID
	}
}

// counters reads the metrics of a cell, their buckets, and the dedup records.
func (t *taking) counters(ctx context.Context, tx storage.Tx) error {
	horizon, err := tx.DedupHorizon(ctx)
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.horizon = max(t.horizon, horizon)
	t.mu.Unlock()
	names := map[counter.ID]counter.Metric{}
	var l lines
	for after := counter.Metric(""); ; {
		found, err := tx.ListMetrics(ctx, "", after, page)
		if err != nil {
			return err
		}
		for _, m := range found {
			names[m.ID] = m.Name
			if err := l.put(metricLine{typeMetric, m.Name, m.Kind.String(), m.First}); err != nil {
				return err
			}
		}
		if err := t.sections[sectionMetrics].add(&l); err != nil {
			return err
		}
		if len(found) < page {
			break
		}
		after = found[len(found)-1].Name
	}
	if len(names) > 0 {
		if err := t.buckets(ctx, tx, names); err != nil {
			return err
		}
	}
	return t.batches(ctx, tx)
}

func (t *taking) buckets(ctx context.Context, tx storage.Tx, names map[counter.ID]counter.Metric) error {
	var l lines
	for _, table := range tables {
		if err := eachRow(ctx, tx, table.row, func(rows [][]any) error {
			for _, row := range rows {
				key := counter.BucketKey(row[0].(int64))
				if err := l.put(bucketLine{typeBucket, table.name, names[key.ID()], key.Unit(), numbers(row[1].([]byte))}); err != nil {
					return err
				}
			}
			return t.sections[sectionBuckets].add(&l)
		}); err != nil {
			return err
		}
	}
	return eachRow(ctx, tx, "counter_compacted", func(rows [][]any) error {
		keys := make([]counter.BucketKey, len(rows))
		for i, row := range rows {
			keys[i] = counter.BucketKey(row[0].(int64))
		}
		days, err := tx.CompactedDays(ctx, keys)
		if err != nil {
			return err
		}
		for _, d := range days {
			name := names[d.Key.ID()]
			if d, err = d.At(counter.NewBucketKey(d.Key.Unit(), 0)); err != nil {
				return err
			}
			if err := l.put(dayLine{typeDay, name, d.Key.Unit(), d.N, d.Detail, d.Body}); err != nil {
				return err
			}
		}
		return t.sections[sectionBuckets].add(&l)
	})
}

// batches reads the dedup records of a cell.
func (t *taking) batches(ctx context.Context, tx storage.Tx) error {
	var l lines
	put := func(line batchLine, r counter.DedupRecord) error {
		line.Type, line.Seq, line.Newest, line.Digest, line.Results = typeBatch, r.Seq, r.Newest, r.Print[:], r.Results
		return l.put(line)
	}
	if err := eachRow(ctx, tx, "counter_key", func(rows [][]any) error {
		keys := make([]counter.Key, len(rows))
		for i, row := range rows {
			keys[i] = counter.Key(row[0].(string))
		}
		found, err := tx.Batches(ctx, keys)
		if err != nil {
			return err
		}
		for i, r := range found {
			if err := put(batchLine{Key: keys[i]}, r); err != nil {
				return err
			}
		}
		return t.sections[sectionBatches].add(&l)
	}); err != nil {
		return err
	}
	return eachRow(ctx, tx, "counter_producer", func(rows [][]any) error {
		producers := make([]counter.Producer, len(rows))
		for i, row := range rows {
			copy(producers[i][:], row[0].([]byte))
		}
		found, err := tx.Producers(ctx, producers)
		if err != nil {
			return err
		}
		for i, r := range found {
			if err := put(batchLine{Producer: producers[i][:]}, r); err != nil {
				return err
			}
		}
		return t.sections[sectionBatches].add(&l)
	})
}

// eachRow reads a table in key order, a page at a time.
func eachRow(ctx context.Context, tx storage.Tx, table string, fn func(rows [][]any) error) error {
	keys := 0
	for _, of := range tx.Tables() {
		if of.Name == table {
			keys = of.Key
		}
	}
	for after := []any(nil); ; {
		rows, err := tx.ReadRows(ctx, table, after, page)
		if err != nil {
			return fmt.Errorf("read %s: %w", table, err)
		}
		if len(rows) == 0 {
			return nil
		}
		if err := fn(rows); err != nil {
			return err
		}
		after = rows[len(rows)-1][:keys:keys]
	}
}

// numbers decodes the numbers of a bucket as cell.Copier writes them.
func numbers(b []byte) []int64 {
	values := make([]int64, len(b)/8)
	for i := range values {
		values[i] = int64(binary.BigEndian.Uint64(b[8*i:])) //nolint:gosec // its bits
	}
	return values
}
