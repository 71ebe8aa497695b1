// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/match/learn"
)

// answers returns what a person says about n pairs of persons who agree in their names, have another date of birth and live
// in one city or not: the city decides, whatever the weights of today say.
func answers(n int) []learn.Answer {
	m := match.New(match.Person(), nil).Thorough()
	random := rand.New(rand.NewPCG(3, uint64(n)))
	var all []learn.Answer
	for i := range n {
		same := random.IntN(2) == 0
		a := match.Attributes{"given_name": {"Anna"}, "family_name": {"Abelson"}, "birth_date": {"1950-03-11"}, "city": {"Oslo"}}
		b := match.Attributes{"given_name": {"Anna"}, "family_name": {"Abelson"}, "birth_date": {fmt.Sprintf("1950-03-%02d", 12+i%3)}, "city": {"Oslo"}}
		if !same {
			b["city"] = []string{"Bergen"}
		}
		x, y := m.Normalise("s", "a", a), m.Normalise("s", "b", b)
		all = append(all, learn.Answer{Lines: m.Explain(x, y, m.Compare(x, y)).Lines, Same: same})
	}
	return all
}

func moved(f *learn.Fitted, field, level string) (learn.Moved, bool) {
	for _, l := range f.Levels {
		if l.Field == field && l.Text == level {
			return l, true
		}
	}
	return learn.Moved{}, false
}

func TestAnswers_MoveTheLevelsThatDecide(t *testing.T) {
	t.Parallel()
	f := learn.Answers(match.Person(), answers(100))
	if reasons := f.Refused(); len(reasons) > 0 {
		t.Fatalf("refused: %v", reasons)
	}
	equal, ok := moved(f, "city", "equal")
	if !ok || equal.After <= equal.Before {
		t.Errorf("an equal city: %+v", equal)
	}
	different, ok := moved(f, "city", "different")
	if !ok || different.After >= different.Before || different.Same != 0 || different.Different == 0 {
		t.Errorf("another city: %+v", different)
	}
	if f.Learned.Wrong > 0 || f.Today.Wrong == 0 {
		t.Errorf("wrong about %d answers, today about %d", f.Learned.Wrong, f.Today.Wrong)
	}
	if _, ok := moved(f, "email", "equal"); ok {
		t.Error("a level that no pair has moved")
	}
	if err := f.Schema.Validate(); err != nil {
		t.Error(err)
	}
	if f.Schema.Weights["city"]["equal"] != equal.After {
		t.Errorf("the kind has %v for an equal city, want %v", f.Schema.Weights["city"]["equal"], equal.After)
	}
}

// A few answers move little, and many no further than what was expected and what was said allow.
func TestAnswers_FewMoveLittle(t *testing.T) {
	t.Parallel()
	few, _ := moved(learn.Answers(match.Person(), answers(4)), "city", "different")
	many, _ := moved(learn.Answers(match.Person(), answers(400)), "city", "different")
	if few.Before-few.After >= many.Before-many.After {
		t.Errorf("4 answers move it from %v to %v, 400 to %v", few.Before, few.After, many.After)
	}
}

func TestAnswers_Refused(t *testing.T) {
	t.Parallel()
	if reasons := learn.Answers(match.Person(), answers(6)).Refused(); len(reasons) != 1 || !strings.Contains(reasons[0], "of each are needed") {
		t.Errorf("six answers: %v", reasons)
	}
	// Answers that do not depend on the pair teach nothing.
	noise := answers(60)
	for i := range noise {
		noise[i].Same = i%2 == 0
		for l := range noise[i].Lines {
			noise[i].Lines[l].Weight = 0
		}
		noise[i].Lines[0].Weight = match.Threshold
	}
	if reasons := learn.Answers(match.Person(), noise).Refused(); len(reasons) == 0 {
		t.Error("noise is taken")
	}
}

// A slip of a person about what is certain moves nothing.
func TestAnswers_SlipsTeachNothing(t *testing.T) {
	t.Parallel()
	all := answers(40)
	before := learn.Answers(match.Person(), all)
	slip := learn.Answer{Lines: []match.Line{{Attribute: "email", Level: "equal", Weight: 4000}}}
	after := learn.Answers(match.Person(), append(all, slip))
	if diff := cmp.Diff(before.Levels, after.Levels); diff != "" {
		t.Errorf("(-without +with the slip)\n%s", diff)
	}
}

func TestTeaching(t *testing.T) {
	t.Parallel()
	pair := func(level string, bits match.Weight) []match.Line {
		return []match.Line{{Attribute: "name", Level: level, Weight: bits}}
	}
	pairs := [][]match.Line{
		pair("a", 500), pair("a", 500), pair("b", 400), pair("c", 2500), pair("d", -900), pair("b", 400), pair("e", 900),
	}
	for n, want := range map[int][]int{1: {0}, 3: {0, 2, 6}, 10: {0, 2, 6, 1, 5}} {
		if diff := cmp.Diff(want, learn.Teaching(pairs, match.Threshold, n)); diff != "" {
			t.Errorf("the first %d (-want +got)\n%s", n, diff)
		}
	}
}
