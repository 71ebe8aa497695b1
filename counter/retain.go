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

// upkeep is what a recorder remembers of its maintenance: up to which day it has looked for details that are
// kept for so long only, in each cell. It is no harm to forget it.
type upkeep struct {
	mu   sync.Mutex
	done map[looked]int64
}

// looked is what was looked for.
type looked struct {
	cell   string
	detail Detail
	kept   time.Duration
}

// since is the first day that was not looked at, and reached says that all below a day were.
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

// packed says that days were packed in a cell from one on, 0 for none: they are to be looked at again.
func (u *upkeep) packed(cell string, day int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for l, done := range u.done {
		if day != 0 && l.cell == cell && done > day {
			u.done[l] = day
		}
	}
}

// keeps is for how long a detail is kept, 0 for ever.
func (r *Retention) keeps(d Detail) time.Duration {
	if d == Minutes {
		return r.Minutes
	}
	return r.Quarters
}

// retention is that of a metric.
func (r *Recorder) retention(m Metric) *Retention {
	for i := range r.opts.Retention {
		if rule := &r.opts.Retention[i]; strings.HasPrefix(string(m), string(rule.Prefix)) {
			return rule
		}
	}
	return &DefaultRetention
}

// retain drops details of closed days that are older than they are kept.
func (r *Recorder) retain(ctx context.Context, cell string, db Database, now time.Time) error {
	var errs []error
	for _, detail := range []Detail{Minutes, Quarters} {
		for _, rule := range append([]Retention{DefaultRetention}, r.opts.Retention...) {
			look := looked{cell, detail, rule.keeps(detail)}
			below := expired(now, look.kept)
			// The same time is looked for once, whichever rule says it.
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

// expired is the first day of which something is younger than a time is long.
func expired(now time.Time, kept time.Duration) int64 { return MinuteOf(now.Add(-kept)).Day() }

// drop looks at closed days that have a detail, from a day on, and drops details that are older than the
// rule of their metric says. Those that are damaged stay, and are named.
func (r *Recorder) drop(ctx context.Context, db Database, look looked, since int64, now time.Time) (damaged []error, err error) {
	const most = 100
	conflicts := 0
	below := NewSpanKey(expired(now, look.kept), 0)
	for from := NewSpanKey(since, 0); from < below; {
		var next SpanKey
		var wrong []error
		err := db.Update(ctx, func(tx Tx) error {
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
			var put []ClosedDay
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
			return tx.PutClosedDays(ctx, put)
		})
		if part, some := errors.AsType[*PartError](err); some && part.Conflicts() && conflicts < contended {
			conflicts++
			continue // those that are done need nothing any more
		}
		if err != nil {
			return damaged, err
		}
		from, damaged = next, append(damaged, wrong...)
	}
	return damaged, nil
}

func idsOf(days []ClosedDay) []ID {
	ids := make([]ID, len(days))
	for i, d := range days {
		ids[i] = d.Key.ID()
	}
	return ids
}

// detail is how fine a day of a metric is kept now.
func (r *Recorder) detail(m Metric, day int64, now time.Time) Detail {
	rule := r.retention(m)
	for _, d := range []Detail{Minutes, Quarters} {
		if kept := rule.keeps(d); kept == 0 || day >= expired(now, kept) {
			return d
		}
	}
	return NoDetail
}

// reduce packs a closed day again, with less detail and the same total.
func reduce(c *ClosedDay, kind Kind, to Detail) (ClosedDay, error) {
	values, err := unpackDay(c, kind)
	if err != nil {
		return ClosedDay{}, err
	}
	if values, err = coarsen(kind, values, c.Detail, to); err != nil {
		return ClosedDay{}, c.damaged()
	}
	return packDay(c.Key, kind, to, values)
}
