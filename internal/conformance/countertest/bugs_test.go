// SPDX-License-Identifier: Apache-2.0

package countertest_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/locus-db/locus/counter"
)

// shelf is the model with at most one bug that a backend could have.
type shelf struct {
	counter.Store
	bug     string
	horizon *int64 // as first read by the transaction
	others  *others
}

// others gives every second reader what the previous one saw.
type others struct {
	n       int
	buckets map[counter.Table][][]int64
	first   []counter.Bucket
	made    []counter.BucketKey
	horizon int64
	answer  []counter.DedupRecord
	put     map[counter.ID]counter.Meta // the last one of each
}

func (o *others) second() bool { o.n++; return o.n%2 == 0 }

func (s *shelf) Metrics(ctx context.Context, ids []counter.ID) ([]counter.Meta, error) {
	ids = slices.Clone(ids)
	switch s.bug {
	case "empty batches fail":
		if len(ids) == 0 {
			return nil, errors.New("no ids")
		}
	case "metrics in the order of ids":
		slices.Sort(ids)
	case "a metric is found once":
		ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	}
	list, err := s.Store.Metrics(ctx, ids)
	for i := range list {
		switch last := s.others.put[list[i].ID]; s.bug {
		case "kinds are forgotten":
			list[i].Kind = counter.Counter
		case "names change":
			list[i].Name = last.Name
		case "kinds change":
			list[i].Kind = last.Kind
		case "the last day is kept":
			list[i].First = last.First
		}
	}
	if s.bug == "missing metrics are left out" {
		list = slices.DeleteFunc(list, func(m counter.Meta) bool { return m.ID == 0 })
	}
	return list, err
}

func (s *shelf) PutMetrics(ctx context.Context, metrics []counter.Meta) error {
	metrics = slices.Clone(metrics)
	for i, m := range metrics {
		there, err := s.Store.Metrics(ctx, []counter.ID{m.ID})
		if err != nil {
			return err
		}
		known := there[0].ID != 0
		switch s.bug {
		case "names fold":
			metrics[i].Name = counter.Metric(strings.ToLower(string(m.Name)))
		case "names of 199 bytes":
			metrics[i].Name = m.Name[:min(len(m.Name), 199)]
		case "ids of 32 bits":
			metrics[i].ID &= math.MaxUint32
		case "the first day stays":
			if known {
				metrics[i].First = there[0].First
			}
		}
		if s.others.put == nil {
			s.others.put = map[counter.ID]counter.Meta{}
		}
		s.others.put[m.ID] = m
	}
	return s.Store.PutMetrics(ctx, metrics)
}

func (s *shelf) ListMetrics(ctx context.Context, prefix, after counter.Metric, limit int) ([]counter.Meta, error) {
	switch s.bug {
	case "names in the order of people":
		all, err := s.Store.ListMetrics(ctx, prefix, after, math.MaxInt)
		slices.SortStableFunc(all, func(a, b counter.Meta) int {
			return cmp.Compare(strings.ToLower(string(a.Name)), strings.ToLower(string(b.Name)))
		})
		return all[:min(limit, len(all))], err
	case "limits of metrics are not kept":
		limit++
	case "after is ignored":
		after = ""
	case "prefixes are ignored":
		prefix = ""
	case "prefixes end at the last character":
		if strings.HasSuffix(string(prefix), "\U0010ffff") {
			return nil, nil
		}
	case "prefixes are patterns":
		if i := strings.IndexAny(string(prefix), "%_"); i >= 0 {
			prefix = prefix[:i]
		}
	case "after is included":
		if all, err := s.Store.Metrics(ctx, []counter.ID{1}); err == nil && after == all[0].Name && strings.HasPrefix(string(after), string(prefix)) {
			rest, err := s.Store.ListMetrics(ctx, prefix, after, limit-1)
			return append(all, rest...), err
		}
	}
	return s.Store.ListMetrics(ctx, prefix, after, limit)
}

func (s *shelf) CountMetrics(ctx context.Context) (int, error) {
	n, err := s.Store.CountMetrics(ctx)
	if s.bug == "counts are guessed" {
		n -= n % 10
	}
	return n, err
}

