// SPDX-License-Identifier: Apache-2.0

package locus_test

import (
	"context"
	"fmt"
	"os"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/backend/all"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/rollup"
)

// The animals of the source text: each has tags and a location, and for every tag one wants to know how many
// animals are where.
func Example_animals() {
	dir, err := os.MkdirTemp("", "animals")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	opts := &locus.Options{Kinds: []*match.Schema{{Kind: "animal", Version: 1, Attributes: []match.Attribute{
		{Name: "name", Type: match.TypeName, Required: true},
		{Name: "location", Type: match.TypeText, Dimension: true},
		{Name: "tags", Type: match.TypeText, Many: true, Tag: true},
		{Name: "weight_g", Type: match.TypeText},
	}}}}
	cells, err := all.Open(ctx, dir, &all.Options{Cells: 2, Rules: locus.Rules})
	if err != nil {
		panic(err)
	}
	service, err := locus.Open(ctx, cells, opts)
	if err != nil {
		panic(err)
	}
	defer service.Close()

	pets, err := rollup.Parse([]byte(`
rollup: pets_by_tag
kind: animal
group: tags
dimension: location
measures: { pets: count, heaviest: { max: weight_g } }
`))
	if err != nil {
		panic(err)
	}
	if _, _, err := service.DefineRollup(ctx, *pets); err != nil {
		panic(err)
	}
	animal := func(name, location, grams string, tags ...string) locus.Put {
		return locus.Put{Ref: entity.Ref{Source: "zoo", Key: name}, Attributes: entity.Attributes{
			"name": {name}, "location": {location}, "weight_g": {grams}, "tags": tags,
		}}
	}
	put := func(animals ...locus.Put) locus.Watermark {
		results, err := service.Put(ctx, animals)
		if err != nil {
			panic(err)
		}
		return results[0].Watermark
	}
	say := func(tag string, at locus.Watermark) {
		answer, err := service.RollupGroups(ctx, "pets_by_tag", locus.RollupQuery{
			Group: []string{tag}, RollupRead: locus.RollupRead{Min: at, Latest: at == nil},
		})
		if err != nil {
			panic(err)
		}
		for _, slot := range answer.Groups[0].By {
			pets, _ := slot.Values.Get("pets")
			heaviest, _ := slot.Values.Get("heaviest")
			fmt.Println(tag, slot.Value, pets, heaviest)
		}
	}

	put(
		animal("Cat", "house", "4200", "mammal", "ears"),
		animal("Dog", "house", "21000", "mammal", "ears"),
		animal("Bat", "backyard", "20", "mammal", "ears", "wings"),
		animal("Duck", "frontyard", "1100", "wings", "beak"),
	)
	say("mammal", nil)
	say("mammal", put(animal("Dog", "frontyard", "21000", "mammal", "ears")))
	// Output:
	// mammal backyard 1 20
	// mammal house 2 21000
	// mammal backyard 1 20
	// mammal frontyard 1 21000
	// mammal house 1 4200
}
