// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"strings"
	"testing"

	"github.com/locus-db/locus/match"
)

// The prior of a kind is a part of every weight, a line of the explanation, and a part of the kind's text and hash.
func TestPrior_CountsForEveryPair(t *testing.T) {
	t.Parallel()
	with := match.Person()
	with.Prior = -310
	parsed, err := match.ParseSchema(with.YAML())
	if err != nil || parsed.Prior != -310 {
		t.Fatalf("the prior is parsed as %v, %v", parsed, err)
	}
	if with.Hash() == match.Person().Hash() {
		t.Error("a kind with a prior has the hash of one without")
	}
	a := match.Attributes{"name": {"Grace Hopper"}, "birth_date": {"1906-12-09"}}
	b := match.Attributes{"name": {"Grace Murray Hopper"}, "birth_date": {"1906-12-09"}}
	explain := func(kind *match.Schema) match.Explanation {
		m := match.New(kind, nil)
		x, y := m.Normalise("one", "1", a), m.Normalise("two", "2", b)
		return m.Explain(x, y, m.Compare(x, y))
	}
	plain, prior := explain(match.Person()), explain(with)
	if prior.Weight != plain.Weight-310 {
		t.Errorf("the weight is %v with a prior of -3.10, and %v without", prior.Weight, plain.Weight)
	}
	var sum match.Weight
	for _, l := range prior.Lines {
		sum += l.Weight
	}
	if sum != prior.Weight || prior.Lines[0].Attribute != "prior" || prior.Lines[0].Weight != -310 {
		t.Errorf("the lines sum to %v of %v, the first is %+v", sum, prior.Weight, prior.Lines[0])
	}
}

func TestPrior_IsBitsBelow0(t *testing.T) {
	t.Parallel()
	for _, bits := range []string{"1", "-61", "x"} {
		text := strings.Replace(string(match.Person().YAML()), "attributes:", "prior: "+bits+"\nattributes:", 1)
		if _, err := match.ParseSchema([]byte(text)); err == nil || !strings.Contains(err.Error(), "prior") {
			t.Errorf("a prior of %s: %v", bits, err)
		}
	}
}
