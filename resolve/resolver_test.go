// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

func TestResolver_AnyOrderGivesTheSameEntities(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	ops := world(1, 120)
	want := madeOf(t, ops)
	t.Logf("%d records, %d entities", len(ops), len(want))
	for seed := range seeds(2) {
		r := rand.New(rand.NewPCG(seed, 2))
		in := open(t, t.TempDir(), nil)
		for _, group := range groups(r, shuffled(r, ops), []int{4, 50}[seed%2]) {
			in.apply(t, group)
		}
		if d := differ(in.check(t), want); d != "" {
			t.Fatalf("seed %d: another order, other entities:\n%s", seed, d)
		}
	}
}

func TestResolver_DeletionUndoesExactlyWhatTheRecordDid(t *testing.T) {
	t.Parallel()
	for seed := range seeds(2) {
		r := rand.New(rand.NewPCG(seed, 3))
		ops := shuffled(r, world(seed, 100))
		stay, go_ := ops[:len(ops)*8/10], ops[len(ops)*8/10:]
		want := madeOf(t, stay)

		in := open(t, t.TempDir(), nil)
		in.apply(t, shuffled(r, ops))
		var deletes []resolve.Op
		for _, op := range go_ {
			deletes = append(deletes, resolve.Op{Ref: op.Ref, Delete: true})
		}
		for _, group := range groups(r, deletes, 20) {
			in.apply(t, group)
		}
		if d := differ(in.check(t), want); d != "" {
			t.Fatalf("seed %d: added and deleted is not as never added:\n%s", seed, d)
		}
	}
}

func TestResolver_AnyHistoryEndsWhereItsRecordsDo(t *testing.T) {
	t.Parallel()
	for seed := range seeds(2) {
		r := rand.New(rand.NewPCG(seed, 4))
		a, b := world(seed, 80), world(seed+100, 80)
		in := open(t, t.TempDir(), nil)
		for range 8 {
			var ops []resolve.Op
			for range 40 {
				// Both worlds have the same keys, so each updates the records of the other.
				op := a[r.IntN(len(a))]
				switch r.IntN(5) {
				case 0, 1:
					op = b[r.IntN(len(b))]
				case 2:
					op = resolve.Op{Ref: op.Ref, Delete: true}
				}
				ops = append(ops, op)
			}
			in.apply(t, ops)
			in.check(t)
		}
	}
}

func TestResolver_TwiceIsOnce(t *testing.T) {
	t.Parallel()
	ops := world(7, 60)
	in := open(t, t.TempDir(), nil)
	in.apply(t, append(append([]resolve.Op{}, ops...), ops...))
	want := in.check(t)
	before := in.log(t)
	in.apply(t, shuffled(rand.New(rand.NewPCG(7, 7)), ops))
	if d := differ(in.check(t), want); d != "" {
		t.Fatal(d)
	}
	if after := in.log(t); after != before {
		t.Errorf("putting everything again appended %d changes", after-before)
	}
}

func (in *installation) log(t testing.TB) (n int) {
	t.Helper()
	in.each(t, func(tx storage.Tx, _ entity.PUID) error {
		changes, err := tx.Changes(t.Context(), 0, 1<<20)
		n += len(changes)
		return err
	})
	return n
}

func TestResolver_SaysWhatBecameOfARecord(t *testing.T) {
	t.Parallel()
	in := open(t, t.TempDir(), nil)
	joes := resolve.Op{Ref: entity.Ref{Source: "1", Key: "a"}, Attributes: entity.Attributes{
		"name": {"Joes Pizza"}, "address": {"1000 Market Street"}, "phones": {"415-555-2300"},
	}}
	again := resolve.Op{Ref: entity.Ref{Source: "2", Key: "b"}, Attributes: entity.Attributes{
		"name": {"Joe's"}, "address": {"1000 Market St."}, "phones": {"(415) 555-2300"},
	}}
	one := func(op resolve.Op) resolve.Result {
		t.Helper()
		return in.Apply(t.Context(), []resolve.Op{op})[0]
	}
	founded := one(joes)
	if founded.Outcome != resolve.Created || founded.Entity.IsZero() || founded.Version != 1 {
		t.Fatalf("%+v", founded)
	}
	joined := one(again)
	if joined.Outcome != resolve.Matched && joined.Outcome != resolve.Created {
		t.Fatalf("%+v", joined)
	}
	first := one(joes)
	if first.Outcome != resolve.Unchanged || first.Entity != joined.Entity || first.PUID != founded.PUID {
		t.Fatalf("%+v, the entity is %v", first, joined.Entity)
	}
	other := joes
	other.Attributes = entity.Attributes{"name": {"Harbor Garage"}}
	if r := one(other); r.Outcome != resolve.Updated || r.Version != 2 || r.Entity != founded.Entity {
		t.Fatalf("%+v", r)
	}
	if r := one(again); r.Outcome != resolve.Unchanged || r.Entity == founded.Entity {
		t.Fatalf("the two are still one: %+v", r)
	}
	if r := one(resolve.Op{Ref: joes.Ref, Delete: true}); r.Err != nil || r.Entity != founded.Entity {
		t.Fatalf("%+v", r)
	}
	if r := one(resolve.Op{Ref: joes.Ref, Delete: true}); r.Err == nil {
		t.Fatalf("deleted twice: %+v", r)
	}
	in.check(t)
}

// The contribution of a record to its entity follows from its content, even if the process has cached the contribution
// of former content.
func TestResolver_ReadsOtherContentOfARecordThatItRemembers(t *testing.T) {
	t.Parallel()
	in := open(t, t.TempDir(), nil)
	in.apply(t, []resolve.Op{{Ref: entity.Ref{Source: "s", Key: "1"}, Attributes: entity.Attributes{"name": {"Joes Pizza"}}}})
	_, live := in.state(t)
	if len(live) != 1 {
		t.Fatal(live)
	}
	rec := *live[0]
	for _, name := range []string{"Joes Pizza", "Blue Door Books"} {
		rec.Attributes = entity.Attributes{"name": {name}}
		if said := fmt.Sprint(in.Alone(&rec).View); !strings.Contains(said, name) {
			t.Errorf("of %s it says %s", name, said)
		}
	}
}
