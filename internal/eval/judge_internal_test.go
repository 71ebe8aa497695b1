// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/match"
)

// TestJudge asks about shops of one name in two streets, where the weights are unsure, and finds the answers, right or
// wrong, in the entities, whatever the order of the rows.
func TestJudge(t *testing.T) {
	t.Parallel()
	const shops = 100
	colours := strings.Fields("Amber Brass Copper Dusty Ebony Frosty Gilded Hollow Ivory Jolly")
	animals := strings.Fields("Heron Otter Badger Falcon Lynx Marten Weasel Osprey Beaver Walrus")
	measure := func(turned bool) *Judged {
		var records []match.Attributes
		var truth []string
		for i := range shops {
			name := colours[i%10] + " " + animals[i/10] + " Antiques"
			for side, street := range []string{"Oak Ave", "Mill Lane"} {
				records = append(records, match.Attributes{"name": {name}, "phones": {fmt.Sprintf("212-555-%04d", 100+i+300*side)},
					"address": {fmt.Sprintf("%d %s", 100+i+300*side, street)}, "city": {"Springfield"}})
				truth = append(truth, fmt.Sprint(2*i+side*(i%2))) // every second pair is one thing
			}
		}
		if turned {
			slices.Reverse(records)
			slices.Reverse(truth)
		}
		sources := slices.Repeat([]string{"set"}, len(records))
		s := newSet(match.Place(), match.DefaultTermFrequencies(), sources, records, nil)
		results, _, err := s.compare(t.Context(), match.Candidates(s.records))
		if err != nil {
			t.Fatal(err)
		}
		same := func(a, b int) bool { return truth[a] == truth[b] }
		var cluster []int
		j := s.judge(results, same, func(of []int) []Counts {
			cluster = of
			return countClusters(of, truth)
		})
		answer, wrong := s.erring(same), 0
		for i := 0; i < len(records); i += 2 {
			if answer(i, i+1) != answer(i+1, i) || answer(i, i+1) != (cluster[i] == cluster[i+1]) {
				t.Errorf("pair %d is not what was answered", i/2)
			}
			if answer(i, i+1) != same(i, i+1) {
				wrong++
			}
		}
		if wrong < shops/20 || wrong > shops/6 {
			t.Errorf("%d of %d answers are wrong, want about a tenth", wrong, shops)
		}
		if j.Questions != shops || j.F1.Value <= j.Before.Value || j.F1.Value == 1 {
			t.Errorf("%+v", j)
		}
		return j
	}
	if diff := cmp.Diff(measure(false).F1.Value, measure(true).F1.Value); diff != "" {
		t.Errorf("the order of the rows matters: %s", diff)
	}
}

// TestJudge_Questions asks about the best possible match of two entities and the weakest pair within one, and not about
// decided pairs.
func TestJudge_Questions(t *testing.T) {
	t.Parallel()
	s := newSet(match.Place(), nil, slices.Repeat([]string{"set"}, 6), make([]match.Attributes, 6), nil)
	for _, c := range []struct {
		name    string
		edges   []match.Edge
		want    []int
		decided []int // positions
	}{
		{"best between", []match.Edge{{A: 0, B: 2, Weight: 100}, {A: 1, B: 2, Weight: 300}, {A: 1, B: 2, Weight: -400}},
			[]int{1}, nil},
		{"weakest within", []match.Edge{{A: 0, B: 1, Weight: 850}, {A: 0, B: 1, Weight: 600}, {A: 2, B: 3, Weight: 900}},
			[]int{1}, nil},
		{"not within, below the threshold", []match.Edge{{A: 0, B: 1, Weight: 450}}, nil, nil},
		{"not between, refused by the others", []match.Edge{{A: 0, B: 2, Weight: 600}}, nil, nil},
		{"decided between", []match.Edge{{A: 0, B: 2, Weight: 300}, {A: 1, B: 3, Weight: 200}}, nil, []int{1}},
		{"decided within", []match.Edge{{A: 4, B: 5, Weight: 600}, {A: 4, B: 5, Weight: 700}}, nil, []int{0}},
		{"one of each entity", []match.Edge{{A: 0, B: 2, Weight: 200}, {A: 2, B: 4, Weight: 300}, {A: 4, B: 5, Weight: 600}},
			[]int{1}, nil},
	} {
		said := slices.Clone(c.edges)
		for _, i := range c.decided {
			said[i].Decided = 1
		}
		if diff := cmp.Diff(c.want, s.questions(c.edges, said, []int{0, 0, 1, 1, 2, 2})); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestJudged_Weigh adds the evidence of an answer to the weight of its pair, and leaves pairs without an answer
// unchanged.
func TestJudged_Weigh(t *testing.T) {
	t.Parallel()
	j := &Judged{answers: map[[2]int]bool{{0, 1}: true, {2, 3}: false}}
	for pair, want := range map[[2]int]match.Weight{{0, 1}: 917, {2, 3}: 283, {4, 5}: 600} {
		if got := j.weigh(compared{a: pair[0], b: pair[1], score: 600}); got != want {
			t.Errorf("%v: %d, want %d", pair, got, want)
		}
	}
}
