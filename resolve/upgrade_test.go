// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// claims makes the stored rules say that the entities were made under the place schema by another version of the
// matcher. If they were made under another schema, that is what another matcher would have made of place.
func claims(t *testing.T, cells *storage.Cells, version string) {
	t.Helper()
	for _, id := range cells.Map().Cells() {
		name := "rules/copy"
		if id == cells.Map().Authority() {
			name = "rules"
		}
		if err := cellOf(t, cells, id).Exclusive(t.Context(), func(tx storage.Tx) error {
			text, err := tx.Definition(t.Context(), name)
			if err != nil || text == nil {
				return err
			}
			var rules map[string]any
			if err := json.Unmarshal(text, &rules); err != nil {
				return err
			}
			rules["matcher"] = version
			rules["kinds"] = []map[string]string{{
				"schema": string(matcher.Schema().YAML()), "term_frequencies": resolve.HashText(matcher.TermFrequencies().Hash()),
			}}
			if text, err = json.Marshal(rules); err != nil {
				return err
			}
			return tx.PutDefinition(t.Context(), name, text)
		}); err != nil {
			t.Fatalf("cell %v: %v", id, err)
		}
	}
}

// outdated fills an installation with the records of an older matcher.
func outdated(t *testing.T, in *installation, ops []resolve.Op) {
	t.Helper()
	in.apply(t, ops)
	in.change(t, noPhones(), nil)
	in.check(t)
	claims(t, in.cells, "matcher 5")
}

// upgrade upgrades and waits until that is done.
func (in *installation) upgrade(t testing.TB, progress func(*resolve.Migration)) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	_, err := in.Upgrade(ctx)
	if err == nil {
		err = in.Resume(ctx, progress)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// An upgrade ends where a fresh installation with the same births ends, while records are added, changed and deleted.
// They wait until the keys of all records are posted.
func TestP09_AnUpgradeEndsWhereAFreshStartEnds(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for seed := range seeds(2) {
		r := rand.New(rand.NewPCG(seed, 90))
		in := open(t, t.TempDir(), nil)
		ops := shuffled(r, world(9, 40))
		outdated(t, in, ops[:len(ops)*3/4])
		ops = ops[len(ops)*3/4:]
		in = process(t, in.cells, "", nil)
		steps := map[resolve.Step]int{}
		in.upgrade(t, func(c *resolve.Migration) {
			steps[c.Step]++
			waits := 0
			n := min(len(ops), 10)
			for _, res := range in.Apply(t.Context(), append(ops[:n:n], altered(r, world(9, 40), 5)...)) {
				if res.Pending {
					waits++
				}
			}
			ops = ops[n:]
			if c.Step != resolve.StepResolve && waits == 0 || c.Step == resolve.StepResolve && waits > 0 {
				t.Errorf("step %s: %d records wait", c.Step, waits)
			}
		})
		if len(steps) != 4 {
			t.Errorf("steps: %v", steps)
		}
		in.check(t)
		in.checkPostings(t)
		in.checksOut(t)
		in.apply(t, altered(r, world(9, 40), 30))
		in.check(t)
		in.checkPostings(t)
		if more, err := in.Upgrade(t.Context()); err != nil || more {
			t.Error("the same again:", more, err)
		}
	}
}

// checksOut fails the test if a check finds a difference.
func (in *installation) checksOut(t testing.TB) {
	t.Helper()
	if err := in.Check(t.Context(), resolve.Checking{Report: func(d resolve.Difference) error {
		t.Errorf("%+v", d)
		return nil
	}}); err != nil {
		t.Error(err)
	}
}

// A process crashes after any number of commits of an upgrade, during which records are written, and another process
// finishes it.
func TestP09_AnUpgradeThatStopsAnywhereGoesOn(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	base := prepared(t, func(in *installation) { outdated(t, in, world(9, 12)) })
	for step := 0; ; step += longtest.Sample(5, 12, 5, 1) {
		fault := &crash{left: step}
		in := open(t, copied(t, base), func(_ cell.ID, c storage.Cell) storage.Cell { return stopCell{c, fault} })
		if in.upgradeUntilItStops(t, uint64(step)) {
			t.Logf("%d places to stop", step)
			return
		}
	}
}

// upgradeUntilItStops upgrades with a process that crashes at some time while it writes, and finishes with another. It
// closes the installation, and reports whether the first process came to the end.
func (in *installation) upgradeUntilItStops(t *testing.T, seed uint64) bool {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 91))
	_, stopped := in.Upgrade(t.Context())
	if stopped == nil {
		stopped = in.Resume(t.Context(), func(*resolve.Migration) { in.Apply(t.Context(), altered(r, world(9, 12), 4)) })
	}
	if stopped != nil && !errors.Is(stopped, errCrash) {
		t.Fatal(stopped)
	}
	in = process(t, in.cells, "", nil)
	in.upgrade(t, nil)
	in.check(t)
	in.checkPostings(t)
	in.apply(t, altered(r, world(9, 12), 20))
	in.check(t)
	if err := in.cells.Close(); err != nil {
		t.Fatal(err)
	}
	return stopped == nil
}

