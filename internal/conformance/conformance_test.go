// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/conformance"
)

func TestMain(m *testing.M) { conformance.ExpectFailures(); m.Run() }

func update(hide bool) func(context.Context, func(string) error) error {
	return func(_ context.Context, fn func(string) error) error {
		if err := fn("store"); !hide {
			return err
		}
		return nil
	}
}

// Each way to end a case gives the verdict that testing.T would.
func TestVerdictOf(t *testing.T) {
	t.Parallel()
	wrong := errors.New("wrong")
	nothing := func(context.Context, string) error { return nil }
	asking := func(ctx context.Context, _ string) error { return ctx.Err() }
	for name, c := range map[string]struct {
		run    func(t conformance.TB)
		failed bool
		log    string
	}{
		"passes":   {func(t conformance.TB) { t.Log("fine") }, false, "fine\n"},
		"errors":   {func(t conformance.TB) { t.Errorf("no %d", 1); t.Log("went on") }, true, "no 1\nwent on\n"},
		"is fatal": {func(t conformance.TB) { t.Fatal("over"); t.Log("went on") }, true, "over\n"},
		"skips":    {func(t conformance.TB) { t.Skipf("has no %s", "disk"); t.Fail() }, false, "has no disk\n"},
		"commits":  {func(t conformance.TB) { conformance.Update(t, update(false), nothing) }, false, ""},
		"does not commit": {func(t conformance.TB) {
			conformance.Update(t, update(false), func(context.Context, string) error { return wrong })
		}, true, "update: wrong\n"},
		"rolls back":       {func(t conformance.TB) { conformance.Ends(t, update(false), true, nothing) }, false, ""},
		"hides a rollback": {func(t conformance.TB) { conformance.Ends(t, update(true), true, nothing) }, true, "Update hid the error of its function\n"},
		"ends with another error": {func(t conformance.TB) {
			conformance.Ends(t, update(false), true, func(context.Context, string) error { return wrong })
		}, true, "update: wrong\n"},
		"answers": {func(t conformance.TB) {
			t.Log(conformance.Ask(t, update(false), func(_ context.Context, s string) (int, error) { return len(s), nil }))
		}, false, "5\n"},
		"does not answer": {func(t conformance.TB) {
			conformance.Ask(t, update(false), func(context.Context, string) (int, error) { return 0, wrong })
		}, true, "update: wrong\n"},
		"asks the context": {func(t conformance.TB) { conformance.Cancelled(t, update(false), asking, asking) }, false, ""},
		"does not ask the context": {func(t conformance.TB) {
			conformance.Cancelled(t, update(false), asking, nothing)
		}, true, "Update under a context that is cancelled in the middle: <nil>\n"},
		"is wrong before it is cancelled": {func(t conformance.TB) {
			conformance.Cancelled(t, update(false), func(context.Context, string) error { return wrong }, asking)
		}, true, "Update under a context that is cancelled in the middle: wrong\n"},
		"reopens":            {func(t conformance.TB) { conformance.Reopen(t, func() error { return nil }); t.Log("again") }, false, "again\n"},
		"does not reopen":    {func(t conformance.TB) { conformance.Reopen(t, func() error { return wrong }); t.Log("again") }, true, "reopen: wrong\n"},
		"cannot be reopened": {func(t conformance.TB) { conformance.Reopen(t, nil); t.Fail() }, false, "this backend cannot be reopened (Cell.Reopen)\n"},
		"one of many fails": {func(t conformance.TB) {
			conformance.Together(t, update(false), 2, func(_ context.Context, _ string, who, i int) error {
				if who == conformance.Writers-1 && i == 1 {
					return wrong
				}
				return nil
			})
		}, true, "updates at one time: wrong\n"},
	} {
		s := conformance.Suite[struct{}]{{Name: name, Run: func(t conformance.TB, _ struct{}) { c.run(t) }}}
		v := s.VerdictOf(name, struct{}{})
		if want := (conformance.Verdict{Failed: c.failed, Log: c.log}); v != want {
			t.Errorf("%s: %+v, want %+v", name, v, want)
		}
	}
}

func TestBut_LeavesOutByName(t *testing.T) {
	t.Parallel()
	fails := func(t conformance.TB, _ struct{}) { t.Fatal("failed") }
	s := conformance.Suite[struct{}]{{Name: "a", Run: fails},
		{Name: "b", Run: fails}}.But(map[string]string{"a": "for a reason", "c": "for none"})
	for name, want := range map[string]conformance.Verdict{
		"a": {Log: "for a reason\n"},
		"b": {Failed: true, Log: "failed\n"},
		"c": {Failed: true, Log: "it is to be left out, and there is no such case\n"},
	} {
		if v := s.VerdictOf(name, struct{}{}); v != want {
			t.Errorf("%s: %+v, want %+v", name, v, want)
		}
	}
}

// The race detector fails the test if a generator is missing.
func TestShare(t *testing.T) {
	t.Parallel()
	number := rapid.IntRange(1, 9)
	conformance.Share(number)
	var wg sync.WaitGroup
	wg.Go(func() { rapid.SliceOf(number).Example(1) })
	wg.Go(func() { number.Example(1) })
	wg.Wait()
}

func TestTogether_RunsEachUpdateOnce(t *testing.T) {
	t.Parallel()
	var ran [conformance.Writers][5]int
	conformance.Together(t, update(false), 5, func(_ context.Context, _ string, who, i int) error {
		for k := range ran[who] {
			if (k < i) != (ran[who][k] == 1) {
				t.Errorf("writer %d is at update %d, and ran %v", who, i, ran[who])
			}
		}
		ran[who][i]++
		return nil
	})
	if want := [5]int{1, 1, 1, 1, 1}; ran[0] != want || ran[conformance.Writers-1] != want {
		t.Errorf("the writers ran %v", ran)
	}
}

func TestMemory_HasTheBugItIsGiven(t *testing.T) {
	t.Parallel()
	wrong := errors.New("wrong")
	for bug, want := range map[string]string{
		"":                    "1 wrong 1",
		"rollback keeps rows": "2 wrong 2",
		"error is swallowed":  "1 <nil> 1",
		"nothing is kept":     "1 wrong 0",
	} {
		m := conformance.NewMemory(func() *int { return new(int) }, func(n *int) *int { c := *n; return &c }, bug)
		read := func() (got int) {
			if err := m.Update(func(n *int) error { got = *n; return nil }); err != nil {
				t.Error(err)
			}
			return got
		}
		if err := m.Update(func(n *int) error { *n++; return nil }); err != nil {
			t.Error(err)
		}
		err := m.Update(func(n *int) error { *n++; return wrong })
		before := read()
		if e := m.Reopen(); e != nil {
			t.Error(e)
		}
		if got := fmt.Sprint(before, " ", err, " ", read()); got != want {
			t.Errorf("%q: %s, want %s", bug, got, want)
		}
	}
}

func TestMemory_View(t *testing.T) {
	t.Parallel()
	m := conformance.NewMemory(func() *int { return new(int) }, func(n *int) *int { c := *n; return &c }, "")
	for round := range 3 {
		if err := m.View(func(n *int) error {
			err := m.Update(func(n *int) error { *n++; return nil })
			if *n != round {
				t.Errorf("round %d: a view reads %d", round, *n)
			}
			*n = 100
			return err
		}); err != nil {
			t.Error(err)
		}
	}
	wrong := errors.New("wrong")
	if err := m.View(func(*int) error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("a view returned %v, want the error of its function", err)
	}
}
