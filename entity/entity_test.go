// SPDX-License-Identifier: Apache-2.0

package entity_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
)

var drawMembers = rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) entity.Member {
	return entity.Member{
		PUID: entity.PUID(rapid.Int64().Draw(t, "puid")), Version: rapid.Int64Range(1, 9).Draw(t, "version"),
		Ref: entity.Ref{Source: rapid.StringMatching(`[a-z]{1,5}`).Draw(t, "source"), Key: rapid.String().Draw(t, "key")},
	}
}), 1, 6, func(m entity.Member) entity.PUID { return m.PUID })

func TestStamp_DoesNotDependOnOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		members, rules := drawMembers.Draw(t, "members"), rapid.Uint64().Draw(t, "rules")
		shuffled := rapid.Permutation(members).Draw(t, "shuffled")
		before := append([]entity.Member(nil), shuffled...)
		if a, b := entity.Stamp(members, rules), entity.Stamp(shuffled, rules); a != b {
			t.Fatalf("stamps %x and %x", a, b)
		}
		if diff := cmp.Diff(before, shuffled); diff != "" {
			t.Fatalf("Stamp changed its argument:\n%s", diff)
		}
	})
}

func TestStamp_DependsOnAllElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		members, rules := drawMembers.Draw(t, "members"), rapid.Uint64().Draw(t, "rules")
		stamp := entity.Stamp(members, rules)
		i := rapid.IntRange(0, len(members)-1).Draw(t, "i")
		for what, other := range map[string]func([]entity.Member) uint64{
			"a version": func(m []entity.Member) uint64 { m[i].Version++; return entity.Stamp(m, rules) },
			"a puid":    func(m []entity.Member) uint64 { m[i].PUID ^= 1 << 40; return entity.Stamp(m, rules) },
			"a member":  func(m []entity.Member) uint64 { return entity.Stamp(append(m[:i], m[i+1:]...), rules) },
			"the rules": func(m []entity.Member) uint64 { return entity.Stamp(m, rules+1) },
		} {
			if other(append([]entity.Member(nil), members...)) == stamp {
				t.Fatalf("another stamp was expected with %s changed", what)
			}
		}
	})
}

// Stamps are stored: these values must never change.
func TestStamp_Frozen(t *testing.T) {
	t.Parallel()
	members := []entity.Member{{PUID: 7, Version: 1}, {PUID: -9, Version: 2}}
	if got, want := entity.Stamp(members, 5), uint64(0xfea81dc68ecc3bf3); got != want {
		t.Errorf("stamp is %#x, want %#x", got, want)
	}
}

func TestEntity_JSON(t *testing.T) {
	t.Parallel()
	want := entity.Entity{
		ID:      locality.MustParse("20be0ffc-314a-bd53-7a50-013a65ca76d2"),
		Kind:    "place",
		Members: []entity.Member{{PUID: -7, Ref: entity.Ref{Source: "osm", Key: "node/1"}, Version: 2}},
		View:    entity.View{{Name: "name", Values: []entity.MergedValue{{Value: "Joe's", Members: []int{0}}}}},
		Stamp:   1<<64 - 1,
	}
	if want.Anchor() != -7 {
		t.Errorf("the anchor is %s", want.Anchor())
	}
	const golden = `{"id":"20be0ffc-314a-bd53-7a50-013a65ca76d2","kind":"place","members":[{"puid":"-7","source":"osm","key":"node/1","version":2}],` +
		`"view":[{"name":"name","values":[{"value":"Joe's","members":[0]}]}],"rank":{"sources":0,"known":0},"stamp":"18446744073709551615"}`
	text, err := json.Marshal(want)
	if err != nil || string(text) != golden {
		t.Fatalf("JSON is\n%s, %v\nwant\n%s", text, err, golden)
	}
	var got entity.Entity
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entity (-want +got):\n%s", diff)
	}
}
