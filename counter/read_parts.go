// SPDX-License-Identifier: Apache-2.0

package counter

import "context"

func readDays(ctx context.Context, tx Tx, table Table, days []lineDay) (open [][]int64, compacted []CompactedDay, err error) {
	keys := make([]BucketKey, len(days))
	for i, of := range days {
		keys[i] = of.key
	}
	if open, err = tx.Buckets(ctx, table, keys); err != nil {
		return nil, nil, err
	}
	compacted, err = tx.CompactedDays(ctx, keys)
	return open, compacted, err
}

// finer collects keys of buckets below days, with the destinations of their values.
type finer struct {
	keys []BucketKey
	to   []*[]int64
}

func (f *finer) want(unit int64, id ID, to *[]int64) {
	f.keys, f.to = append(f.keys, NewBucketKey(unit, id)), append(f.to, to)
}

func (f *finer) read(ctx context.Context, tx Tx, table Table) error {
	if len(f.keys) == 0 {
		return nil
	}
	values, err := tx.Buckets(ctx, table, f.keys)
	for i, v := range values {
		*f.to[i] = v
	}
	return err
}

type counterReader struct {
	ctx context.Context
	tx  Tx
}

func (r *counterReader) read(p *plan, days []lineDay) error {
	open, compacted, err := readDays(r.ctx, r.tx, Days, days)
	if err != nil {
		return err
	}
	found := make([]held, len(days))
	var hours finer
	for i, of := range days {
		h := &found[i]
		h.open, h.compacted = open[i], compacted[i]
		if h.open == nil || of.need.level != Minutes {
			continue
		}
		for hour := of.need.a / 60; hour*60 < of.need.b; hour++ {
			if h.open[DayHour(hour)] != 0 {
				hours.want(of.need.day*24+int64(hour), of.line.meta.ID, &h.hours[hour])
			}
		}
	}
	if err := hours.read(r.ctx, r.tx, Hours); err != nil {
		return err
	}
	for i, of := range days {
		if err := of.line.take(p, of.need, &found[i]); err != nil {
			return err
		}
	}
	return nil
}

type gaugeReader struct {
	ctx context.Context
	tx  Tx
}

func (r *gaugeReader) read(p *plan, days []lineDay) error {
	open, compacted, err := readDays(r.ctx, r.tx, GaugeDays, days)
	if err != nil {
		return err
	}
	found := make([]heldGauge, len(days))
	var quarters finer
	for i, of := range days {
		h := &found[i]
		h.open, h.compacted = open[i], compacted[i]
		want := func(a, b int) {
			for q := a / 15; q*15 < b; q++ {
				if h.open[q/4*Reading+ReadingCount] != 0 {
					quarters.want(of.need.day*96+int64(q), of.line.meta.ID, &h.quarters[q])
				}
			}
		}
		switch {
		case h.open == nil:
		case h.fine(of.need):
			want(of.need.a, of.need.b)
		default:
			for s := range p.pieces(of.need) {
				if hour := h.lastHour(s.a, s.b); hour >= 0 {
					want(hour*60, hour*60+60)
				}
			}
		}
	}
	if err := quarters.read(r.ctx, r.tx, GaugeQuarters); err != nil {
		return err
	}
	for i, of := range days {
		if err := of.line.takeGauge(p, of.need, &found[i]); err != nil {
			return err
		}
	}
	return nil
}
