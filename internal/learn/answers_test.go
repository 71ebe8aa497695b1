// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/learn"
	"github.com/locus-db/locus/match"
)

// answers returns a person's answers about n pairs of persons who agree in their names, have different dates of birth,
// and live in one city or in two: the city decides, whatever today's weights are.
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

// A few answers move the weights little, and many answers no further than the answers and the prior expectation allow.
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

// A wrong answer about a certain pair moves nothing.
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

// One wrong answer in ten does not prevent a draft from following the others.
func TestAnswers_OneOfTenWrong(t *testing.T) {
	t.Parallel()
	all := answers(200)
	for i := range all {
		all[i].Same = all[i].Same != (i%10 == 3)
	}
	f := learn.Answers(match.Person(), all)
	if reasons := f.Refused(); len(reasons) > 0 {
		t.Errorf("refused: %v", reasons)
	}
	m := match.New(f.Schema, nil)
	for i, a := range answers(200) {
		var bits match.Weight
		for _, line := range a.Lines {
			bits += line.Weight
			if l, ok := moved(f, line.Attribute, line.Level); ok {
				bits += l.After - l.Before
			}
		}
		if (bits >= m.Threshold()) != a.Same {
			t.Fatalf("answer %d: %v bits, same %v", i, bits, a.Same)
		}
	}
}

func pair(level string, bits match.Weight, settles int) learn.Question {
	return learn.Question{Lines: []match.Line{{Attribute: "name", Level: level, Weight: bits}}, Settles: settles}
}

func places(taught []learn.Taught) (at []int) {
	for _, t := range taught {
		at = append(at, t.At)
	}
	return at
}

func TestTeaching(t *testing.T) {
	t.Parallel()
	questions := []learn.Question{
		pair("a", 500, 1), pair("a", 500, 1), pair("b", 400, 1), pair("c", 2500, 1), pair("d", -900, 1), pair("b", 400, 1), pair("e", 900, 1),
	}
	if diff := cmp.Diff([]int{0, 2, 6, 1, 5}, places(learn.Teaching(questions, match.Threshold, nil))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	// Patterns that people have answered questions about come later.
	known := map[string]int{learn.Pattern(questions[0].Lines): 2}
	if diff := cmp.Diff([]int{2, 6, 5, 0, 1}, places(learn.Teaching(questions, match.Threshold, known))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	// The remaining questions keep their turn when the first one of their pattern is answered.
	known = map[string]int{learn.Pattern(questions[0].Lines): 1}
	for _, left := range learn.Teaching(questions[1:2], match.Threshold, known) {
		if left.Turn != 1 || learn.Teaching(questions[:2], match.Threshold, nil)[1].Turn != 1 {
			t.Errorf("%+v", left)
		}
	}
	// Of two questions with equal doubt, the one that settles more comes first, and waits for fewer turns.
	many := []learn.Question{pair("a", 500, 1), pair("b", 500, 12), pair("a", 480, 1), pair("b", 500, 30), pair("c", 600, 1)}
	taught := learn.Teaching(many, match.Threshold, nil)
	if diff := cmp.Diff([]int{3, 1, 0, 4, 2}, places(taught)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if taught[0].Bits < 4.9 || taught[0].Bits > 5 || taught[2].Bits != 1 {
		t.Errorf("%+v", taught)
	}
}

// The bits of a question are between 0 and 9, fall with the distance from the threshold on both sides, and rise with
// the number of settled pairs.
func TestBits(t *testing.T) {
	t.Parallel()
	for settles := 1; settles < 1<<20; settles *= 2 {
		was := learn.MostTaught + 1.0
		for weight := 0.0; weight <= 12; weight += .5 {
			bits := learn.Bits(weight, settles)
			if bits != learn.Bits(-weight, settles) || bits < 0 || bits > learn.MostTaught || bits > was || bits > learn.Bits(weight, 2*settles) {
				t.Fatalf("%v bits from the threshold, %d settled: %v", weight, settles, bits)
			}
			was = bits
		}
	}
	if learn.Bits(0, 1) != 1 || learn.Bits(0, 1<<20) != learn.MostTaught || learn.Bits(3, 0) != learn.Bits(3, 1) {
		t.Error("the ends of the scale")
	}
}
