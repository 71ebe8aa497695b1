// SPDX-License-Identifier: Apache-2.0

package problem_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/problem"
)

// Any names survive the way through a JSON pointer.
func TestPointer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("a~/01.é")), -1, 6, -1), 1, 4).Draw(t, "names")
		if got := problem.New(problem.Pointer(names...), "", "").Names(); !slices.Equal(got, names) {
			t.Errorf("%q became %q", names, got)
		}
	})
	if names := problem.New("", "", "").Names(); names != nil {
		t.Errorf("the whole input has the names %q", names)
	}
}

func TestProblem_String(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]problem.Problem{
		"line 3, measures.a/b.scale: no": {Pointer: "/measures/a~1b/scale", Detail: "no", Line: 3},
		"key: no":                        {Pointer: "/key", Detail: "no"},
		"no":                             {Detail: "no"},
		"line 2: no":                     {Detail: "no", Line: 2},
		strings.Repeat("long", 15) + "…: too long": {Pointer: "/" + strings.Repeat("long", 20), Detail: "too long"},
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSort(t *testing.T) {
	t.Parallel()
	problems := []problem.Problem{{Line: 2, Pointer: "/a"}, {Line: 1, Pointer: "/b"}, {Line: 1, Pointer: "/a"},
		{Pointer: "/z"}}
	problem.Sort(problems)
	var got string
	for _, p := range problems {
		got += fmt.Sprint(p.Line, p.Pointer, " ")
	}
	if got != "0/z 1/a 1/b 2/a " {
		t.Error(got)
	}
}

func TestInvalidError(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("put: %w", problem.Within("/records/3", problem.Invalid("/key", "invalid", "no")))
	if !errors.Is(err, problem.ErrInvalid) || err.Error() != "put: records.3.key: no" {
		t.Errorf("%v", err)
	}
	if err := problem.At("/of", problem.Invalid("/key", "invalid", "no")); err.Error() != "of: no" {
		t.Errorf("%v", err)
	}
	of := &problem.InvalidError{Definition: "rollup",
		Problems: []problem.Problem{{Pointer: "/group", Detail: "no"}, {Detail: "empty"}}}
	if of.Error() != "the definition of the rollup is not valid: group: no; empty" {
		t.Errorf("%v", of)
	}
}

func TestClass(t *testing.T) {
	t.Parallel()
	err := problem.Class(problem.ErrNotFound, "rollup: not found")
	if !errors.Is(err, problem.ErrNotFound) || errors.Is(err, problem.ErrErased) || err.Error() != "rollup: not found" {
		t.Errorf("%v", err)
	}
}
