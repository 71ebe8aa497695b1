// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// ruling is a decision by external keys, independent of puids.
type ruling struct {
	verdict   entity.Verdict
	a, b      entity.Ref
	attribute string
	value     string
	withdrawn bool
}

// rulings draws decisions about records, with some pairs drawn more often: must-links of records that have
// nothing in common, cannot-links, contradictions, withdrawals, and pins.
func rulings(r *rand.Rand, ops []resolve.Op, n int) []ruling {
	var refs []entity.Ref
	seen := map[entity.Ref]bool{}
	for _, op := range ops {
		if !seen[op.Ref] {
			seen[op.Ref] = true
			refs = append(refs, op.Ref)
		}
	}
	var all []ruling
	for len(all) < n {
		i := r.IntN(len(refs))
		// Records of one thing are adjacent.
		j := min(len(refs)-1, max(0, i-3+r.IntN(7)))
		if r.IntN(3) == 0 {
			j = r.IntN(len(refs))
		}
		if i == j {
			continue
		}
		u := ruling{verdict: entity.VerdictSame, a: refs[i], b: refs[j]}
		switch r.IntN(8) {
		case 0, 1, 2:
			u.verdict = entity.VerdictDifferent
		case 3:
			u = ruling{verdict: entity.VerdictAnchor, a: refs[i]}
		case 4:
			u = ruling{verdict: entity.VerdictValue, a: refs[i], attribute: "name", value: fmt.Sprint("Chosen ", r.IntN(5))}
			if r.IntN(2) == 0 {
				u.attribute, u.value = "phones", fmt.Sprintf("415-555-77%02d", r.IntN(5))
			}
		}
		if r.IntN(5) == 0 && len(all) > 0 {
			u = all[r.IntN(len(all))] // reversed, or withdrawn
			switch {
			case !u.withdrawn && r.IntN(2) == 0:
				u.withdrawn = true
			case u.verdict == entity.VerdictSame:
				u.verdict = entity.VerdictDifferent
			case u.verdict == entity.VerdictDifferent:
				u.verdict = entity.VerdictSame
			}
			if r.IntN(2) == 0 && u.b != (entity.Ref{}) {
				u.a, u.b = u.b, u.a
			}
		}
		all = append(all, u)
	}
	return all
}

// puids returns the puids of keys that were put.
func (in *installation) puids(t testing.TB) map[entity.Ref]entity.PUID {
	t.Helper()
	puids := map[entity.Ref]entity.PUID{}
	in.each(t, func(tx storage.Tx, lo entity.PUID) error {
		records, err := tx.ListRecords(t.Context(), "", lo, 1<<20)
		for _, rec := range records {
			puids[rec.Ref] = rec.PUID
		}
		return err
	})
	return puids
}

// decisions converts rulings to decisions by puid.
func (in *installation) decisions(t testing.TB, rulings []ruling) []entity.Decision {
	t.Helper()
	puids := in.puids(t)
	var made []entity.Decision
	for _, u := range rulings {
		d := entity.Decision{Verdict: u.verdict, A: puids[u.a], B: puids[u.b], Attribute: u.attribute, Value: u.value, Withdrawn: u.withdrawn}
		if d.A == 0 || u.b != (entity.Ref{}) && d.B == 0 {
			t.Fatalf("a decision about a record that is not there: %+v", u)
		}
		made = append(made, d)
	}
	return made
}

func (in *installation) decide(t testing.TB, rulings ...ruling) {
	t.Helper()
	for _, d := range in.Decide(t.Context(), in.decisions(t, rulings)) {
		if d.Err != nil {
			t.Fatalf("%+v: %v", d.Decision, d.Err)
		}
	}
}

// decided returns all stored decisions. It fails the test if one about a pair is not stored under both
// records.
func (in *installation) decided(t testing.TB) (all []entity.Decision) {
	t.Helper()
	at := map[entity.DecisionKey]entity.Decision{}
	in.each(t, func(tx storage.Tx, lo entity.PUID) error {
		found, err := tx.ListDecisions(t.Context(), entity.DecisionKey{A: lo}, 1<<20)
		for _, d := range found {
			at[d.Key()] = d
		}
		all = append(all, found...)
		return err
	})
	for _, d := range all {
		if m := d.Mirror(); d.Pair() && at[m.Key()] != m {
			t.Errorf("decision %+v: under the other record stands %+v", d, at[m.Key()])
		}
	}
	return all
}

