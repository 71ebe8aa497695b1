// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/match"
)

func TestNormalise_KeysAreDistinctOrderedAndRepeatable(t *testing.T) {
	t.Parallel()
	m := matcher()
	rapid.Check(t, func(t *rapid.T) {
		a := attributes(t, "a")
		r := m.Normalise("s", "k", a)
		keys := r.BlockingKeys()
		for i := 1; i < len(keys); i++ {
			if keys[i-1].Hash >= keys[i].Hash {
				t.Fatalf("blocking keys %d and %d are not in order: %+v", i-1, i, keys)
			}
		}
		for _, f := range keys {
			kind, text, ok := r.BlockingKey(f.Hash)
			if !ok || kind != f.Kind || text == "" {
				t.Fatalf("blocking key %016x of kind %s is explained as %s %q, %v", f.Hash, f.Kind, kind, text, ok)
			}
		}
		if diff := gocmp.Diff(keys, m.Normalise("other", "k2", a).BlockingKeys()); diff != "" && len(a["vendor_id"]) == 0 {
			t.Fatalf("source and key are blocking keys: %s", diff)
		}
	})
}

func TestNormalise_OnlyWhatTheMatcherReadsIsAKey(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	a := match.Attributes{"name": {"Zanzibar"}}
	meets := func() []match.BlockingKey {
		return slices.DeleteFunc(slices.Clone(m.Normalise("s", "k", a).BlockingKeys()), func(f match.BlockingKey) bool { return f.Kind == match.KeyEqual })
	}
	want := meets()
	a["hours"], a["description"], a["country"], a["region"], a["class"] = []string{"24/7"}, []string{"rare words here"}, []string{"US"}, []string{"CA"}, []string{"7"}
	if diff := gocmp.Diff(want, meets()); diff != "" {
		t.Error(diff)
	}
}

func TestKeys_FewEvenForARecordThatListsMany(t *testing.T) {
	t.Parallel()
	many := func(format string) (list []string) {
		for c := 'a'; c < 'a'+32; c++ {
			list = append(list, strings.ReplaceAll(format, "?", string(c)))
		}
		return list
	}
	a := match.Attributes{
		"name": {strings.Repeat("zanzibar quetzal ", 100)}, "address": {"1000 Market St"}, "postcode": {"94103"}, "city": {"Oakland"},
		"websites": many("https://site?.example/"), "emails": many("?@site.example"), "latitude": {"1"}, "longitude": {"1"}, "vendor_id": {"A"},
	}
	for i := range 32 {
		a["phones"] = append(a["phones"], "415-555-23"+string(rune('0'+i/10))+string(rune('0'+i%10)))
	}
	if n := len(match.New(match.Place(), nil).Normalise("s", "k", a).BlockingKeys()); n > 20 {
		t.Errorf("%d blocking keys, at most 20 are wanted", n)
	}
}

func TestNormalise_NearPointsShareAnArea(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	areas := func(lat, lng float64) (list []uint64) {
		r := m.Normalise("s", "k", match.Attributes{"name": {"Zanzibar"}, "latitude": {decimal(lat)}, "longitude": {decimal(lng)}})
		for _, f := range r.BlockingKeys() {
			if f.Kind == match.KeyTokenCell {
				list = append(list, f.Hash)
			}
		}
		return list
	}
	share := func(a, b []uint64) bool {
		return slices.ContainsFunc(a, func(h uint64) bool { return slices.Contains(b, h) })
	}
	random := rand.New(rand.NewPCG(1, 2))
	const draws, metre = 2000, 1 / 111195.0 // degrees of latitude
	near := 0
	for range draws {
		lat, lng := random.Float64()*120-60, random.Float64()*358-179
		here := areas(lat, lng)
		if share(here, areas(lat+100*metre, lng+100*metre)) {
			near++
		}
		if share(here, areas(lat+5000*metre, lng)) {
			t.Fatalf("%v, %v and a place 5 km to the north share an area", lat, lng)
		}
	}
	if near < draws*95/100 {
		t.Errorf("%d of %d places share an area with one 140 m away", near, draws)
	}
}

