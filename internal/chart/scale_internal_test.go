// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"strings"
	"testing"
	"time"
)

func TestTimeTicks(t *testing.T) {
	t.Parallel()
	howe, err := time.LoadLocation("Australia/Lord_Howe")
	if err != nil {
		t.Fatal(err)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(z *time.Location, y, m, d, h, minute int) time.Time {
		return time.Date(y, time.Month(m), d, h, minute, 0, 0, z)
	}
	for name, c := range map[string]struct {
		from, to time.Time
		most     int
		want     string
	}{
		"an hour": {at(time.UTC, 2026, 11, 20, 12, 0), at(time.UTC, 2026, 11, 20, 13, 0), 7,
			"12:00 12:10 12:20 12:30 12:40 12:50 13:00"},
		"from 12:07": {at(time.UTC, 2026, 11, 20, 12, 7), at(time.UTC, 2026, 11, 20, 13, 7), 5, "12:15 12:30 12:45 13:00"},
		"a day": {at(time.UTC, 2026, 11, 20, 0, 0), at(time.UTC, 2026, 11, 21, 0, 0), 6,
			"Nov 20|06:00|12:00|18:00|Nov 21"},
		"23 hours":     {at(berlin, 2026, 3, 29, 0, 0), at(berlin, 2026, 3, 30, 0, 0), 30, "Mar 29|01:00|03:00|04:00"},
		"25 hours":     {at(berlin, 2026, 10, 25, 0, 0), at(berlin, 2026, 10, 26, 0, 0), 9, "Oct 25|03:00|06:00"},
		"half an hour": {at(howe, 2026, 10, 4, 0, 0), at(howe, 2026, 10, 5, 0, 0), 30, "Oct 4|01:00|02:30|03:00"},
		"a month": {at(time.UTC, 2026, 11, 1, 0, 0), at(time.UTC, 2026, 12, 1, 0, 0), 6,
			"Nov 1|Nov 8|Nov 15|Nov 22|Nov 29"},
		"a year": {at(time.UTC, 2026, 1, 1, 0, 0), at(time.UTC, 2027, 1, 1, 0, 0), 13,
			"2026 Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec 2027"},
		"fifty years": {at(time.UTC, 1976, 5, 1, 0, 0), at(time.UTC, 2026, 5, 1, 0, 0), 6, "1980 1990 2000 2010 2020"},
	} {
		var got []string
		last := time.Time{}
		for _, tick := range timeTicks(c.from, c.to, c.most) {
			if !tick.at.After(last) || tick.at.Before(c.from) || tick.at.After(c.to) {
				t.Errorf("%s: %v after %v", name, tick.at, last)
			}
			last = tick.at
			got = append(got, tick.label)
		}
		want := strings.Split(c.want, " ")
		if strings.Contains(c.want, "|") {
			want = strings.Split(c.want, "|")
		}
		if text := strings.Join(got, "|"); !strings.HasPrefix(text, strings.Join(want, "|")) {
			t.Errorf("%s: %q, want %q", name, text, want)
		}
	}
}

func TestValueTicks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 0, "0 1"},
		{0, 3, "0 1 2 3"},
		{0, 1430, "0 500 1.0k 1.5k"},
		{0, 99_999, "0 20k 40k 60k 80k 100k"},
		{-70, 30, "-80 -60 -40 -20 0 20 40"},
		{20_000, 20_400, "20.0k 20.1k 20.2k 20.3k 20.4k"},
		{0, 9.2e18, "0 2E 4E 6E 8E 10E"},
		{2e18, 2e18, "2.00E 2.00E 2.00E 2.00E 2.00E"},
	} {
		ticks, from, to := valueTicks(c.low, c.high, 5)
		var got []string
		for _, tick := range ticks {
			got = append(got, tick.label)
		}
		if text := strings.Join(got, " "); text != c.want || from > c.low || to < c.high {
			t.Errorf("%v to %v: %s, want %s", c.low, c.high, text, c.want)
		}
	}
}
