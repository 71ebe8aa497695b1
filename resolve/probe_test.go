// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// everything lists every pair that is compared.
var everything = resolve.Matching{Top: 1 << 20, Least: -30_000}

// openInOrder returns an installation in which birth ids increase, as with a real clock.
func openInOrder(t testing.TB, wrap func(cell.ID, storage.Cell) storage.Cell) *installation {
	t.Helper()
	cells := open(t, t.TempDir(), nil).cells
	var born atomic.Uint32 // several cells are written at once
	r, err := resolve.New(resolve.Options{
		Cells: wrapped{cells, wrap}, Rules: resolve.NewRules(1, matcher), Now: ticks(), Cache: 200,
		Mint: func(ref entity.Ref, segment locality.Segment) (locality.ID, error) {
			id, err := birth(ref, segment)
			binary.BigEndian.PutUint32(id[12:], born.Add(1))
			return id, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &installation{r, cells, matcher}
}

// In random worlds with merges, splits, stop keys, identical records, decisions and deletions, a match
// predicts exactly what the put then does.
func TestMatch_SaysWhatPutDoes(t *testing.T) {
	t.Parallel()
	in := openInOrder(t, nil)
	ops := world(7, 40)
	in.apply(t, ops[:len(ops)-30])
	in.decide(t, rulings(rand.New(rand.NewPCG(7, 20)), ops[:len(ops)-30], 25)...)
	seen := map[string]int{}
	conformance.Check(t, 40, func(rt *rapid.T) {
		var undo, redo []resolve.Op
		for range rapid.IntRange(1, 4).Draw(rt, "steps") {
			op := ops[rapid.IntRange(0, len(ops)-1).Draw(rt, "content")]
			of := ops[rapid.IntRange(0, len(ops)-31).Draw(rt, "key")]
			if op.Ref = of.Ref; rapid.Bool().Draw(rt, "new") {
				op.Key = fmt.Sprint("new ", rapid.IntRange(0, 3).Draw(rt, "new key"))
			} else {
				redo = append(redo, of)
			}
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				op.Observed = time.UnixMilli(1_600_000_000_000) // older than all
			case 1:
				op = of
			case 2, 3, 4: // content of two things
				op.Observed = time.Time{}
				op.Attributes = entity.Attributes{"name": op.Attributes["name"], "phones": {
					"415-555-0007", fmt.Sprintf("415-555-%04d", rapid.IntRange(0, 120).Draw(rt, "phone")),
				}, "city": {"Springfield"}}
			default:
				op.Observed = time.Time{}
			}
			in.predicted(rt, op, seen)
			undo = append(undo, resolve.Op{Ref: op.Ref, Delete: true})
		}
		in.apply(t, append(undo, redo...))
	})
	for _, what := range []string{"created", "matched", "updated", "unchanged", "stale", "merges", "splits", "skipped", "edges"} {
		if seen[what] == 0 && !testing.Short() {
			t.Errorf("no probe had %s: %v", what, seen)
		}
	}
}

// A stop key turns back into a blocking key when a record loses it, and the other records that have it are merged. They
// are listed only if one of them stays with the record.
func TestMatch_AssumesTheLostPosting(t *testing.T) {
	t.Parallel()
	for phone, stays := range map[string]bool{"415-555-2300": true, "415-555-7777": false} {
		losesStopKey(t, phone, stays)
	}
}

func losesStopKey(t *testing.T, phone string, stays bool) {
	t.Helper()
	in := openInOrder(t, nil)
	var ops []resolve.Op
	for i := range match.MaxBlockWords + 1 {
		ops = append(ops, resolve.Op{Ref: entity.Ref{Source: "crawl", Key: fmt.Sprint(i)}, Attributes: entity.Attributes{
			"name": {"Zephyr Quill"}, "category": {fmt.Sprint("kind ", i)},
		}})
	}
	for i := range 2 {
		ops[i].Attributes["phones"] = []string{"415-555-2300"}
	}
	in.apply(t, ops)
	seen := map[string]int{}
	in.predicted(t, resolve.Op{Ref: ops[0].Ref, Attributes: entity.Attributes{"phones": {phone}}}, seen)
	if (seen["merges"] > 0) != stays || len(in.entities(t)) > 2 {
		t.Errorf("%s: %v, then there are %d entities", phone, seen, len(in.entities(t)))
	}
}

// predicted matches a record, puts it, and compares.
func (in *installation) predicted(t conformance.TB, op resolve.Op, seen map[string]int) {
	t.Helper()
	ctx := context.Background()
	before := in.entities(t)
	found, err := in.Match(ctx, []resolve.Probe{{Op: op, Put: true}}, everything)
	if err != nil || found[0].Err != nil {
		t.Fatalf("match: %v, %v", err, found)
	}
	put := in.Apply(ctx, []resolve.Op{op})[0]
	if put.Err != nil {
		t.Fatalf("put: %v", put.Err)
	}
	after := in.entities(t)
	want := resolve.Prediction{Outcome: put.Outcome, Entity: put.Entity}
	if put.Outcome == resolve.Created && put.Version == 1 {
		want.Entity = locality.ID{} // a new id; a deleted record that is put again keeps its old id
	}
	at := map[string]locality.ID{}
	for id, refs := range after {
		for _, ref := range refs {
			at[ref] = id
		}
	}
	for id, refs := range before {
		parts := map[locality.ID]bool{}
		for _, ref := range refs {
			parts[at[ref]] = true
		}
		if len(parts) > 1 {
			want.Splits = append(want.Splits, id)
		}
		if after[id] == nil && at[refs[0]] == put.Entity {
			want.Merges = append(want.Merges, id)
		}
	}
	slices.SortFunc(want.Splits, locality.ID.Compare)
	slices.SortFunc(want.Merges, locality.ID.Compare)
	if got := *found[0].Put; !reflect.DeepEqual(got, want) {
		t.Fatalf("%v %v:\nmatch %+v\nput   %+v", op.Ref, op.Attributes, got, want)
	}
	in.sameEdges(t, put.PUID, op.Ref, &found[0], seen)
	seen[string(put.Outcome)]++
	seen["merges"] += len(want.Merges)
	seen["splits"] += len(want.Splits)
	seen["skipped"] += len(found[0].Skipped)
}

// sameEdges fails the test unless the put stored the pairs that the match listed.
func (in *installation) sameEdges(t conformance.TB, p entity.PUID, ref entity.Ref, found *resolve.Probed, seen map[string]int) {
	t.Helper()
	if found.Put.Outcome == resolve.Stale {
		return
	}
	edges, err := in.EdgesOf(context.Background(), []entity.PUID{p})
	if err != nil {
		t.Fatalf("read edges: %v", err)
	}
	stored := map[entity.PUID]match.Vector{}
	for _, e := range edges {
		if stored[e.B] = e.Vector; e.Weight == match.Equal && e.B < e.A {
			return // a follower: only its leader is compared
		}
	}
	for i, near := range found.Near {
		v, there := stored[near.Record.PUID]
		if there != (near.Outcome != match.Different) || there && v != near.Vector {
			t.Fatalf("%v and %v: match %v %v, stored %v %v", ref, near.Record.Ref, near.Outcome, near.Vector, there, v)
		}
		if there {
			seen["edges"]++
		}
		if i > 0 && found.Near[i-1].Outcome == near.Outcome && found.Near[i-1].Weight < near.Weight {
			t.Fatalf("pair %d is better than the one before: %v, %v", i, near.Weight, found.Near[i-1].Weight)
		}
	}
}

// entities reads the members of all entities, the anchor first.
func (in *installation) entities(t conformance.TB) map[locality.ID][]string {
	t.Helper()
	all := map[locality.ID][]string{}
	for _, id := range in.cells.Map().Cells() {
		c, err := in.cells.Cell(id)
		if err != nil {
			t.Fatalf("%v", err)
		}
		lo, _ := in.cells.Map().PuidRange(id)
		if err := c.View(context.Background(), func(tx storage.Tx) error {
			found, err := tx.ListEntities(context.Background(), entity.PUID(lo), 1<<20)
			for _, e := range found {
				for _, m := range e.Members {
					all[e.ID] = append(all[e.ID], m.String())
				}
			}
			return err
		}); err != nil {
			t.Fatalf("cell %v: %v", id, err)
		}
	}
	return all
}

// viewed is a cell that can only be viewed, and counts its transactions.
type viewed struct {
	storage.Cell
	t     testing.TB
	views *atomic.Int64
}

func (c viewed) Update(context.Context, func(storage.Tx) error) error {
	c.t.Error("a match writes")
	return errors.New("not writable")
}

func (c viewed) Exclusive(ctx context.Context, fn func(storage.Tx) error) error {
	return c.Update(ctx, fn)
}

func (c viewed) View(ctx context.Context, fn func(storage.Tx) error) error {
	c.views.Add(1)
	return c.Cell.View(ctx, fn)
}

// Many probes in one call give the same results as one call per probe, in order, with all options, decisions, stop keys
// and identical records. They take hardly more transactions than one probe, and no call writes.
func TestMatch_ManyAreAsManyCalls(t *testing.T) {
	t.Parallel()
	var views atomic.Int64
	strict := false
	in := openInOrder(t, func(_ cell.ID, c storage.Cell) storage.Cell {
		if strict {
			return viewed{c, t, &views}
		}
		return c
	})
	ops := world(3, 60)
	half := len(ops) / 2
	in.apply(t, ops[:half])
	in.decide(t, rulings(rand.New(rand.NewPCG(3, 20)), ops[:half], 15)...)
	stored, err := in.Match(t.Context(), []resolve.Probe{{Op: resolve.Op{Attributes: ops[0].Attributes}}}, everything)
	if err != nil || len(stored[0].Near) == 0 {
		t.Fatalf("%v, %+v", err, stored)
	}
	strict = true
	conformance.Check(t, 12, func(rt *rapid.T) {
		opts := resolve.Matching{
			Top: rapid.SampledFrom([]int{1, 3, 1 << 20}).Draw(rt, "top"), Least: rapid.SampledFrom([]match.Weight{0, -30_000}).Draw(rt, "least"),
			Explain: rapid.Bool().Draw(rt, "explain"),
		}
		var probes []resolve.Probe
		for range rapid.IntRange(1, 60).Draw(rt, "probes") {
			p := resolve.Probe{Op: ops[rapid.IntRange(0, len(ops)-1).Draw(rt, "content")], Put: rapid.Bool().Draw(rt, "put")}
			switch rapid.IntRange(0, 3).Draw(rt, "key") {
			case 0:
				p.Ref = entity.Ref{}
			case 1:
				p.Ref = ops[rapid.IntRange(0, half-1).Draw(rt, "of")].Ref
			}
			if rapid.Bool().Draw(rt, "also") {
				p.Also = []entity.PUID{stored[0].Near[0].Record.PUID}
			}
			probes = append(probes, p)
		}
		views.Store(0)
		together, err := in.Match(context.Background(), probes, opts)
		if err != nil {
			rt.Fatal(err)
		}
		// A cell is read a few times: the directory, records, postings, edges and entities, some in several steps.
		if most := int64(20 * len(in.cells.Map().Cells())); views.Load() > most {
			rt.Errorf("%d probes took %d transactions, want at most %d", len(probes), views.Load(), most)
		}
		for i := range probes {
			alone, err := in.Match(context.Background(), probes[i:i+1], opts)
			if err != nil {
				rt.Fatal(err)
			}
			if got, want := described(&together[i]), described(&alone[0]); got != want {
				rt.Fatalf("probe %d %v:\ntogether %s\nalone    %s", i, probes[i].Attributes, got, want)
			}
		}
	})
}

// described is a result as text.
func described(m *resolve.Probed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d keys, skipped %v %v, put %+v, %v:", m.Keys, m.Skipped, m.OnlyStopKeys, m.Put, m.Err)
	for _, n := range m.Near {
		fmt.Fprintf(&b, " %v %v %v %v %v;", n.Entity.ID, n.Record.Ref, n.Outcome, n.Weight, len(n.Explanation.Lines))
	}
	return b.String()
}

// A cell that does not answer fails only the probes that need it.
func TestMatch_UnavailableCellFailsItsProbes(t *testing.T) {
	t.Parallel()
	var down cell.ID
	broken := false
	in := openInOrder(t, func(id cell.ID, c storage.Cell) storage.Cell {
		if broken && id == down {
			return unavailable{c}
		}
		return c
	})
	ops := world(5, 40)
	in.apply(t, ops)
	probes := make([]resolve.Probe, len(ops))
	for i := range ops {
		probes[i].Op = resolve.Op{Attributes: ops[i].Attributes}
	}
	const few = 20 // need two cells at most
	for i := range few {
		probes = append(probes, resolve.Probe{Op: resolve.Op{Attributes: entity.Attributes{"phones": {fmt.Sprintf("212-555-%04d", i)}}}})
	}
	all, err := in.Match(t.Context(), probes, everything)
	if err != nil {
		t.Fatal(err)
	}
	down, broken = in.cells.Map().Cells()[1], true
	some, err := in.Match(t.Context(), probes, everything)
	if err != nil {
		t.Fatal(err)
	}
	failed, late := 0, 0
	for i := range some {
		switch {
		case errors.Is(some[i].Err, cell.ErrUnavailable):
			if failed++; i >= len(ops) {
				late++
			}
		case described(&some[i]) != described(&all[i]):
			t.Errorf("probe %d: %s, with all cells %s", i, described(&some[i]), described(&all[i]))
		}
	}
	if failed == 0 || late == few {
		t.Errorf("%d of %d probes failed, %d of those that need few cells", failed, len(some), late)
	}
}

type unavailable struct{ storage.Cell }

func (unavailable) View(context.Context, func(storage.Tx) error) error { return cell.ErrUnavailable }