func TestRecord_ValueIsTheNormalForm(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	r := m.Normalise("s", "k", match.Attributes{"phones": {"415-555-2300", "null"}, "name": {"Joe's"}})
	for _, c := range []struct {
		attribute string
		i         int
		want      string
	}{{"phones", 0, "+14155552300"}, {"phones", 1, ""}, {"phones", 2, ""}, {"phones", -1, ""}, {"name", 0, "joes"}, {"colour", 0, ""}} {
		if got := r.Value(c.attribute, c.i); got != c.want {
			t.Errorf("value %d of %s is %q, want %q", c.i, c.attribute, got, c.want)
		}
	}
}

// TestNormaliseValue_OfANormalForm checks that a normal form is its own normal form, so that normalising
// before sending changes nothing.
func TestNormaliseValue_OfANormalForm(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SampledFrom(match.Place().Attributes).Draw(t, "attribute")
		raw := rapid.OneOf(rapid.String(), rapid.SampledFrom(append(values[a.Name], ""))).Draw(t, "raw")
		once := m.NormaliseValue(a.Name, raw)
		if twice := m.NormaliseValue(a.Name, once); twice != once {
			t.Fatalf("%s %q becomes %q, and that %q", a.Name, raw, once, twice)
		}
	})
}

func TestNameTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{}},
		{"The Joe's Pizza, Inc.", []string{"joes", "pizza"}},
		{"The The", []string{"the", "the"}},
		{"Café Müller", []string{"cafe", "muller"}},
		{"東京タワー", []string{"东京タワー"}}, // old and new forms of a character are one,
		{strings.Repeat("a1 ", 40), slices.Repeat([]string{"a1"}, 16)},
	} {
		if diff := gocmp.Diff(c.want, match.NameTokens(c.text)); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

// FuzzNormalise sends arbitrary bytes through everything that parses a record.
func FuzzNormalise(f *testing.F) {
	f.Add("Joe's", "415-555-2300", "1000 Market St.", "94103", "http://joes.example/a?b", "Food > Pizza", "37.7", "-122.4")
	f.Add("東京タワー", "+81", "4丁目2-8", "〒105", "//", ">", "NaN", "1e400")
	f.Add("\xff\xfe", "0", "12 12 12", "\u0300", "a@b", " ", "", "-0")
	m := match.New(match.Place(), nil)
	other := m.Normalise("t", "o", match.Attributes{"name": {"Joes"}, "phones": {"4155552300"}, "address": {"1000 Market"}, "websites": {"joes.example"}})
	f.Fuzz(func(t *testing.T, name, phone, address, postcode, site, category, latitude, longitude string) {
		a := match.Attributes{
			"name": {name}, "phones": {phone, name}, "address": {address}, "postcode": {postcode}, "city": {postcode}, "websites": {site},
			"emails": {site}, "category": {category, name}, "latitude": {latitude}, "longitude": {longitude}, "vendor_id": {name},
		}
		r := m.Normalise("s", "k", a)
		for _, f := range r.BlockingKeys() {
			if _, _, ok := r.BlockingKey(f.Hash); !ok {
				t.Fatalf("blocking key %016x is not explained", f.Hash)
			}
		}
		v := m.Compare(r, other)
		if v != m.Compare(other, r) {
			t.Fatal("the comparison depends on the order of the pair")
		}
		if e := m.Explain(r, other, v); e.Weight != m.Sum(v) {
			t.Fatal("the explanation has another score")
		}
		if s := m.Sum(m.Compare(r, m.Normalise("s", "k2", a))); s < 0 {
			t.Fatalf("a record speaks against itself: %s", s)
		}
		match.Place().Check(a)
	})
}

func decimal(degrees float64) string { return strconv.FormatFloat(degrees, 'f', 7, 64) }
