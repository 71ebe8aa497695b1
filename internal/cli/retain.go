// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/counter"
)

const (
	day  = 24 * time.Hour
	year = 365 * day
	// leastKept is the minimum retention of the details of hits, because hits may be seven days late.
	leastKept = 8 * day
)

// retaining holds the flags for the retention of the details of hits.
type retaining struct {
	minutes, hours spell
	metrics        rules
}

func (r *retaining) flags(c *cobra.Command) {
	r.minutes, r.hours = spell(counter.DefaultRetention.Minutes), spell(counter.DefaultRetention.Quarters)
	c.Flags().Var(&r.minutes, "retain-minutes",
		"how long hits are kept by minute, such as 90d or 1y; 0 means for ever; days are always kept for ever")
	c.Flags().Var(&r.hours, "retain-hours", "how long hits are kept by hour, at least as long as by minute")
	c.Flags().Var(&r.metrics, "retain-metrics", "retention by minute and by hour of metrics with this prefix, such as 'api.=14d/1y'; may be repeated, the first match counts")
}

func (r *retaining) check() error {
	for _, one := range r.all() {
		short := func(d time.Duration) bool { return d != 0 && d < leastKept }
		if short(one.Minutes) || short(one.Quarters) || one.Quarters != 0 &&
			(one.Minutes == 0 || one.Minutes > one.Quarters) {
			return usage("--retain-minutes 90d --retain-hours 3y",
				"%s for %.60q: hits are kept by minute for at least 8 days, and by hour at least as long", spells(one), one.Prefix)
		}
	}
	return nil
}

// all returns the rules in order of precedence.
func (r *retaining) all() []counter.Retention {
	return append(append([]counter.Retention(nil), r.metrics...),
		counter.Retention{Minutes: time.Duration(r.minutes), Quarters: time.Duration(r.hours)})
}

// spell is a flag for a time in days or years.
type spell time.Duration

// Set implements pflag.Value.
func (s *spell) Set(text string) error {
	d, err := parseSpell(text)
	if err == nil {
		*s = spell(d)
	}
	return err
}

// Type implements pflag.Value.
func (*spell) Type() string { return "days" }

// String implements pflag.Value.
func (s *spell) String() string {
	switch d := time.Duration(*s); {
	case d == 0:
		return "0"
	case d%year == 0:
		return fmt.Sprintf("%dy", d/year)
	default:
		return fmt.Sprintf("%dd", d/day)
	}
}

func parseSpell(text string) (time.Duration, error) {
	unit, digits := day, strings.TrimSuffix(text, "d")
	if years, ok := strings.CutSuffix(text, "y"); ok {
		unit, digits = year, years
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n > 100_000 || digits == text && n != 0 || n > 0 && unit == year && n > 250 {
		return 0, fmt.Errorf("%.20q is not a duration such as 90d or 3y, or 0 for ever", text)
	}
	return time.Duration(n) * unit, nil
}

// rules is a flag of retentions by prefix.
type rules []counter.Retention

// Set implements pflag.Value.
func (r *rules) Set(text string) error {
	at := strings.LastIndex(text, "=")
	if at < 1 {
		return fmt.Errorf("%.60q is not a rule such as api.=14d/1y", text)
	}
	minutes, hours, both := strings.Cut(text[at+1:], "/")
	if !both {
		hours = counterHours
	}
	one := counter.Retention{Prefix: counter.Metric(text[:at])}
	var err error
	if one.Minutes, err = parseSpell(minutes); err != nil {
		return err
	}
	if one.Quarters, err = parseSpell(hours); err != nil {
		return err
	}
	*r = append(*r, one)
	return nil
}

// Append implements pflag.SliceValue.
func (r *rules) Append(text string) error { return r.Set(text) }

// Replace implements pflag.SliceValue.
func (r *rules) Replace(texts []string) error {
	*r = nil
	for _, text := range texts {
		if err := r.Set(text); err != nil {
			return err
		}
	}
	return nil
}

// GetSlice implements pflag.SliceValue.
func (r *rules) GetSlice() []string {
	texts := make([]string, len(*r))
	for i, one := range *r {
		texts[i] = string(one.Prefix) + "=" + spells(one)
	}
	return texts
}

// counterHours is the retention of hours for metrics whose rule names only minutes.
const counterHours = "3y"

// Type implements pflag.Value.
func (*rules) Type() string { return "prefix=minutes/hours" }

// String implements pflag.Value.
func (r *rules) String() string {
	return strings.Join(r.GetSlice(), " ")
}

func spells(one counter.Retention) string {
	minutes, hours := spell(one.Minutes), spell(one.Quarters)
	return minutes.String() + "/" + hours.String()
}
