// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/counter"
)

// span holds the flags of a time range.
type span struct {
	day, from, to, step, zone string
}

func (s *span) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.day, "day", "", "day, such as 2026-11-20; today if no range is given")
	f.StringVar(&s.from, "from", "", "begin of the range: a day, or a time such as 2026-11-20T12:00:00Z")
	f.StringVar(&s.to, "to", "", "end of the range, exclusive; now by default")
	f.StringVar(&s.step, "step", "", "minute, hour or day")
	f.StringVar(&s.zone, "zone", "", "time zone of hours and days, such as Europe/Berlin; UTC by default")
}

// fewMinutes and fewHours are the longest ranges shown by minute and by hour by default.
const (
	fewMinutes = 2 * 24 * time.Hour
	fewHours   = 62 * 24 * time.Hour
)

// settle fills in defaults. fine is the step for a day. The server rejects texts that are not times.
func (s *span) settle(now time.Time, fine counter.Step) error {
	zone := time.UTC
	if s.zone != "" {
		var err error
		if zone, err = time.LoadLocation(s.zone); err != nil {
			return usage("--zone Europe/Berlin", "unknown --zone %.60q", s.zone)
		}
	}
	switch {
	case s.day != "" && (s.from != "" || s.to != ""):
		return usage("leave out one of them", "--day excludes --from and --to")
	case s.from == "" && s.to != "":
		return usage("--from 2026-11-20 --to 2026-11-21", "--to has no --from")
	case s.from == "":
		if s.day == "" {
			s.day = now.In(zone).Format(time.DateOnly)
		}
		day, err := time.Parse(time.DateOnly, s.day)
		if err != nil {
			return usage("--day 2026-11-20", "--day %.40q is not a day", s.day)
		}
		s.from, s.to = s.day, day.AddDate(0, 0, 1).Format(time.DateOnly)
	case s.to == "":
		s.to = now.UTC().Format(time.RFC3339)
	}
	if s.step == "" {
		s.step = string(stepOf(instant(s.to, zone).Sub(instant(s.from, zone)), fine))
	}
	return nil
}

// stepOf returns the default step for a range.
func stepOf(length time.Duration, fine counter.Step) counter.Step {
	switch {
	case length <= fewMinutes:
		return fine
	case length <= fewHours:
		return counter.ByHour
	}
	return counter.ByDay
}

// instant parses a day or a time; the zero time if it is neither.
func instant(text string, zone *time.Location) time.Time {
	if t, err := time.ParseInLocation(time.DateOnly, text, zone); err == nil {
		return t
	}
	t, _ := time.Parse(time.RFC3339, text) // zero on error
	return t
}
