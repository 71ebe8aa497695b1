// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locus-db/locus/match"
)

// In a catalogue of few words, two records of one thing share a key that few other things have.
func TestBlockingKeys_OfCommonWords(t *testing.T) {
	t.Parallel()
	var all []match.Attributes
	for n := range 12 {
		for _, size := range []string{"64GB", "128GB", "256GB", "512GB"} {
			for _, colour := range []string{"Black", "Blue", "White", "Green", "Red"} {
				for price := range 4 {
					all = append(all, match.Attributes{"title": {fmt.Sprintf("Onda %c %s %s Phone", 'k'+rune(n), size, colour)}, "price": {fmt.Sprint(price)}})
				}
			}
		}
	}
	m := match.New(match.Product(), match.TermsOf(match.Product(), slices.Values(all)))
	carriers := map[match.BlockingKey]int{}
	for _, a := range all {
		for _, k := range m.Normalise("s", "", a).BlockingKeys() {
			carriers[k]++
		}
	}
	a := m.Normalise("s", "1", match.Attributes{"title": {"Onda k 64GB Blue Phone"}})
	b := m.Normalise("s", "2", match.Attributes{"title": {"Phone Onda k (64 GB) - Blue"}})
	met := false
	for _, k := range a.BlockingKeys() {
		met = met || slices.Contains(b.BlockingKeys(), k) && carriers[k] <= match.BlockLimit(k.Hash)
	}
	if !met {
		t.Errorf("they share only stop keys: %v", a.BlockingKeys())
	}
}
