// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"strings"
	"testing"

	"github.com/locus-db/locus/match"
)

func TestMatcher_With(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	a := m.Normalise("a", "1", match.Attributes{"name": {"Joe's Pizza"}, "phones": {"415-555-2300"}})
	b := m.Normalise("b", "1", match.Attributes{"name": {"Joes Pizza"}, "phones": {"415-555-2300"}})
	weight := m.Sum(m.Compare(a, b))

	with, err := m.With(map[string]match.Weight{"phone: equal": 100}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := with.Sum(with.Compare(a, b)), weight-800; got != want {
		t.Errorf("with a phone of 1 bit the pair has %v, want %v", got, want)
	}
	if got := m.Sum(m.Compare(a, b)); got != weight {
		t.Errorf("the matcher itself says %v, said %v", got, weight)
	}

	strict, err := m.With(nil, weight+1)
	if err != nil {
		t.Fatal(err)
	}
	if v := strict.Compare(a, b); strict.Decide(v) != match.Possible || m.Decide(v) != match.Same {
		t.Errorf("a hundredth above its score the pair is %v, and %v for the matcher itself", strict.Decide(v), m.Decide(v))
	}

	for _, unknown := range []string{"", "phone", "phone: ", "phone: blue", "name: "} {
		if _, err := m.With(map[string]match.Weight{unknown: 1}, 0); err == nil || !strings.Contains(err.Error(), "phone: equal") {
			t.Errorf("%q is a level, or the error names none: %v", unknown, err)
		}
	}
}

func TestClusterAt(t *testing.T) {
	t.Parallel()
	nodes := []match.NodeKey{{Source: "a", Key: "1"}, {Source: "a", Key: "2"}, {Source: "a", Key: "3"}}
	edges := []match.Edge{{A: 0, B: 1, Weight: 450}, {A: 1, B: 2, Weight: 600}, {A: 0, B: 2, Weight: 100}}
	for threshold, want := range map[match.Weight]int{300: 1, 450: 1, match.Threshold: 2, 601: 3} {
		if got := match.ClusterAt(nodes, edges, match.Unmet{}, threshold); len(got) != want {
			t.Errorf("at %v: %v, want %d clusters", threshold, got, want)
		}
	}
}