func (s *shelf) AddTallies(ctx context.Context, tallies []counter.Tally) ([]counter.BucketKey, error) {
	tallies = slices.Clone(tallies)
	switch s.bug {
	case "the context is not asked":
		ctx = context.Background()
	case "long batches are cut":
		tallies = tallies[:min(len(tallies), 1000)]
	case "a bucket is written once":
		tallies = slices.CompactFunc(tallies, func(a, b counter.Tally) bool { return a.ID == b.ID && a.Minute.Hour() == b.Minute.Hour() })
	case "numbers of 53 bits":
		for i := range tallies {
			tallies[i].N = int64(float64(tallies[i].N>>10)) << 10
		}
	}
	made, err := s.Store.AddTallies(ctx, tallies)
	switch {
	case s.bug == "sums stop at the highest" && errors.Is(err, counter.ErrOverflow):
		return nil, nil
	case s.bug == "overflow is any error" && err != nil:
		return nil, errors.New("bigint out of range")
	case err != nil:
		return nil, err
	}
	for _, a := range tallies {
		if err := s.forgetLevel(ctx, a); err != nil {
			return nil, err
		}
	}
	switch s.bug {
	case "all days are made":
		made = nil
		for _, a := range tallies {
			made = append(made, counter.NewBucketKey(a.Minute.Day(), a.ID))
		}
		slices.Sort(made)
		made = slices.Compact(made)
	case "days are made twice":
		if len(made) > 0 {
			s.others.made = made
		}
		if s.others.second() {
			return s.others.made, nil
		}
	}
	return made, nil
}

// forgetLevel removes a tally from a level again.
func (s *shelf) forgetLevel(ctx context.Context, a counter.Tally) error {
	table, key, i := counter.Days, counter.NewBucketKey(a.Minute.Day(), a.ID), counter.DayTotal
	switch s.bug {
	case "quarters are forgotten":
		i = counter.DayQuarter(a.Minute.Quarter())
	case "hours are forgotten":
		i = counter.DayHour(a.Minute.HourOfDay())
	case "totals are forgotten":
	case "minutes are forgotten":
		table, key, i = counter.Hours, counter.NewBucketKey(a.Minute.Hour(), a.ID), a.Minute.InHour()
	default:
		return nil
	}
	values, err := s.Store.Buckets(ctx, table, []counter.BucketKey{key})
	if err != nil {
		return err
	}
	values[0][i] -= a.N
	return s.Store.PutBuckets(ctx, table, []counter.Bucket{{Key: key, Values: values[0]}})
}

func (s *shelf) TopMetrics(ctx context.Context, day int64, prefix counter.Metric, k int) ([]counter.Ranked, error) {
	all := func(day int64) []counter.Ranked {
		list, _ := s.Store.TopMetrics(ctx, day, "", math.MaxInt)
		return list
	}
	begins := func(r counter.Ranked) bool { return strings.HasPrefix(string(r.Metric), string(prefix)) }
	switch s.bug {
	case "the highest before the prefix":
		list := all(day)
		list = list[:min(k, len(list))]
		return slices.DeleteFunc(list, func(r counter.Ranked) bool { return !begins(r) }), nil
	case "ties in any order":
		list := slices.DeleteFunc(all(day), func(r counter.Ranked) bool { return !begins(r) })
		slices.Reverse(list)
		slices.SortStableFunc(list, func(a, b counter.Ranked) int { return cmp.Compare(b.N, a.N) })
		return list[:min(k, len(list))], nil
	case "the day before counts":
		if list := all(day); len(list) == 0 {
			day--
		}
	case "compacted days do not count", "open days do not count":
		return s.half(ctx, day, prefix, k)
	case "zeros are ranked":
		if list := all(day); len(list) < k && prefix == "" {
			return append(list, counter.Ranked{Metric: "z"}), nil
		}
	}
	list, err := s.Store.TopMetrics(ctx, day, prefix, k)
	if s.bug == "long answers are cut" {
		list = list[:min(len(list), 100)]
	}
	return list, err
}

// half ranks by only one of the open and closed parts of a day.
func (s *shelf) half(ctx context.Context, day int64, prefix counter.Metric, k int) (list []counter.Ranked, _ error) {
	metas, err := s.Store.ListMetrics(ctx, prefix, "", math.MaxInt)
	for _, m := range metas {
		key := []counter.BucketKey{counter.NewBucketKey(day, m.ID)}
		compacted, _ := s.Store.CompactedDays(ctx, key)
		open, _ := s.Store.Buckets(ctx, counter.Days, key)
		n := compacted[0].N
		if s.bug == "compacted days do not count" {
			if n = 0; open[0] != nil {
				n = open[0][counter.DayTotal]
			}
		}
		if n > 0 {
			list = append(list, counter.Ranked{Metric: m.Name, N: n})
		}
	}
	slices.SortFunc(list, func(a, b counter.Ranked) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Metric, b.Metric)) })
	return list[:min(k, len(list))], err
}
