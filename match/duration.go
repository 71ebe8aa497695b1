// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math"
	"slices"
	"strings"
)

// One list has the duration of a song as 3:41, others as 221, 3.68 or 221400. A number without a unit is read in the
// unit in which it is most like the usual duration of the attribute: the middle one of those with colons or with units,
// or of all numbers of an attribute with the name of a duration.

// clockLeast is the number of durations with colons or units, and clockShare their share of the values of an attribute,
// from which they show that it has durations.
const (
	clockLeast = 20
	clockShare = 0.05
)

// durations are the numbers of each attribute: those that are written as durations, and all.
type durations map[*Attribute]*lengths

type lengths struct{ clock, all []float64 }

func (d durations) add(r *Record) {
	for _, q := range r.numbers {
		of := d[q.attribute]
		if of == nil {
			of = &lengths{}
			d[q.attribute] = of
		}
		if of.all = append(of.all, q.number); q.clock {
			of.clock = append(of.clock, q.number)
		}
	}
}

// addTo adds the usual duration of each attribute of durations to a table.
func (d durations) addTo(p *TermFrequencies) {
	for a, of := range d {
		clock := len(of.clock) >= clockLeast && float64(len(of.clock)) >= clockShare*float64(len(of.all))
		if !clock && (!isDuration(a) || len(of.all) < clockLeast) {
			continue
		}
		list := of.all
		if clock {
			list = of.clock
		}
		slices.Sort(list)
		if usual := list[len(list)/2]; usual >= 1 {
			p.tokens[durationHash(a)] = uint32(min(usual, math.MaxUint32))
		}
	}
}

func durationHash(a *Attribute) uint64 { return textHash("\x00duration " + a.Name) }

// unitsOfTime are the units of a duration in seconds.
var unitsOfTime = [...]float64{1, 0.001, 60, 3600}

// scaled returns a duration in the unit of the usual one: the number times the unit with which it is most like that.
func scaled(n, usual float64) float64 {
	if n <= 0 {
		return n
	}
	best := n
	for _, unit := range unitsOfTime {
		if math.Abs(math.Log(n*unit/usual)) < math.Abs(math.Log(best/usual)) {
			best = n * unit
		}
	}
	return best
}

// isClock reports whether a value is written as a duration: 3:41 or 3m 41s.
func isClock(raw string) bool {
	raw = strings.TrimSpace(latinDigits(raw))
	if raw == "" || !isDigit(raw[0]) || !strings.ContainsAny(raw, ":hmsHMS") {
		return false
	}
	if _, ok := parseDuration(raw); ok {
		return true
	}
	_, ok := parseSpelled(raw)
	return ok
}

// isDuration reports whether an attribute is named like a duration.
func isDuration(a *Attribute) bool { return a.hasWord(durationNames) }

var durationNames = wordSet(DurationNames)

// DurationNames are words of names of attributes with durations, divided by spaces.
const DurationNames = "duration runtime playtime minutes seconds milliseconds laufzeit spieldauer dauer duree duracion durata duracao duur"
