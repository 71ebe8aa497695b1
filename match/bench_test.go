// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/locus-db/locus/match"
)

// dataSets returns the folder of the labelled sets; without it the test or benchmark is skipped.
func dataSets(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("LOCUS_DATA_SETS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	if _, err := os.Stat(dir); err != nil {
		tb.Skipf("no labelled sets in %s: set LOCUS_DATA_SETS", dir)
	}
	return dir
}

// realPlaces returns a few thousand real places.
func realPlaces(tb testing.TB) []match.Attributes {
	tb.Helper()
	f, err := os.Open(filepath.Join(dataSets(tb), "overture_pairs", "pairs.jsonl"))
	if err != nil {
		tb.Skip(err)
	}
	defer f.Close()
	type side struct {
		Name, Address, City, Region, Postcode, Country string
		Phones, Websites, Category                     []string
	}
	var places []match.Attributes
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var pair struct{ A, B side }
		if err := json.Unmarshal(lines.Bytes(), &pair); err != nil {
			tb.Fatal(err)
		}
		for _, s := range []side{pair.A, pair.B} {
			places = append(places, match.Attributes{
				"name": {s.Name}, "address": {s.Address}, "city": {s.City}, "region": {s.Region},
				"postcode": {s.Postcode}, "country": {s.Country}, "phones": s.Phones, "websites": s.Websites, "category": s.Category,
			})
		}
	}
	return places
}

func BenchmarkNormalise(b *testing.B) {
	places := realPlaces(b)
	m := match.New(match.Place(), nil)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m.Normalise("s", "k", places[i%len(places)])
	}
}

// BenchmarkCompare compares the labelled pairs, half of which match, and random pairs, because most pairs that a
// resolver compares are rejected.
func BenchmarkCompare(b *testing.B) {
	places := realPlaces(b)
	m := match.New(match.Place(), nil)
	var records []*match.Record
	for i, p := range places {
		records = append(records, m.Normalise("s", string(rune(i)), p))
	}
	b.Run("labelled", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			n := i * 2 % len(records)
			m.Sum(m.Compare(records[n], records[n+1]))
		}
	})
	b.Run("random", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			m.Sum(m.Compare(records[i%len(records)], records[(i*7919+13)%len(records)]))
		}
	})
}

// BenchmarkProducts normalises and compares products with long descriptions.
func BenchmarkProducts(b *testing.B) {
	f, err := os.Open(filepath.Join(dataSets(b), "abt_buy", "abt.csv"))
	if err != nil {
		b.Skip(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		b.Fatal(err)
	}
	var products []match.Attributes
	for _, row := range rows[1:] {
		products = append(products, match.Attributes{"title": {row[1]}, "description": {row[2]}, "price": {row[3]}})
	}
	m := match.New(match.Product(), nil)
	var records []*match.Record
	for _, p := range products {
		records = append(records, m.Normalise("s", "k", p))
	}
	b.Run("normalise", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			m.Normalise("s", "k", products[i%len(products)])
		}
	})
	b.Run("compare", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			m.Sum(m.Compare(records[i%len(records)], records[(i*7919+13)%len(records)]))
		}
	})
}
