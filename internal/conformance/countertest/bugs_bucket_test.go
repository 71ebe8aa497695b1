// SPDX-License-Identifier: Apache-2.0

package countertest_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/locus-db/locus/counter"
)

func (s *shelf) table(table counter.Table) counter.Table {
	if s.bug == "gauges are one table" && table == counter.GaugeDays {
		return counter.GaugeQuarters
	}
	return table
}

func (s *shelf) Buckets(ctx context.Context, table counter.Table, keys []counter.BucketKey) ([][]int64, error) {
	if s.bug == "buckets in the order of keys" {
		keys = slices.Sorted(slices.Values(keys))
	}
	values, err := s.Store.Buckets(ctx, s.table(table), keys)
	for i := range values {
		switch {
		case s.bug == "missing buckets are zeros" && values[i] == nil:
			values[i] = make([]int64, table.Width())
		case s.bug == "long batches of keys are cut" && i >= 999:
			values[i] = nil
		}
	}
	switch s.bug {
	case "missing buckets are left out":
		values = slices.DeleteFunc(values, func(v []int64) bool { return v == nil })
	case "readers of buckets do not wait":
		if s.others.buckets == nil {
			s.others.buckets = map[counter.Table][][]int64{}
		}
		if there := s.others.buckets[table]; len(there) == len(values) && s.others.second() {
			for i := range there {
				there[i] = slices.Clone(there[i])
			}
			return there, err
		}
		s.others.buckets[table] = nil
		for _, v := range values {
			s.others.buckets[table] = append(s.others.buckets[table], slices.Clone(v))
		}
	}
	return values, err
}

func (s *shelf) PutBuckets(ctx context.Context, table counter.Table, buckets []counter.Bucket) error {
	buckets = slices.Clone(buckets)
	for i, of := range buckets {
		values := slices.Clone(of.Values)
		for j, v := range values {
			switch s.bug {
			case "nothing is negative":
				values[j] = max(v, 0)
			case "numbers are floats":
				if int64(float64(v)) != v {
					values[j]--
				}
			}
		}
		buckets[i].Values = values
	}
	if s.bug == "buckets are written once" {
		buckets = slices.DeleteFunc(buckets, func(of counter.Bucket) bool {
			there, _ := s.Store.Buckets(ctx, table, []counter.BucketKey{of.Key})
			return there[0] != nil
		})
	}
	return s.Store.PutBuckets(ctx, s.table(table), buckets)
}

func (s *shelf) PrepareBuckets(ctx context.Context, table counter.Table, keys []counter.BucketKey) ([]counter.BucketKey, error) {
	if s.bug == "preparing empties" {
		if err := s.Store.DeleteBuckets(ctx, table, keys); err != nil {
			return nil, err
		}
	}
	made, err := s.Store.PrepareBuckets(ctx, table, keys)
	if s.bug == "preparing tells all" {
		made = keys
	}
	return made, err
}

func (s *shelf) DeleteBuckets(ctx context.Context, table counter.Table, keys []counter.BucketKey) error {
	switch s.bug {
	case "deleting twice fails":
		there, err := s.Store.Buckets(ctx, table, keys)
		if err != nil || slices.ContainsFunc(there, func(v []int64) bool { return v == nil }) {
			return errors.Join(err, errors.New("no bucket"))
		}
	case "deleting takes metrics":
		for _, key := range slices.Clone(keys) {
			keys = append(slices.Clip(keys), key+1<<40)
		}
	}
	return s.Store.DeleteBuckets(ctx, s.table(table), keys)
}

func (s *shelf) FirstBuckets(ctx context.Context, table counter.Table, below counter.BucketKey, limit int) ([]counter.Bucket, error) {
	switch s.bug {
	case "below is included":
		if below < math.MaxInt64 {
			below++
		}
	case "limits of buckets are not kept":
		limit++
	case "buckets in the order of text":
		list, err := s.Store.FirstBuckets(ctx, table, below, math.MaxInt)
		slices.SortFunc(list, func(a, b counter.Bucket) int { return cmp.Compare(fmt.Sprint(a.Key), fmt.Sprint(b.Key)) })
		return list[:min(limit, len(list))], err
	}
	list, err := s.Store.FirstBuckets(ctx, s.table(table), below, limit)
	if s.bug == "readers of the first buckets do not wait" {
		if s.others.second() && s.others.first != nil {
			return s.others.first, err
		}
		s.others.first = list
	}
	return list, err
}

func (s *shelf) CompactedDays(ctx context.Context, keys []counter.BucketKey) ([]counter.CompactedDay, error) {
	days, err := s.Store.CompactedDays(ctx, keys)
	if s.bug == "missing days are left out" {
		days = slices.DeleteFunc(days, func(d counter.CompactedDay) bool { return d.Key == 0 })
	}
	return days, err
}

func (s *shelf) PutCompactedDays(ctx context.Context, days []counter.CompactedDay) error {
	days = slices.Clone(days)
	for i, d := range days {
		there, err := s.Store.CompactedDays(ctx, []counter.BucketKey{d.Key})
		if err != nil {
			return err
		}
		switch s.bug {
		case "compacted days are text":
			days[i].Body = bytes.ToValidUTF8(d.Body, []byte("?"))
		case "bodies of 4 KiB":
			days[i].Body = d.Body[:min(len(d.Body), 1<<12)]
		case "compacted days are written once":
			if there[0].Key != 0 {
				days[i] = there[0]
			}
		case "details stay":
			if there[0].Key != 0 {
				days[i].Detail = there[0].Detail
			}
		}
	}
	return s.Store.PutCompactedDays(ctx, days)
}

func (s *shelf) DetailedDays(ctx context.Context, detail counter.Detail, from, below counter.BucketKey, limit int) ([]counter.CompactedDay, error) {
	switch s.bug {
	case "from is left out":
		from++
	case "the last day is included":
		if below < math.MaxInt64 {
			below++
		}
	case "limits of days are not kept":
		limit++
	case "days without detail are not listed":
		if detail == counter.NoDetail {
			return nil, nil
		}
	case "days of any detail":
		detail = counter.Minutes
	}
	return s.Store.DetailedDays(ctx, detail, from, below, limit)
}
