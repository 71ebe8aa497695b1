// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"maps"
	"slices"
)

// With returns a matcher with other bits for some levels, named "field: level" as in Explain, and another
// threshold; 0 keeps the current one. Records normalised by either matcher can be compared by both.
func (m *Matcher) With(bits map[string]Score, threshold Score) (*Matcher, error) {
	with := *m
	if threshold != 0 {
		with.threshold = threshold
	}
	for _, name := range slices.Sorted(maps.Keys(bits)) {
		f, l, ok := levelOf(name)
		if !ok {
			return nil, fmt.Errorf("match: there is no level %.80q; one is %q", name, fieldNames[fieldPhone]+": "+table[fieldPhone][phoneEqual].word)
		}
		with.bits[f][l] = bits[name]
	}
	with.nameMost = slices.Max(with.bits[fieldName][:]) + slices.Max(with.bits[fieldResidual][:])
	return &with, nil
}

// Threshold returns the score from which a pair matches.
func (m *Matcher) Threshold() Score { return m.threshold }

func levelOf(name string) (field, level, bool) {
	for f := range fieldCount {
		for l, g := range table[f] {
			if l > 0 && fieldNames[f]+": "+g.word == name {
				return f, level(l), true
			}
		}
	}
	return 0, 0, false
}
