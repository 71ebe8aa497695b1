// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/rollup"
)

func TestCondition(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]rollup.Condition{
		"is cat":                            {Values: []string{"cat"}},
		"is not cat or dog":                 {Not: true, Values: []string{"cat", "dog"}},
		"is a, b, c, d, e or one of 2 more": {Values: []string{"a", "b", "c", "d", "e", "f", "g"}},
		"is present":                        {Exists: true},
		"is not present":                    {Not: true, Exists: true},
		"is missing":                        {Absent: true},
		"is at least 1":                     {Min: "1"},
		"is at most 2026-01-01":             {Max: "2026-01-01"},
		"is not from -1.5 to 2":             {Not: true, Min: "-1.5", Max: "2"},
	} {
		if got := console.Condition(&c); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]rollup.Measure{
		"pets, number":                          {Name: "pets", Func: rollup.Count},
		"w, the sum of weight_g":                {Name: "w", Func: rollup.Sum, Attribute: "weight_g"},
		"w, the average weight_g":               {Name: "w", Func: rollup.Avg, Attribute: "weight_g"},
		"w, the smallest weight_g":              {Name: "w", Func: rollup.Min, Attribute: "weight_g"},
		"w, the largest weight_g":               {Name: "w", Func: rollup.Max, Attribute: "weight_g"},
		"w, the 3 largest weight_g":             {Name: "w", Func: rollup.Top, Attribute: "weight_g", K: 3},
		"w, number of distinct values of breed": {Name: "w", Func: rollup.Distinct, Attribute: "breed"},
	} {
		if got := console.MeasureText(m); got != want {
			t.Errorf("%+v: %q, want %q", m, got, want)
		}
	}
}

func TestWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    rollup.Value
		want string
	}{
		{rollup.Value{Measure: &rollup.Measure{Func: rollup.Count}, N: math.MaxInt64}, "9,223,372,036,854,775,807"},
		{rollup.Value{Measure: &rollup.Measure{Func: rollup.Sum}, Sum: rollup.NewInt128(math.MinInt64)},
			"-9,223,372,036,854,775,808"},
		{rollup.Value{Measure: &rollup.Measure{Func: rollup.Sum, Scale: 2}, Sum: rollup.NewInt128(-123456)}, "-1,234.56"},
		{rollup.Value{Measure: &rollup.Measure{Func: rollup.Sum}, Sum: rollup.Int128{High: 1}}, "18,446,744,073,709,551,616"},
		{rollup.Value{Measure: &rollup.Measure{Func: rollup.Sum, Scale: 2}, Sum: rollup.NewInt128(99)}, "0.99"},
		{rollup.Value{Measure: &rollup.Measure{Func: rollup.Avg}, Sum: rollup.NewInt128(10_000), N: 3}, "3,333.333333"},
		{rollup.Value{Measure: &rollup.Measure{Func: rollup.Avg}, None: true}, "–"},
		{rollup.Value{Measure: &rollup.Measure{Func: rollup.Min}, None: true}, "–"},
		{rollup.Value{Measure: &rollup.Measure{Func: rollup.Top, K: 3}, List: []int64{4200, 1000, 7}}, "4,200 · 1,000 · 7"},
		{rollup.Value{Measure: &rollup.Measure{Func: rollup.Top, K: 3}}, "–"},
		{rollup.Value{Measure: &rollup.Measure{Func: rollup.Distinct}, N: 1000}, "1,000"},
	} {
		if got := console.Written(c.v); got != c.want {
			t.Errorf("%+v: %q, want %q", c.v, got, c.want)
		}
	}
}

func TestBehind(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-1: "none", 0: "none", 1: "1 ms", 999 * time.Millisecond: "999 ms", time.Second: "1.0 s",
		59990 * time.Millisecond: "59.9 s",
		time.Minute:              "1 min", 119 * time.Minute: "119 min", 2 * time.Hour: "2 h", 47 * time.Hour: "47 h",
		49 * time.Hour: "2 days",
	} {
		if got := console.Behind(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// A whole minus a part is the rest, for any size of numbers.
func TestLess_IsTheRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := rollup.Measure{Func: rapid.SampledFrom([]rollup.Func{rollup.Count, rollup.Sum, rollup.Avg}).Draw(t, "function")}
		value := func(name string) rollup.Value {
			v := rollup.Value{Measure: &m, Sum: rollup.NewInt128(rapid.Int64().Draw(t, name)),
				N: rapid.Int64Range(0, 1<<40).Draw(t, name+" count")}
			v.None = m.Func == rollup.Avg && v.N == 0
			return v
		}
		whole, part := value("whole"), value("part")
		whole.N += part.N
		rest := console.Less(whole, part)
		if rest.N != whole.N-part.N || rest.Sum.Plus(part.Sum) != whole.Sum ||
			rest.None != (m.Func == rollup.Avg && rest.N == 0) {
			t.Fatalf("%+v without %+v is %+v", whole, part, rest)
		}
	})
}
