// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// outdate makes the stored rules say that an older matcher made the entities, by the term frequencies of new
// installations. In fact they were made by other term frequencies: that is the difference between the matchers.
func outdate(t *testing.T, at string) {
	t.Helper()
	cells, err := storage.Open(t.Context(), at, &storage.Options{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	defer cells.Close()
	authority, err := cells.Cell(cells.Map().Authority())
	if err != nil {
		t.Fatal(err)
	}
	if err := authority.Exclusive(t.Context(), func(tx storage.Tx) error {
		text, err := tx.Definition(t.Context(), "rules")
		if err != nil {
			return err
		}
		var rules map[string]any
		if err := json.Unmarshal(text, &rules); err != nil {
			return err
		}
		rules["matcher"] = "matcher 5"
		for _, k := range rules["kinds"].([]any) {
			k.(map[string]any)["term_frequencies"] = resolve.HashText(match.DefaultTermFrequencies().Hash())
		}
		if text, err = json.Marshal(rules); err != nil {
			return err
		}
		return tx.PutDefinition(t.Context(), "rules", text)
	}); err != nil {
		t.Fatal(err)
	}
}

// An installation of an older matcher can be read, but not written, until it is upgraded. The plan predicts its
// entities, readers find every entity all the time, and every id leads to an entity afterwards.
func TestP09_AnUpgradeKeepsEveryId(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for name, where := range map[string]func(*testing.T) string{
		"files":  (*testing.T).TempDir,
		"server": func(t *testing.T) string { return pgtest.Shared(t).URL(pgtest.Shared(t).Database(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := where(t)
			s := open(t, at, 2)
			puts := shops(60)
			put(t, s, puts...)
			pack, err := s.Kinds().BuildTermFrequencies(t.Context(), "place", nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Kinds().Migrate(t.Context(), kinds.Proposal{Kind: "place", Terms: pack.Hash}, nil); err != nil {
				t.Fatal(err)
			}
			before := entitiesOf(t, s)
			if u := s.Kinds().State(); u.Needed || u.Running != nil || u.Matcher != u.Program {
				t.Errorf("a new installation: %+v", u)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			outdate(t, at)

			s = open(t, at, 2)
			defer func() { _ = s.Close() }()
			if u := s.Kinds().State(); !u.Needed || u.Matcher != "matcher 5" {
				t.Errorf("before: %+v", u)
			}
			results, err := s.Records().Put(t.Context(), puts[:1])
			if err == nil {
				err = results[0].Err
			}
			if !errors.Is(err, locus.ErrConflict) || !errors.Is(err, resolve.ErrOutdated) {
				t.Errorf("a put before the upgrade: %v, want ErrOutdated", err)
			}
			plan, err := s.Kinds().PlanUpgrade(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(plan, func(d *kinds.Diff) bool { return d.Kind == "place" })
			if again := entitiesOf(t, s); !maps.EqualFunc(before, again, slices.Equal) || !s.Kinds().State().Needed {
				t.Error("the plan has changed something")
			}
			if plan[i].Merged+plan[i].Split == 0 || plan[i].Before != len(before) {
				t.Errorf("the plan says %+v: the test does not reach what it is for", plan[i])
			}
			done, found := make(chan struct{}), make(chan error, 1)
			go func() {
				for {
					for id := range before {
						if _, err := s.Entities().Find(t.Context(), id); err != nil {
							found <- err
							return
						}
					}
					select {
					case <-done:
						found <- nil
						return
					default:
					}
				}
			}()
			err = s.Kinds().Upgrade(t.Context(), nil)
			close(done)
			if err := errors.Join(err, <-found); err != nil {
				t.Fatal(err)
			}
			if u := s.Kinds().State(); u.Needed || u.Running != nil || u.Matcher != u.Program {
				t.Errorf("after: %+v", u)
			}
			after := entitiesOf(t, s)
			if len(after) != plan[i].After {
				t.Errorf("%d entities, the plan said %d", len(after), plan[i].After)
			}
			for _, e := range append(plan[i].Merges, plan[i].Splits...) {
				for _, id := range e.To {
					if after[id.String()] == nil {
						t.Errorf("there is no entity %v, as the plan said there would be", id)
					}
				}
			}
			other := fresh(t)
			put(t, other, puts...)
			if got, want := sets(after), sets(entitiesOf(t, other)); !slices.Equal(got, want) {
				t.Errorf("%d entities after the upgrade, %d in a fresh installation", len(got), len(want))
			}
			put(t, s, puts...)
			if again := entitiesOf(t, s); !maps.EqualFunc(after, again, slices.Equal) {
				t.Error("putting the records again has changed entities")
			}
		})
	}
}
