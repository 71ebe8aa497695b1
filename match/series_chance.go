// SPDX-License-Identifier: Apache-2.0

package match

import (
	"iter"
	"slices"
)

// run is a value that records of one title have.
type run struct {
	value   uint64
	records int
	also    []uint64 // other spellings of the value in this title, whose records are included
}

// values yields the spellings of the value.
func (r run) values(yield func(uint64) bool) {
	for _, v := range r.also {
		if !yield(v) {
			return
		}
	}
	yield(r.value)
}

// spelled joins the spellings of each variant in a title: PS4 and PlayStation 4 recur as one value.
func (s series) spelled(a *Attribute, of []run) (joined []run) {
	if a.Role != RoleVariant {
		return of
	}
	slices.SortStableFunc(of, func(x, y run) int { return y.records - x.records })
	for _, r := range of {
		i := slices.IndexFunc(joined, func(j run) bool { return s.gap(a, r.value, j.value) == gapNone })
		if i < 0 {
			joined = append(joined, r)
			continue
		}
		joined[i].records += r.records
		joined[i].also = append(joined[i].also, r.value)
	}
	return joined
}

// chances are the frequencies of the values of an attribute.
type chances struct {
	common map[uint64]int // records
	// records with the first value as the commonest of their title: those with the second value, and all
	beside map[[2]uint64]int
}

// of returns the probability that a record of a title has a value by chance; values is the number of values, apart the
// number of those that differ from the commonest one.
func (k *chances) of(r, first run, values, apart int) float64 {
	var anywhere, beside int
	for v := range r.values {
		anywhere += k.common[v]
		beside += k.beside[[2]uint64{first.value, v}]
	}
	p := float64(anywhere) / float64(max(values-k.common[first.value], 1))
	if n := k.beside[[2]uint64{first.value}] - apart; n > 0 {
		p = max(p, float64(beside-r.records)/float64(n+1))
	}
	return p
}

// commonest returns the value that most records of a title have.
func commonest(of []run) run {
	return slices.MaxFunc(of, func(x, y run) int { return x.records - y.records })
}

// eachTitle yields the values of one title after another. They are sorted by title.
func eachTitle(values []valued) iter.Seq[[]valued] {
	return eachGroup(values, func(v valued) uint64 { return v.title })
}

// eachGroup yields the parts of a list with one key after another. The list is sorted by the key.
func eachGroup[T any](list []T, key func(T) uint64) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for len(list) > 0 {
			n := 1
			for n < len(list) && key(list[n]) == key(list[0]) {
				n++
			}
			if !yield(list[:n]) {
				return
			}
			list = list[n:]
		}
	}
}

// byTitle yields the distinct values of each title that several records have, if there are several. They are sorted by
// title and value.
func byTitle(values []valued) func(yield func([]run) bool) {
	return func(yield func([]run) bool) {
		for list := range eachTitle(values) {
			var of []run
			for i, v := range list {
				if i == 0 || v.value != list[i-1].value {
					of = append(of, run{value: v.value})
				}
				of[len(of)-1].records++
			}
			if len(list) >= seriesTitle && len(of) > 1 && !yield(of) {
				return
			}
		}
	}
}
