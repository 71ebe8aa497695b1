// SPDX-License-Identifier: Apache-2.0

package document

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
)

var drawText = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", `"`, `\`, `\"`, "\x00\x1f", "a\tb\nc", `\u0041`, "</script>", "\u2028", "寿司\U0010ffff", "\x7f"}))

var drawAttributes = rapid.Custom(func(t *rapid.T) entity.Attributes {
	return rapid.MapOfN(drawText, rapid.SliceOfN(drawText, 0, 3), 0, 5).Draw(t, "attributes")
})

var drawImage = rapid.Custom(func(t *rapid.T) *changelog.Image {
	return &changelog.Image{
		Sources: rapid.SliceOfN(drawText, 0, 3).Draw(t, "sources"), Attributes: drawAttributes.Draw(t, "attributes"),
		Outcome: rapid.SampledFrom([]string{"", changelog.OutcomeCreated, changelog.OutcomeMatched, `"`}).Draw(t, "outcome"),
	}
})

func init() { conformance.Share(drawText, drawAttributes, drawImage) }

// encoding/json reads a document with the same result, and so does this package.
func TestDocuments_AreJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		attributes := drawAttributes.Draw(t, "attributes")
		text := string(AppendAttributes(nil, attributes))
		var byJSON entity.Attributes
		if err := json.Unmarshal([]byte(text), &byJSON); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got, err := ParseAttributes(text)
		if diff := cmp.Diff(attributes, byJSON, cmpopts.EquateEmpty()) + cmp.Diff(attributes, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Fatalf("%s, %v: %s", text, err, diff)
		}

		im := drawImage.Draw(t, "image")
		text = string(AppendImage(nil, im))
		var imageByJSON *changelog.Image
		if err := json.Unmarshal([]byte(text), &imageByJSON); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		gotImage, err := ParseImage(text)
		if diff := cmp.Diff(im, imageByJSON, cmpopts.EquateEmpty()) + cmp.Diff(im, gotImage, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Fatalf("%s, %v: %s", text, err, diff)
		}

		var versions []changelog.Version
		for _, m := range drawEntity.Draw(t, "entity").Members {
			versions = append(versions, changelog.Version{PUID: m.PUID, Version: m.Version})
		}
		text = string(AppendVersions(nil, versions))
		gotVersions, err := ParseVersions(text)
		if diff := cmp.Diff(versions, gotVersions); diff != "" || err != nil || !json.Valid([]byte(text)) {
			t.Fatalf("%s, %v: %s", text, err, diff)
		}
	})
}

// Other equivalent JSON can be read too.
func TestDocuments_OfOtherHands(t *testing.T) {
	t.Parallel()
	attributes, err := ParseAttributes(" { \"a\" : [ \"\\u00e9\" , \"\\/\\n\" ] } ")
	if diff := cmp.Diff(entity.Attributes{"a": {"é", "/\n"}}, attributes); diff != "" || err != nil {
		t.Errorf("attributes %v: %s", err, diff)
	}
	versions, err := ParseVersions("[ [1, 2] ]")
	if !slices.Equal(versions, []changelog.Version{{PUID: 1, Version: 2}}) || err != nil {
		t.Errorf("versions %v, %v", versions, err)
	}
	im, err := ParseImage(`{"attributes": {"a":["\u00e9"]}, "sources": ["osm"], "kind":"place", "outcome":"matched"}`)
	wantImage := &changelog.Image{Kind: "place", Sources: []string{"osm"}, Outcome: changelog.OutcomeMatched, Attributes: entity.Attributes{"a": {"é"}}}
	if diff := cmp.Diff(wantImage, im); diff != "" || err != nil {
		t.Errorf("image %v: %s", err, diff)
	}
}

// A list without members and a missing image are encoded as the empty text.
func TestDocuments_OfNothing(t *testing.T) {
	t.Parallel()
	if versions, err := ParseVersions(""); versions != nil || err != nil {
		t.Errorf("versions of nothing: %v, %v", versions, err)
	}
	if im, err := ParseImage(""); im != nil || err != nil {
		t.Errorf("an image of nothing: %v, %v", im, err)
	}
	if im, err := ParseImage("{"); err == nil {
		t.Errorf("an image of half a text: %v", im)
	}
}

// The text of an image is pinned, because it is readable in a cell.
func TestAppendImage(t *testing.T) {
	t.Parallel()
	for want, im := range map[string]*changelog.Image{
		`{"kind":"place","sources":[],"attributes":{}}`: {Kind: "place"},
		`{"kind":"place","sources":["fsq","osm"],"attributes":{"city":["Växjö"],"phones":["1","2"]}}`: {
			Kind: "place", Sources: []string{"fsq", "osm"}, Attributes: entity.Attributes{"phones": {"1", "2"}, "city": {"Växjö"}},
		},
		`{"kind":"boat","sources":["osm"],"outcome":"created","attributes":{"name":["Joe's \"1\""]}}`: {
			Kind: "boat", Sources: []string{"osm"}, Outcome: changelog.OutcomeCreated, Attributes: entity.Attributes{"name": {`Joe's "1"`}},
		},
	} {
		if got := string(AppendImage(nil, im)); got != want {
			t.Errorf("image %+v is\n%s, want\n%s", im, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "{", "{}", `{"a":["b"]}`, `{"a":["\u001f\""]}`, `{"a":["\u00e9"]}`, `{"a":["b"],}`, `{"a"}`, `[[1,2]]`, `[[1,2],[-3,4]`, "[[9223372036854775808,1]]",
		`{"members":[{"puid":"1","source":"s","key":"k","version":1}],"view":[]}`, `{"a":["\`, `{"a":["\u00`, `{"a":["\n"]}`,
		`{"kind":"boat","sources":["osm"],"outcome":"matched","attributes":{"a":["b"]}}`, `{"sources":[],"attributes":{}}`, `{"sources":[]`, "null",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want entity.Attributes
		asJSON := json.Unmarshal([]byte(text), &want)
		got, err := ParseAttributes(text)
		if (err == nil) != (asJSON == nil) && strings.IndexFunc(text, func(r rune) bool { return r < 0x20 || r == 0xfffd }) < 0 {
			t.Errorf("%q is read with %v, by encoding/json with %v", text, err, asJSON)
		}
		if err == nil && asJSON == nil && want != nil && strings.ToValidUTF8(text, "") == text {
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%q: %s", text, diff)
			}
		}
		_, _ = ParseVersions(text)
		var wantImage changelog.Image
		asImage := json.Unmarshal([]byte(text), &wantImage)
		im, err := ParseImage(text)
		if err == nil && asImage == nil && strings.ToValidUTF8(text, "") == text {
			if diff := cmp.Diff(&wantImage, im, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%q: %s", text, diff)
			}
		}
	})
}

func BenchmarkDocuments(b *testing.B) {
	attributes := entity.Attributes{
		"name": {"Joe's Famous Pizza"}, "phones": {"(415) 555-2300", "415.555.2301"}, "address": {"1000 Market Street"}, "city": {"San Francisco"},
		"postcode": {"94103"}, "country": {"US"}, "latitude": {"37.774929"}, "longitude": {"-122.419416"}, "websites": {"https://joes.example/menu"},
	}
	text := string(AppendAttributes(nil, attributes))
	var buf []byte
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf = AppendAttributes(buf[:0], attributes)
		}
	})
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParseAttributes(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var a entity.Attributes
			if err := json.Unmarshal([]byte(text), &a); err != nil {
				b.Fatal(err)
			}
		}
	})
}