// Cells are added in every step of an upgrade, while records are written.
func TestP09_AnUpgradeWhileCellsAreAdded(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	things := longtest.Sample(0, 16, max(20, longtest.Part(40)), 40)
	for _, at := range []resolve.Step{resolve.StepFence, resolve.StepPost, resolve.StepDrop, resolve.StepResolve} {
		r := rand.New(rand.NewPCG(5, 92))
		in := open(t, t.TempDir(), nil)
		outdated(t, in, world(9, things))
		in = process(t, in.cells, "", nil)
		grown := false
		in.upgrade(t, func(c *resolve.Migration) {
			if grown || c.Step != at || len(c.Cells) < 2 {
				return
			}
			grown = true
			if err := cell.Grow(t.Context(), in.cells, cell.Growth{Cells: 6}, nil); err != nil {
				t.Fatal(err)
			}
			in.apply(t, altered(r, world(9, things*3/2), 30))
		})
		if !grown {
			t.Error("no cell was added in step", at)
		}
		in.check(t)
		in.checkPostings(t)
	}
}

// Two processes: one with the data of the older matcher open, one that upgrades. Before the upgrade neither writes;
// afterwards both continue. The rules of a newer matcher are refused by name, also by a process that is running.
func TestUpgrade_Refuses(t *testing.T) {
	t.Parallel()
	in := open(t, t.TempDir(), nil)
	outdated(t, in, world(9, 10))
	a, b := process(t, in.cells, "a", nil), process(t, in.cells, "b", nil)
	for _, p := range []*installation{a, b} {
		if err := p.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !p.Rules().Outdated() {
			t.Error("the rules are not outdated")
		}
		wants := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, resolve.ErrOutdated) || !strings.Contains(err.Error(), `"matcher 5"`) || !strings.Contains(err.Error(), "locus upgrade run") {
				t.Errorf("%s: %v, want ErrOutdated with the matcher and the command", what, err)
			}
		}
		wants("put", p.Apply(t.Context(), world(9, 10)[:1])[0].Err)
		_, err := p.Match(t.Context(), []resolve.Probe{{Op: world(9, 10)[0]}}, resolve.Matching{})
		wants("match", err)
		_, _, err = p.WhatIf(t.Context(), p.Rules().Kind(""), resolve.Scenario{})
		wants("what-if", err)
		wants("check", p.Check(t.Context(), resolve.Checking{}))
		_, err = p.Migrate(t.Context(), noPhones().Schema(), nil)
		wants("migrate", err)
		if err := p.Drain(t.Context()); err != nil {
			t.Error("drain:", err)
		}
		p.Leave(t.Context())
	}
	if _, err := a.Upgrade(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Migrate(t.Context(), noPhones().Schema(), nil); !errors.Is(err, resolve.ErrUpgrading) {
		t.Error("a migration in an upgrade:", err)
	}
	if err := a.Check(t.Context(), resolve.Checking{}); !errors.Is(err, resolve.ErrUpgrading) {
		t.Error("a check in an upgrade:", err)
	}
	if res := a.Apply(t.Context(), world(9, 10)[:1])[0]; res.Err != nil {
		t.Error("a put in an upgrade:", res.Err)
	}
	a.upgrade(t, nil)
	a.Leave(t.Context())
	b.apply(t, world(9, 10))
	b.Leave(t.Context())
	a.check(t)

	claims(t, in.cells, "matcher 99")
	newer := process(t, in.cells, "c", nil)
	for what, err := range map[string]error{
		"a new process": newer.Reload(t.Context()), "a running one": b.Reload(t.Context()), "its put": a.again(t),
	} {
		if !errors.Is(err, resolve.ErrNewer) || !strings.Contains(err.Error(), `"matcher 99"`) || !strings.Contains(err.Error(), derived.RulesName) {
			t.Errorf("%s: %v, want ErrNewer with both matchers", what, err)
		}
	}
}

// again puts a record after another process had the lease.
func (in *installation) again(t testing.TB) error {
	t.Helper()
	in.Leave(t.Context())
	if err := in.Reload(t.Context()); err != nil {
		return err
	}
	return in.Apply(t.Context(), world(9, 10)[:1])[0].Err
}

// An upgrade that cannot reach every cell does not begin.
func TestUpgrade_NeedsEveryCell(t *testing.T) {
	t.Parallel()
	in, down := openFaulty(t, 1)
	outdated(t, in, world(9, 10))
	if err := in.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	down.Store(true)
	if _, err := in.Upgrade(t.Context()); !errors.Is(err, cell.ErrUnavailable) || !strings.Contains(err.Error(), "cell g0-1 has to answer") {
		t.Errorf("%v, want ErrUnavailable with the cell", err)
	}
	if !in.Rules().Outdated() {
		t.Error("it has begun")
	}
	down.Store(false)
	in = process(t, in.cells, "", nil)
	in.upgrade(t, nil)
	in.check(t)
	in.checkPostings(t)
}
