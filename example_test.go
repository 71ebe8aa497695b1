// SPDX-License-Identifier: Apache-2.0

package locus_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// Two sources describe one shop. The program opens a directory, puts both records, and reads the entity and its
// explanation.
func Example() {
	dir, err := os.MkdirTemp("", "places")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := locus.Open(ctx, dir, nil)
	if err != nil {
		panic(err)
	}
	defer db.Close()

	results, err := db.Records().Put(ctx, []records.Input{
		{Ref: entity.Ref{Source: "chamber", Key: "88231"},
			Attributes: entity.Attributes{"name": {"Joes Pizza"}, "phones": {"415-555-2300"}}},
		{Ref: entity.Ref{Source: "crawler", Key: "joes"},
			Attributes: entity.Attributes{"name": {"Joe's Pizza Inc."}, "phones": {"(415) 555-2300"}}},
	})
	if err != nil {
		panic(err)
	}
	for _, r := range results {
		if r.Err != nil {
			panic(r.Err)
		}
	}
	e, err := db.Entities().Get(ctx, results[1].Entity)
	if err != nil {
		panic(err)
	}
	why, err := db.Explain().Why(ctx, e.ID)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d records, %d comparison above %v bits\n", len(e.Members), len(why.Joins), why.Threshold)
	// Output: 2 records, 1 comparison above +5.00 bits
}

// Animals, each with tags and a location: for every tag, how many animals are where.
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
	opts.Storage.Cells = 2
	db, err := locus.Open(ctx, dir, opts)
	if err != nil {
		panic(err)
	}
	defer db.Close()

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
	if _, _, err := db.Rollups().Define(ctx, *pets); err != nil {
		panic(err)
	}
	animal := func(name, location, grams string, tags ...string) records.Input {
		return records.Input{Ref: entity.Ref{Source: "zoo", Key: name}, Attributes: entity.Attributes{
			"name": {name}, "location": {location}, "weight_g": {grams}, "tags": tags,
		}}
	}
	put := func(animals ...records.Input) changelog.Watermark {
		results, err := db.Records().Put(ctx, animals)
		if err != nil {
			panic(err)
		}
		return results[0].Watermark
	}
	say := func(tag string, at changelog.Watermark) {
		answer, err := db.Rollups().Query(ctx, "pets_by_tag", rollups.Query{
			Group: []string{tag}, Read: rollups.Read{Min: at, Latest: at == nil},
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

// An installation with one cell becomes one with four. Every entity keeps its id.
func ExampleRestore() {
	dir, err := os.MkdirTemp("", "places")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	opts := &locus.Options{}
	opts.Storage.Cells = 1
	db, err := locus.Open(ctx, filepath.Join(dir, "old"), opts)
	if err != nil {
		panic(err)
	}
	defer db.Close()
	put, err := db.Records().Put(ctx, []records.Input{{Ref: entity.Ref{Source: "chamber", Key: "88231"}, Attributes: entity.Attributes{"name": {"Joes Pizza"}}}})
	if err != nil {
		panic(err)
	}

	var file bytes.Buffer
	dump, err := db.Dump(ctx)
	if err != nil {
		panic(err)
	}
	defer dump.Close()
	if _, err := dump.WriteTo(&file); err != nil {
		panic(err)
	}
	opts.Storage.Cells = 4
	restored, err := locus.Restore(ctx, filepath.Join(dir, "new"), &file, opts)
	if err != nil {
		panic(err)
	}
	fmt.Println(restored.Records, "record, entities differ:", restored.Differs())

	copied, err := locus.Open(ctx, filepath.Join(dir, "new"), nil)
	if err != nil {
		panic(err)
	}
	defer copied.Close()
	e, err := copied.Entities().Get(ctx, put[0].Entity)
	if err != nil {
		panic(err)
	}
	fmt.Println(e.ID == put[0].Entity, len(copied.Cells().Map().Cells()), "cells")
	// Output:
	// 1 record, entities differ: false
	// true 4 cells
}
