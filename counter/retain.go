// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// upkeep caches the progress of maintenance: for each cell and retention, the day up to which details were
// dropped. Losing it is harmless.
type upkeep struct {
	mu   sync.Mutex
	done map[looked]int64
}

type looked struct {
	cell   string
	detail Detail
	kept   time.Duration
}

// since returns the first day that was not scanned; reached records that all days below were.
func (u *upkeep) since(l looked) int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.done[l]
}

func (u *upkeep) reached(l looked, day int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.done == nil {
		u.done = map[looked]int64{}
	}
	u.done[l] = day
}

// packed marks days of a cell from the given one as changed, so that they are scanned again; 0 is none.
func (u *upkeep) packed(cell string, day int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for l, done := range u.done {
		if day != 0 && l.cell == cell && done > day {
			u.done[l] = day
		}
	}
}

// keeps returns how long a detail is kept, 0 for forever.
func (r *Retention) keeps(d Detail) time.Duration {
	if d == Minutes {
		return r.Minutes
	}
	return r.Quarters
}

func (r *Recorder) retention(m Metric) *Retention {
	for i := range r.opts.Retention {
		if rule := &r.opts.Retention[i]; strings.HasPrefix(string(m), string(rule.Prefix)) {
			return rule
		}
	}
	return &DefaultRetention
}

// retain drops details of compacted days past their retention.
func (r *Recorder) retain(ctx context.Context, cell string, db Database, now time.Time) error {
	var errs []error
	for _, detail := range []Detail{Minutes, Quarters} {
		for _, rule := range append([]Retention{DefaultRetention}, r.opts.Retention...) {
			look := looked{cell, detail, rule.keeps(detail)}
			below := expired(now, look.kept)
			// Rules with the same duration share one scan.
			if since := r.upkeep.since(look); look.kept != 0 && since < below {
				damaged, err := r.drop(ctx, db, look, since, now)
				if err != nil {
					return fmt.Errorf("drop details: %w", errors.Join(append(errs, err)...))
				}
				errs = append(errs, damaged...)
				r.upkeep.reached(look, below)
			}
		}
	}
	return errors.Join(errs...)
}

// expired returns the first day that is not entirely older than kept.
func expired(now time.Time, kept time.Duration) int64 { return MinuteOf(now.Add(-kept)).Day() }

// drop scans compacted days with a detail, from a day on, and drops details past the retention of their metric.
// Damaged days stay and are returned.
func (r *Recorder) drop(ctx context.Context, db Database, look looked, since int64,
	now time.Time) (damaged []error, err error) {
	const most = 100
	conflicts := 0
	below := NewBucketKey(expired(now, look.kept), 0)
	for from := NewBucketKey(since, 0); from < below; {
		var next BucketKey
		var wrong []error
		failed, err := db.writer().Rewrite(ctx, func(tx Tx) error {
			next, wrong = below, nil
			days, err := tx.DetailedDays(ctx, look.detail, from, below, most)
			if err != nil {
				return err
			}
			if len(days) == most {
				next = days[most-1].Key + 1
			}
			metas, err := tx.Metrics(ctx, idsOf(days))
			if err != nil {
				return err
			}
			var put []CompactedDay
			for i := range days {
				to := r.detail(metas[i].Name, days[i].Key.Unit(), now)
				if to >= days[i].Detail {
					continue
				}
				day, err := reduce(&days[i], metas[i].Kind, to)
				if err != nil {
					wrong = append(wrong, err)
					continue
				}
				put = append(put, day)
			}
			return tx.PutCompactedDays(ctx, put)
		})
		if err != nil {
			return damaged, err
		}
		if len(failed) > 0 {
			if err := unwritten(failed); conflicts == contended || !errors.Is(err, ErrConflict) {
				return damaged, err
			}
			conflicts++
			continue // finished days are skipped the next time
		}
		from, damaged = next, append(damaged, wrong...)
	}
	return damaged, nil
}

// contended limits the attempts to rewrite days where other processes count.
const contended = 100

// unwritten returns the error of one of the days that were not written, one without a conflict if there is one.
func unwritten(failed map[BucketKey]error) (err error) {
	for key, why := range failed {
		if err == nil || !errors.Is(why, ErrConflict) {
			err = fmt.Errorf("counter: %d days were not written: %s of metric %d: %w", len(failed),
				dayBegin(key.Unit()).Format(time.DateOnly), key.ID(), why)
		}
	}
	return err
}

func idsOf(days []CompactedDay) []ID {
	ids := make([]ID, len(days))
	for i, d := range days {
		ids[i] = d.Key.ID()
	}
	return ids
}

// detail returns the detail with which a day of a metric is kept now.
func (r *Recorder) detail(m Metric, day int64, now time.Time) Detail {
	rule := r.retention(m)
	for _, d := range []Detail{Minutes, Quarters} {
		if kept := rule.keeps(d); kept == 0 || day >= expired(now, kept) {
			return d
		}
	}
	return NoDetail
}

// reduce repacks a compacted day with less detail and the same total.
func reduce(c *CompactedDay, kind Kind, to Detail) (CompactedDay, error) {
	values, err := decodeDay(c, kind)
	if err != nil {
		return CompactedDay{}, err
	}
	if values, err = coarsen(kind, values, c.Detail, to); err != nil {
		return CompactedDay{}, c.damaged()
	}
	return encodeDay(c.Key, kind, to, values)
}
