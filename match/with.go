// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"maps"
	"slices"
)

// With returns a matcher with other weights for some levels, named "field: level" as in Explain, and another
// threshold; 0 keeps the current one. Records normalised by either matcher can be compared by both.
func (m *Matcher) With(weights map[string]Weight, threshold Weight) (*Matcher, error) {
	with := *m
	if threshold != 0 {
		with.threshold = threshold
	}
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		f, l, ok := m.style.levelOf(name)
		if !ok {
			return nil, fmt.Errorf("match: there is no level %.80q; one is %q", name, fieldNames[fieldPhone]+": "+table[fieldPhone][phoneEqual].word)
		}
		with.weights[f][l] = weights[name]
	}
	with.quarter()
	with.nameMost = slices.Max(with.weights[fieldName][:]) + slices.Max(with.weights[fieldResidual][:])
	return &with, nil
}

// Threshold returns the weight from which a pair matches.
func (m *Matcher) Threshold() Weight { return m.threshold }

func (s Style) levelOf(name string) (field, level, bool) {
	for f := range fieldCount {
		for l, g := range s.grades(f) {
			if l > 0 && g.word != "" && s.fieldName(f)+": "+g.word == name {
				return f, level(l), true
			}
		}
	}
	return 0, 0, false
}
