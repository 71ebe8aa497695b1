// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

func golden(t *testing.T, name string, got any) {
	t.Helper()
	text, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	path := filepath.Join("testdata", "source000", name)
	if *rewrite {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, text, want)
	}
}

// pizza are the two documents of the article.
var pizza = []resolve.Op{
	{Ref: entity.Ref{Source: "1", Key: "joes-pizza"}, Observed: time.UnixMilli(1371513600000), Attributes: entity.Attributes{
		"name": {"Joes Pizza"}, "address": {"1000 Market Street"}, "phones": {"415-555-2300"},
	}},
	{Ref: entity.Ref{Source: "2", Key: "joes"}, Observed: time.UnixMilli(1371513600000), Attributes: entity.Attributes{
		"name": {"Joe's"}, "address": {"1000 Market St."}, "phones": {"(415) 555-2300"},
	}},
}

func (in *installation) all(t *testing.T) (all []*entity.Entity) {
	t.Helper()
	in.each(t, func(tx storage.Tx, lo entity.PUID) error {
		found, err := tx.ListEntities(t.Context(), lo, 100)
		all = append(all, found...)
		return err
	})
	return all
}

// goldenEntity compares the only entity. Puids depend on the order of arrival within a cell, and the stamp
// includes them; everything else is the same in any order.
func (in *installation) goldenEntity(t *testing.T, name string) {
	t.Helper()
	all := in.all(t)
	if len(all) != 1 {
		t.Fatalf("%d entities, want 1", len(all))
	}
	e := *all[0]
	e.Stamp = 0
	for i := range e.Members {
		e.Members[i].PUID = 0
	}
	golden(t, name, e)
}

// "Match these documents together and present a consistent view": whichever comes first.
func TestSource000_ThePizzaPairIsOneEntity(t *testing.T) {
	t.Parallel()
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		in := open(t, t.TempDir(), nil)
		for _, i := range order {
			in.apply(t, pizza[i:i+1])
		}
		in.check(t)
		in.goldenEntity(t, "pizza.json")
	}
	a := matcher.Normalise(pizza[0].Source, pizza[0].Key, match.Attributes(pizza[0].Attributes))
	b := matcher.Normalise(pizza[1].Source, pizza[1].Key, match.Attributes(pizza[1].Attributes))
	golden(t, "pizza-why.json", matcher.Explain(a, b, matcher.Compare(a, b)))
}

