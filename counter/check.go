// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/locus-db/locus/internal/identifier"
	"github.com/locus-db/locus/internal/problem"
)

func (b *Batch) check() error {
	var problems []problem.Problem
	add := func(field, detail string) { problems = append(problems, problem.New("/"+field, "invalid", detail)) }
	if len(b.Hits) == 0 || len(b.Hits) > MaxBatch {
		add("hits", fmt.Sprintf("a batch has 1 to %d hits, not %d", MaxBatch, len(b.Hits)))
	}
	if why := badKey(b.Key); why != "" {
		add("key", why)
	}
	named := b.Producer != Producer{}
	switch {
	case b.Key != "" && (named || b.Seq != 0):
		add("key", "a batch has a key or a producer, not both")
	case named && b.Seq == 0:
		add("seq", "the batches of a producer are numbered from 1")
	case !named && b.Seq != 0:
		add("producer", "a number needs a producer, which is not all zeros")
	case b.Seq > math.MaxInt64:
		add("seq", "the number exceeds 2^63 - 1")
	}
	if b.once() {
		for i := range b.Hits {
			if b.Hits[i].At.IsZero() {
				add("at", fmt.Sprintf("hit %d has no time: with a key or a producer each needs one, so that a repeat says the same",
					i))
				break
			}
		}
	}
	if problems != nil {
		return &InvalidError{Problems: problems}
	}
	return nil
}

func badKey(key Key) string {
	if len(key) > MaxKey {
		return fmt.Sprintf("the key has %d bytes, more than %d", len(key), MaxKey)
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return "a key is made of visible ASCII characters"
		}
	}
	return ""
}

// check validates a hit without its time. The name of a known metric is not checked again.
func (h *Hit) check(known bool) error {
	if !known {
		if why := identifier.Problem(string(h.Metric), MaxMetric); why != "" {
			return invalid("metric", "the name "+why)
		}
	}
	switch {
	case h.Kind == Counter && (h.N < 1 || h.N > MaxN):
		return invalid("n", fmt.Sprintf("a hit adds 1 to %d, not %d", MaxN, h.N))
	case h.Kind == Gauge && (h.N < -MaxReading || h.N > MaxReading):
		return invalid("n", fmt.Sprintf("a reading lies between -10^15 and 10^15: %d", h.N))
	case h.Kind > Gauge:
		return invalid("kind", "a metric is a counter or a gauge")
	}
	return nil
}

// window is the time range of accepted hits.
type window struct{ from, to time.Time }

func windowAt(now time.Time) window { return window{now.Add(-Window), now.Add(ahead)} }

// check returns an error for a time outside the window. Zero is now.
func (w *window) check(at time.Time) error {
	switch {
	case at.IsZero():
		return nil
	case at.Before(w.from), at.Unix() < 0:
		return ErrTooOld
	case at.After(w.to):
		return ErrInFuture
	}
	return nil
}

// validate names every invalid option.
func (o *Options) validate() error {
	var errs []error
	for _, size := range []struct {
		name string
		n    int
	}{{"Group", o.Group}, {"Waiting", o.Waiting}, {"Names", o.Names}, {"Quota", o.Quota}} {
		if size.n < 0 {
			errs = append(errs, fmt.Errorf("counter: %s is negative: %d", size.name, size.n))
		}
	}
	const least = 8 * 24 * time.Hour
	for _, r := range o.Retention {
		short := func(d time.Duration) bool { return d != 0 && d < least }
		if short(r.Minutes) || short(r.Quarters) {
			errs = append(errs, fmt.Errorf("counter: retention of %q: details are kept for 8 days at least", r.Prefix))
		}
		if r.Quarters != 0 && (r.Minutes == 0 || r.Minutes > r.Quarters) {
			errs = append(errs, fmt.Errorf("counter: retention of %q: quarters are kept as long as minutes at least", r.Prefix))
		}
	}
	return errors.Join(errs...)
}
