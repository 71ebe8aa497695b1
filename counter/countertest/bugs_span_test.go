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

func (s *shelf) Spans(ctx context.Context, table counter.Table, keys []counter.SpanKey) ([][]int64, error) {
	if s.bug == "spans in the order of keys" {
		keys = slices.Sorted(slices.Values(keys))
	}
	values, err := s.Store.Spans(ctx, s.table(table), keys)
	for i := range values {
		switch {
		case s.bug == "missing spans are zeros" && values[i] == nil:
			values[i] = make([]int64, table.Width())
		case s.bug == "long batches of keys are cut" && i >= 999:
			values[i] = nil
		}
	}
	switch s.bug {
	case "missing spans are left out":
		values = slices.DeleteFunc(values, func(v []int64) bool { return v == nil })
	case "readers of spans do not wait":
		if s.others.spans == nil {
			s.others.spans = map[counter.Table][][]int64{}
		}
		if there := s.others.spans[table]; len(there) == len(values) && s.others.second() {
			for i := range there {
				there[i] = slices.Clone(there[i])
			}
			return there, err
		}
		s.others.spans[table] = nil
		for _, v := range values {
			s.others.spans[table] = append(s.others.spans[table], slices.Clone(v))
		}
	}
	return values, err
}

func (s *shelf) PutSpans(ctx context.Context, table counter.Table, spans []counter.Span) error {
	spans = slices.Clone(spans)
	for i, of := range spans {
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
		spans[i].Values = values
	}
	if s.bug == "spans are written once" {
		spans = slices.DeleteFunc(spans, func(of counter.Span) bool {
			there, _ := s.Store.Spans(ctx, table, []counter.SpanKey{of.Key})
			return there[0] != nil
		})
	}
	return s.Store.PutSpans(ctx, s.table(table), spans)
}

func (s *shelf) PrepareSpans(ctx context.Context, table counter.Table, keys []counter.SpanKey) ([]counter.SpanKey, error) {
	if s.bug == "preparing empties" {
		if err := s.Store.DeleteSpans(ctx, table, keys); err != nil {
			return nil, err
		}
	}
	made, err := s.Store.PrepareSpans(ctx, table, keys)
	if s.bug == "preparing tells all" {
		made = keys
	}
	return made, err
}

func (s *shelf) DeleteSpans(ctx context.Context, table counter.Table, keys []counter.SpanKey) error {
	switch s.bug {
	case "deleting twice fails":
		there, err := s.Store.Spans(ctx, table, keys)
		if err != nil || slices.ContainsFunc(there, func(v []int64) bool { return v == nil }) {
			return errors.Join(err, errors.New("no span"))
		}
	case "deleting takes metrics":
		for _, key := range slices.Clone(keys) {
			keys = append(slices.Clip(keys), key+1<<40)
		}
	}
	return s.Store.DeleteSpans(ctx, s.table(table), keys)
}

func (s *shelf) FirstSpans(ctx context.Context, table counter.Table, below counter.SpanKey, limit int) ([]counter.Span, error) {
	switch s.bug {
	case "below is included":
		if below < math.MaxInt64 {
			below++
		}
	case "limits of spans are not kept":
		limit++
	case "spans in the order of text":
		list, err := s.Store.FirstSpans(ctx, table, below, math.MaxInt)
		slices.SortFunc(list, func(a, b counter.Span) int { return cmp.Compare(fmt.Sprint(a.Key), fmt.Sprint(b.Key)) })
		return list[:min(limit, len(list))], err
	}
	list, err := s.Store.FirstSpans(ctx, s.table(table), below, limit)
	if s.bug == "readers of the first spans do not wait" {
		if s.others.second() && s.others.first != nil {
			return s.others.first, err
		}
		s.others.first = list
	}
	return list, err
}

func (s *shelf) ClosedDays(ctx context.Context, keys []counter.SpanKey) ([]counter.ClosedDay, error) {
	days, err := s.Store.ClosedDays(ctx, keys)
	if s.bug == "missing days are left out" {
		days = slices.DeleteFunc(days, func(d counter.ClosedDay) bool { return d.Key == 0 })
	}
	return days, err
}

func (s *shelf) PutClosedDays(ctx context.Context, days []counter.ClosedDay) error {
	days = slices.Clone(days)
	for i, d := range days {
		there, err := s.Store.ClosedDays(ctx, []counter.SpanKey{d.Key})
		if err != nil {
			return err
		}
		switch s.bug {
		case "closed days are text":
			days[i].Body = bytes.ToValidUTF8(d.Body, []byte("?"))
		case "bodies of 4 KiB":
			days[i].Body = d.Body[:min(len(d.Body), 1<<12)]
		case "closed days are written once":
			if there[0].Key != 0 {
				days[i] = there[0]
			}
		case "details stay":
			if there[0].Key != 0 {
				days[i].Detail = there[0].Detail
			}
		}
	}
	return s.Store.PutClosedDays(ctx, days)
}

func (s *shelf) DetailedDays(ctx context.Context, detail counter.Detail, from, below counter.SpanKey, limit int) ([]counter.ClosedDay, error) {
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
