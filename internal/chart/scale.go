// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"math"
	"strconv"
	"time"
)

// valueTick is a value on an axis with its label.
type valueTick struct {
	at    float64
	label string
}

// valueTicks returns about want round values that span a range, and the range they span.
func valueTicks(low, high float64, want int) (ticks []valueTick, from, to float64) {
	if high <= low {
		high = low + max(1, 1e-12*math.Abs(low)) // adding 1 to a large number has no effect
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/float64(want))))
	for _, times := range []float64{1, 2, 5, 10} {
		if (high-low)/(times*step) <= float64(want) {
			step *= times
			break
		}
	}
	step = max(step, 1) // counts are whole numbers
	from, to = math.Floor(low/step)*step, math.Ceil(high/step)*step
	for i := 0; ; i++ {
		v := from + float64(i)*step
		if v > to+step/2 {
			return ticks, from, to
		}
		ticks = append(ticks, valueTick{v, short(v, step)})
	}
}

// units abbreviate large numbers.
var units = []struct {
	size float64
	name string
}{{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}

// short formats a number for an axis with the given step: 250, 1.5k, 20M.
func short(v, step float64) string {
	for _, u := range units {
		if math.Abs(v) >= u.size {
			digits := 0
			for s := step / u.size; digits < 2 && s < 1 && s*math.Pow10(digits) != math.Trunc(s*math.Pow10(digits)); digits++ {
			}
			return strconv.FormatFloat(v/u.size, 'f', digits, 64) + u.name
		}
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// timeSteps are the steps of the time axis. Hours and minutes divide the day, so that labels are at round clock times.
var timeSteps = []struct {
	minutes, days, months int
}{
	{minutes: 1},
	{minutes: 2},
	{minutes: 5},
	{minutes: 10},
	{minutes: 15},
	{minutes: 30},
	{minutes: 60},
	{minutes: 120},
	{minutes: 180},
	{minutes: 240},
	{minutes: 360},
	{minutes: 720},
	{days: 1},
	{days: 2},
	{days: 7},
	{days: 14},
	{months: 1},
	{months: 2},
	{months: 3},
	{months: 6},
	{months: 12},
	{months: 24},
	{months: 60},
	{months: 120},
	{months: 600},
}

// timeTick is a time on an axis with its label.
type timeTick struct {
	at    time.Time
	label string
}

// timeTicks returns at most so many round times in a range, in the time zone of from.
func timeTicks(from, to time.Time, most int) (ticks []timeTick) {
	span, s := to.Sub(from), timeSteps[0]
	for _, s = range timeSteps {
		length := time.Duration(s.minutes)*time.Minute + time.Duration(s.days)*24*time.Hour + time.Duration(s.months)*30*24*time.Hour
		if span/length < time.Duration(most) {
			break
		}
	}
	y, m, d := from.Date()
	label := minuteLabel
	switch {
	case s.months > 12:
		y, m, d, label = y-y%(s.months/12), 1, 1, monthLabel
	case s.months > 0:
		m, d, label = m-(m-1)%time.Month(s.months), 1, monthLabel
	case s.days > 0:
		label = dayLabel
	}
	for i := 0; ; i++ {
		t := time.Date(y, m+time.Month(i*s.months), d+i*s.days, 0, i*s.minutes, 0, 0, from.Location())
		if t.After(to) {
			return ticks
		}
		// At a change to daylight saving time a local time may not exist, or occur twice.
		if !t.Before(from) && (len(ticks) == 0 || t.After(ticks[len(ticks)-1].at)) {
			ticks = append(ticks, timeTick{t, label(t)})
		}
	}
}

func minuteLabel(t time.Time) string {
	if t.Hour() == 0 && t.Minute() == 0 {
		return dayLabel(t)
	}
	return t.Format("15:04")
}

func dayLabel(t time.Time) string { return t.Format("Jan 2") }

func monthLabel(t time.Time) string {
	if t.Month() == time.January {
		return t.Format("2006")
	}
	return t.Format("Jan")
}
