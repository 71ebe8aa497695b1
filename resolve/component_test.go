// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// row returns records of which each shares a phone number with the next one and nothing with the others. The first two
// match weakly, the others strongly.
func row(t *testing.T, n int) []resolve.Op {
	ops := make([]resolve.Op, n)
	for i := range ops {
		name := fmt.Sprintf("Quill%c%c Zephyr%c%c Noodles", 'a'+i/2%20, 'b'+i/40, 'c'+i/2%20, 'd'+i/40)
		if i == 1 {
			name = "Quillab Marzipan Noodles"
		}
		ops[i] = resolve.Op{
			Ref: entity.Ref{Source: "row", Key: fmt.Sprintf("%03d", i)}, Observed: time.UnixMilli(1700000000000),
			Attributes: entity.Attributes{"name": {name}, "phones": {
				fmt.Sprintf("415-%03d-%04d", 200+i%700, 1000+7*i), fmt.Sprintf("415-%03d-%04d", 200+(i+1)%700, 1000+7*(i+1)),
			}},
		}
	}
	wantLittle(t, ops[0], ops[1])
	return ops
}

// wantLittle fails the test unless the first cut removes the edge between two records.
func wantLittle(t *testing.T, a, b resolve.Op) {
	t.Helper()
	norm := func(op resolve.Op) *match.Record {
		return matcher.Normalise(op.Source, op.Key, match.Attributes(op.Attributes))
	}
	little := matcher.Sum(matcher.Compare(norm(a), norm(b)))
	if little < match.Threshold || little >= match.Threshold+match.CutStep {
		t.Fatalf("%s and %s have %v bits: an edge that the first cut removes was meant", a.Ref, b.Ref, little)
	}
}

func TestResolver_AComponentOverTheLimitIsCut(t *testing.T) {
	t.Parallel()
	ops := row(t, match.MaxComponent+1)
	in := open(t, t.TempDir(), nil)
	in.apply(t, ops[:match.MaxComponent])
	small := in.check(t)
	in.apply(t, ops[match.MaxComponent:])
	large := in.check(t)
	if differ(small, large) == "" {
		t.Error("one record more did not cut the component")
	}
	in.apply(t, []resolve.Op{{Ref: ops[match.MaxComponent].Ref, Delete: true}})
	if d := differ(in.check(t), small); d != "" {
		t.Errorf("one record less did not join it again:\n%s", d)
	}
}

// Both ends of a row over the limit are cut off. Without one end the row is within the limit, so the other
// end belongs to it, although no edge ever connected the two ends.
func TestResolver_OneRecordLessJoinsWhatWasCut(t *testing.T) {
	t.Parallel()
	ops := row(t, match.MaxComponent+1)
	first, last := ops[0], ops[match.MaxComponent]
	last.Attributes["name"] = []string{"Quillab Marzipan Noodles"}
	wantLittle(t, ops[match.MaxComponent-1], last)
	in := open(t, t.TempDir(), nil)
	in.apply(t, ops)
	alone := func() bool {
		return slices.Contains(slices.Collect(maps.Values(in.check(t))), last.Ref.String())
	}
	if !alone() {
		t.Fatal("the last record is not cut off")
	}
	in.apply(t, []resolve.Op{{Ref: first.Ref, Delete: true}})
	if alone() {
		t.Error("the last record is still cut off")
	}
}

// A decision joins two components into one that exceeds the limit and is cut; withdrawing it restores both.
func TestResolver_ADecisionTakesAComponentOverTheLimit(t *testing.T) {
	t.Parallel()
	ops := row(t, match.MaxComponent+21)
	ops = slices.Delete(ops, 60, 61) // two rows of 60
	in := open(t, t.TempDir(), nil)
	in.apply(t, ops)
	apart := in.check(t)
	joined := ruling{verdict: entity.VerdictSame, a: ops[0].Ref, b: ops[100].Ref}
	in.decide(t, joined)
	if differ(in.check(t), apart) == "" {
		t.Error("the decision changed nothing")
	}
	joined.withdrawn = true
	in.decide(t, joined)
	if d := differ(in.check(t), apart); d != "" {
		t.Errorf("taken back, other entities:\n%s", d)
	}
}