// ticks returns a clock that advances a millisecond per call, so that successive decisions have distinct
// times on any machine.
func ticks() func() time.Time {
	now := time.UnixMilli(1_800_000_000_000)
	return func() time.Time { now = now.Add(time.Millisecond); return now }
}

// views returns the views of all entities by id, as text.
func (in *installation) views(t testing.TB) map[locality.ID]string {
	t.Helper()
	views := map[locality.ID]string{}
	in.each(t, func(tx storage.Tx, lo entity.PUID) error {
		found, err := tx.ListEntities(t.Context(), lo, 1<<20)
		for _, e := range found {
			views[e.ID] = fmt.Sprintf("%+v", e.View)
		}
		return err
	})
	return views
}

// openTicking returns an installation with the clock of ticks.
func openTicking(t testing.TB) *installation {
	t.Helper()
	cells := open(t, t.TempDir(), nil).cells
	return processOver(t, cells, cells, "", ticks())
}

// Records and decisions in any order give the same entities, ids and views, as long as decisions follow
// their records and keep their own order.
func TestP09_DecisionsInAnyOrder(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for seed := range uint64(2) {
		ops := world(seed, 60)
		made := rulings(rand.New(rand.NewPCG(seed, 20)), ops, 40)
		first := openTicking(t)
		first.apply(t, ops)
		first.decide(t, made...)
		want, views := first.check(t), first.views(t)
		if differ(want, madeOf(t, ops)) == "" {
			t.Error("the decisions change nothing: the test does not reach what it is for")
		}
		for shuffle := range seeds(1) {
			t.Run(fmt.Sprint("world ", seed, " shuffle ", shuffle), func(t *testing.T) {
				r := rand.New(rand.NewPCG(shuffle, 20))
				in := openTicking(t)
				in.shuffle(t, r, ops, made)
				if d := differ(in.check(t), want); d != "" {
					t.Fatalf("another order, other entities:\n%s", d)
				}
				if d := differ(in.views(t), views); d != "" {
					t.Fatalf("another order, other views:\n%s", d)
				}
				if err := in.cells.Close(); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// shuffle puts records in any order and in batches of any size, and makes each decision as soon as its records exist.
func (in *installation) shuffle(t *testing.T, r *rand.Rand, ops []resolve.Op, made []ruling) {
	t.Helper()
	there := map[entity.Ref]bool{{}: true}
	for _, group := range groups(r, shuffled(r, ops), []int{60, 15}[r.IntN(2)]) {
		in.apply(t, group)
		for _, op := range group {
			there[op.Ref] = true
		}
		n := 0
		for r.IntN(3) > 0 && n < len(made) && there[made[n].a] && there[made[n].b] {
			n++
		}
		in.decide(t, made[:n]...)
		made = made[n:]
	}
	in.decide(t, made...)
}

// Records are added, changed, deleted and put again, and decisions are made and withdrawn, in any order.
func TestP09_AnyHistoryWithDecisions(t *testing.T) {
	t.Parallel()
	for seed := range seeds(2) {
		r := rand.New(rand.NewPCG(seed, 21))
		a, b := world(seed, 50), world(seed+100, 50)
		if seed%2 == 1 { // records that only decisions join
			a, b = strangers(20), strangers(20)
		}
		in := open(t, t.TempDir(), nil)
		in.apply(t, a)
		for range 8 {
			var live []resolve.Op
			for ref := range in.puids(t) {
				live = append(live, resolve.Op{Ref: ref})
			}
			slices.SortFunc(live, func(a, b resolve.Op) int { return cmpRefs(a.Ref, b.Ref) })
			in.decide(t, rulings(r, live, 1+r.IntN(8))...)
			in.check(t)
			var ops []resolve.Op
			for range 25 {
				op := a[r.IntN(len(a))]
				switch r.IntN(5) {
				case 0, 1:
					op = b[r.IntN(len(b))]
				case 2, 3:
					op = resolve.Op{Ref: op.Ref, Delete: true}
				}
				ops = append(ops, op)
			}
			in.apply(t, ops)
			in.check(t)
		}
	}
}

func cmpRefs(a, b entity.Ref) int {
	if a.String() < b.String() {
		return -1
	}
	return 1
}
