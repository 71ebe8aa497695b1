// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
)

// switchboard returns n records at one address, with different names and the same telephone number.
func switchboard(n int) (puts []records.Input) {
	words := []string{
		"Amber", "Basalt", "Copper", "Dahlia", "Ember", "Falcon", "Garnet", "Heron", "Indigo", "Juniper", "Kestrel",
		"Lantern", "Marble", "Nimbus",
		"Opal", "Pepper", "Quartz", "Raven", "Saffron", "Tundra", "Umber", "Velvet", "Willow", "Yarrow", "Zephyr", "Cobalt",
	}
	for i, word := range words[:n] {
		puts = append(puts, record("crawl", fmt.Sprint("tenant-", i), word, "(312) 555-0100",
			fmt.Sprintf("%d Lake Street", 100+i)))
	}
	return puts
}

// Two shops in an office block share only its telephone number and location. Alone they are one entity; together with
// the other tenants they are two, in any order of arrival, and one again when the others are deleted.
func TestP09_ANumberOfManyNamesJoinsNoTwo(t *testing.T) {
	t.Parallel()
	coffee := record("crm", "coffee", "11th Street Coffee", "312-555-0100", "20 Lake Street")
	salon := record("web", "salon", "Rose Street Salon", "312-555-0100", "20 Lake Street")
	others := switchboard(24)
	var refs []entity.Ref
	for _, p := range others {
		refs = append(refs, p.Ref)
	}
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := fresh(t)
			of := func() (a, b *records.Record) {
				a, err := s.Records().Get(t.Context(), coffee.Ref)
				if err != nil {
					t.Fatal(err)
				}
				if b, err = s.Records().Get(t.Context(), salon.Ref); err != nil {
					t.Fatal(err)
				}
				return a, b
			}
			puts := append([]records.Input{coffee, salon}, others...)
			r := rand.New(rand.NewPCG(seed, 38))
			if seed > 0 {
				r.Shuffle(len(puts), func(i, j int) { puts[i], puts[j] = puts[j], puts[i] })
			}
			for len(puts) > 0 {
				n := min(1+r.IntN(6), len(puts))
				if seed == 0 {
					n = min(2, len(puts))
				}
				put(t, s, puts[:n]...)
				puts = puts[n:]
				if seed == 0 && len(puts) == len(others) {
					if a, b := of(); a.Entity != b.Entity {
						t.Fatal("the two are no entity by themselves: the test does not reach what it is for")
					}
				}
			}
			a, b := of()
			if a.Entity == b.Entity {
				t.Fatalf("two of %d names that share a number are one entity", 2+len(others))
			}
			why, err := s.Explain().WhyNot(t.Context(), coffee.Ref.String(), salon.Ref.String())
			if err != nil {
				t.Fatal(err)
			}
			if got := phoneLine(why.Explanation); got != "equal, of many names" {
				t.Errorf("why-not says of the number that it is %q", got)
			}
			remove(t, s, refs...)
			if a, b = of(); a.Entity != b.Entity {
				t.Error("the others are gone, and the two are no entity")
			}
			joins, err := s.Explain().Why(t.Context(), a.Entity)
			if err != nil || len(joins.Joins) != 1 || phoneLine(joins.Joins[0].Explanation) != "equal" {
				t.Errorf("why says %+v, %v", joins, err)
			}
		})
	}
}

func phoneLine(e match.Explanation) string {
	for _, line := range e.Lines {
		if line.Attribute == "phone" {
			return line.Level
		}
	}
	return ""
}
