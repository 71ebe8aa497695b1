// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"maps"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/records"
)

// inHouse is a record of one of several things in a house that share a telephone number.
func inHouse(key, name, category string) records.Input {
	p := inTown("s", key, name, "415-555-2300", "12 Elm St")
	p.Attributes["category"] = []string{category}
	return p
}

// A bank, its ATM, its parking and a club in one house are four entities with relations. Only decisions change them.
func TestService_Relations(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, s, other *locus.DB) {
		put(t, s, inHouse("bank", "Valley Bank", "banks"), inHouse("club", "Zephyr Trampolines", "sport"),
			record("s", "lone", "Lone Gull Ferries", "", ""))
		put(t, s, inHouse("atm", "Valley Bank ATM", "atms"), inHouse("cars", "Valley Bank Parking", "parking"))
		relations := func(key string) map[string]string {
			t.Helper()
			rec, err := other.Records().Get(t.Context(), entity.Ref{Source: "s", Key: key})
			if err != nil {
				t.Fatal(err)
			}
			list, err := other.Entities().Relations(t.Context(), rec.Entity)
			if err != nil {
				t.Fatal(err)
			}
			of := map[string]string{}
			for i, r := range list {
				of[r.Name] = r.Relation
				if r.Via[0].Key != key || i > 0 && r.Weight > list[i-1].Weight {
					t.Errorf("%s: %+v", key, list)
				}
			}
			return of
		}
		want := func(key string, want map[string]string) {
			t.Helper()
			if got := relations(key); !maps.Equal(got, want) {
				t.Errorf("%s: %v, want %v", key, got, want)
			}
		}
		const bank, atm, cars, club = "Valley Bank", "Valley Bank ATM", "Valley Bank Parking", "Zephyr Trampolines"
		want("bank", map[string]string{atm: "has_part", cars: "has_part", club: "co_located"})
		want("atm", map[string]string{bank: "part_of", cars: "co_located", club: "co_located"})
		want("cars", map[string]string{bank: "part_of", atm: "co_located", club: "co_located"})
		want("lone", nil)

		merged, err := s.Decisions().Merge(t.Context(), "s:bank", "s:atm", by)
		if err != nil || merged.EntityA != merged.EntityB {
			t.Fatalf("%+v, %v", merged, err)
		}
		want("cars", map[string]string{find(t, other, merged.EntityA).View.First("name"): "part_of", club: "co_located"})
		decide(t, s, decisions.Input{Verdict: entity.VerdictSame, A: "s:bank", B: "s:atm", Withdraw: true})
		want("cars", map[string]string{bank: "part_of", atm: "co_located", club: "co_located"})

		if _, err := s.Records().Erase(t.Context(), []entity.Ref{{Source: "s", Key: "bank"}}); err != nil {
			t.Fatal(err)
		}
		want("atm", map[string]string{cars: "co_located", club: "co_located"})
	})
}