// "'00000', 'null', 'NA', or 'N/A'": a null value is no blocking key.
func TestSource000_ANullPostcodeIsNoEvidence(t *testing.T) {
	t.Parallel()
	in := open(t, t.TempDir(), nil)
	var ops []resolve.Op
	for i := range 500 {
		ops = append(ops, resolve.Op{Ref: entity.Ref{Source: "crawl", Key: fmt.Sprint(i)}, Attributes: entity.Attributes{
			"name":     {fmt.Sprintf("%c%cxan%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i/676, 'q'-i%7)},
			"postcode": {[]string{"00000", "null", "NA", "N/A"}[i%4]}, "phones": {[]string{"0000000000", "n/a"}[i%2]},
		}})
	}
	in.apply(t, ops)
	got := in.check(t)
	if len(got) < len(ops)*95/100 {
		t.Errorf("%d records that share nothing but a null are %d entities", len(ops), len(got))
	}
	for _, op := range ops[:4] {
		r := matcher.Normalise(op.Source, op.Key, match.Attributes(op.Attributes))
		for _, f := range r.BlockingKeys() {
			if _, text, _ := r.BlockingKey(f.Hash); !slices.Contains([]match.KeyKind{match.KeyToken, match.KeyTokens, match.KeyBeginning, match.KeyEqual}, f.Kind) {
				t.Errorf("postcode %q gives the blocking key %v %q", op.Attributes["postcode"], f.Kind, text)
			}
		}
	}
}

// Ten thousand records whose postal codes are spellings of null share no candidates through them: no two
// have a blocking key in common, although their other blocking keys are complete.
func TestSource000_FourSpellingsOfNothingAreNoCandidates(t *testing.T) {
	t.Parallel()
	const letters = "abcdfghijklmnopqrstuvwxyz" // muller and mueller have a key in common
	seen := map[uint64]int{}
	for i := range 10_000 {
		r := matcher.Normalise("crawl", fmt.Sprint(i), match.Attributes{
			"name":     {fmt.Sprintf("q%c%c%c", letters[i%25], letters[i/25%25], letters[i/625])},
			"phones":   {fmt.Sprintf("415-555-%04d", i)},
			"postcode": {[]string{"00000", "null", "NA", "N/A"}[i%4]},
		})
		if len(r.BlockingKeys()) == 0 {
			t.Fatalf("record %d has no blocking key at all", i)
		}
		for _, f := range r.BlockingKeys() {
			if other, there := seen[f.Hash]; there {
				_, text, _ := r.BlockingKey(f.Hash)
				t.Fatalf("records %d and %d meet through %v %q", other, i, f.Kind, text)
			}
			seen[f.Hash] = i
		}
	}
}

// "All of this data may be dirty": every value is stored as received, and null values are not shown.
func TestSource000_DirtIsNeverRefused(t *testing.T) {
	t.Parallel()
	in := open(t, t.TempDir(), nil)
	dirt := entity.Attributes{
		"name": {"Zephyr\u00a0 Trampolines!!", "N/A"}, "phones": {"call us", "000", "415-555-2300 ext. ask for Bob"}, "address": {"???"}, "city": {"null"},
		"postcode": {"NA"}, "latitude": {"91.5"}, "longitude": {"west"}, "websites": {"http://", "zephyr.example"}, "emails": {"@"}, "category": {" > > "}, "hours": {"-"},
	}
	in.apply(t, []resolve.Op{{Ref: entity.Ref{Source: "crawl", Key: "1"}, Observed: time.UnixMilli(1371513600000), Attributes: dirt}})
	in.check(t)
	in.each(t, func(tx storage.Tx, lo entity.PUID) error {
		records, err := tx.ListRecords(t.Context(), "", lo, 10)
		for _, r := range records {
			if !reflect.DeepEqual(r.Attributes, dirt) {
				t.Errorf("the record has %q, was sent %q", r.Attributes, dirt)
			}
		}
		return err
	})
	in.goldenEntity(t, "dirt.json")
}

// "Many businesses have multiple phone numbers": the best pair counts, and the view shows all.
func TestSource000_PhonesAreAList(t *testing.T) {
	t.Parallel()
	in := open(t, t.TempDir(), nil)
	ops := []resolve.Op{
		{Ref: entity.Ref{Source: "a", Key: "1"}, Observed: time.UnixMilli(1371513600000), Attributes: entity.Attributes{
			"name": {"Zephyr Trampolines"}, "phones": {"415-555-2300", "415-555-2301"}, "address": {"12 Oak Ave"},
		}},
		{Ref: entity.Ref{Source: "b", Key: "1"}, Observed: time.UnixMilli(1371513600000), Attributes: entity.Attributes{
			"name": {"Zephyr Trampolines"}, "phones": {"+1 415 555 9999", "(415) 555-2301"}, "address": {"12 Oak Avenue"},
		}},
	}
	in.apply(t, ops)
	in.check(t)
	in.goldenEntity(t, "phones.json")
}

// The latitude of one record combined with the longitude of another would be a wrong place.
func TestResolver_CoordinatesStayTogether(t *testing.T) {
	t.Parallel()
	in := open(t, t.TempDir(), nil)
	var ops []resolve.Op
	points := map[string]string{}
	for i := range 8 {
		lat, lon := fmt.Sprintf("37.77%d1", i), fmt.Sprintf("-122.41%d2", 9-i)
		points[lat] = lon
		ops = append(ops, resolve.Op{
			Ref: entity.Ref{Source: "s" + fmt.Sprint(i), Key: "1"}, Observed: time.UnixMilli(1371513600000),
			Attributes: entity.Attributes{
				"name": {"Zephyr Trampolines"}, "phones": {"415-555-2300"}, "address": {"12 Oak Ave"}, "latitude": {lat}, "longitude": {lon},
			},
		})
	}
	for i := range ops {
		in.apply(t, ops[i:i+1])
		for _, e := range in.all(t) {
			if lat, lon := e.View.First("latitude"), e.View.First("longitude"); points[lat] != lon {
				t.Fatalf("the view of %d records is at %s, %s", len(e.Members), lat, lon)
			}
		}
	}
}
