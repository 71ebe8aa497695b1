// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/match"
)

// withName returns a record with a name and one more attribute.
func withName(attribute string, raw ...string) match.Attributes {
	a := match.Attributes{"name": {"Joe's"}}
	a[attribute] = raw
	return a
}

func TestCheck_Values(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		attribute, raw string
		code           string // empty: accepted
	}{
		{"name", long(match.MaxText), ""},
		{"name", long(match.MaxText + 1), match.CodeTooLong},
		{"phones", strings.Repeat("1", match.MaxPhone), ""},
		{"phones", strings.Repeat("1", match.MaxPhone+1), match.CodeTooLong},
		{"phones", "call us, maybe", ""},
		{"websites", "http://" + long(match.MaxURL-7), ""},
		{"websites", "http://" + long(match.MaxURL-6), match.CodeTooLong},
		{"websites", "HTTPS://EXAMPLE.COM", ""},
		{"websites", "example.com:8080/x", ""},
		{"websites", "javascript:1", match.CodeScheme},
		{"websites", "example.com", ""},
		{"websites", "not a site at all", ""},
		{"websites", "javascript:alert(1)", match.CodeScheme},
		{"websites", "data:text/html,x", match.CodeScheme},
		{"websites", "ftp://example.com", match.CodeScheme},
		{"websites", " FILE:///etc/passwd", match.CodeScheme},
		{"category", strings.Repeat("a>", match.MaxCategoryLevels-1) + "a", ""},
		{"category", strings.Repeat("a>", match.MaxCategoryLevels) + "a", match.CodeTooDeep},
		{"latitude", "90", ""},
		{"latitude", "-90.0", ""},
		{"latitude", "90.0001", match.CodeOutOfRange},
		{"latitude", "0", ""},
		{"latitude", "north", match.CodeNotANumber},
		{"latitude", "NaN", ""},
		{"latitude", "Inf", match.CodeOutOfRange},
		{"latitude", "1e400", match.CodeNotANumber},
		{"latitude", "n/a", ""},
		{"latitude", "  ", ""},
		{"longitude", "180", ""},
		{"longitude", "-180.5", match.CodeOutOfRange},
		{"vendor_id", long(match.MaxID), ""},
		{"vendor_id", long(match.MaxID + 1), match.CodeTooLong},
		{"city", "a\tb\r\nc", ""},
		{"city", "a\x00b", match.CodeControl},
		{"city", "a\u0085b", match.CodeControl},
		{"city", "a\xffb", match.CodeNotUTF8},
		{"city", "zero\u200bwidth", ""},
		{"postcode", "00000", ""},
	} {
		t.Run(fmt.Sprintf("%s %.20q", c.attribute, c.raw), func(t *testing.T) {
			t.Parallel()
			var want []match.Problem
			if c.code != "" {
				want = []match.Problem{{Pointer: "/" + c.attribute, Code: c.code}}
			}
			a := withName(c.attribute, c.raw)
			if c.attribute == "name" {
				a["name"] = []string{c.raw}
			}
			got := match.Place().Check(a)
			for i := range got {
				if got[i].Detail == "" || len(got[i].Detail) > 300 || strings.ContainsAny(got[i].Detail, "\x00\xff") {
					t.Errorf("detail %q", got[i].Detail)
				}
				got[i].Detail = ""
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestCheck_Records(t *testing.T) {
	t.Parallel()
	codes := func(a match.Attributes) (list []string) {
		for _, p := range match.Place().Check(a) {
			list = append(list, p.Code+" "+p.Pointer)
		}
		return list
	}
	for _, c := range []struct {
		name string
		a    match.Attributes
		want []string
	}{
		{"a name is enough", match.Attributes{"name": {"Joe's"}}, nil},
		{"no name", match.Attributes{"city": {"Oslo"}}, nil},
		{"nothing that is compared", match.Attributes{"description": {"a nice place"}, "country": {"NO"}}, []string{"required "}},
		{"a name of white space", match.Attributes{"name": {" \t"}}, []string{"required "}},
		{"the second name counts", match.Attributes{"name": {"", "Joe's"}}, nil},
		{"an empty record", nil, []string{"required "}},
		{"a single value sent twice", withName("city", "Oslo", "Bergen"), nil},
		{"at most so many values", withName("phones", slices.Repeat([]string{"1"}, match.MaxValues)...), nil},
		{"one value more", withName("phones", slices.Repeat([]string{"1"}, match.MaxValues+1)...), []string{"too_many /phones"}},
		{"all problems at once", match.Attributes{"nam": {"x"}, "phones": {strings.Repeat("1", match.MaxPhone+1)}, "latitude": {"1", "91"}}, []string{"out_of_range /latitude/1", "unknown_attribute /nam", "too_long /phones"}},
		{"nothing known, nothing said", match.Attributes{"nam": {"x"}}, []string{"unknown_attribute /nam"}},
	} {
		if diff := gocmp.Diff(c.want, codes(c.a)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
	}
	for _, said := range []string{"emails", "birth_date", "city", "phones", "family_name"} {
		if problems := match.Person().Check(match.Attributes{said: {"1"}}); problems != nil {
			t.Errorf("a person of whom only %s is known is refused: %v", said, problems)
		}
	}
	many := match.Attributes{"name": {"Joe's"}}
	for i := range match.MaxAttributes {
		many[fmt.Sprintf("a%03d", i)] = nil
	}
	if got := codes(many); got[0] != "too_many " {
		t.Errorf("%d attributes: %s", len(many), got[0])
	}
}

func TestCheck_SaysWhatWasMeant(t *testing.T) {
	t.Parallel()
	for wrong, meant := range map[string]string{"phone": "phones", "adress": "address", "Name": "name", "post_code": "postcode", "website": "websites", "lattitude": "latitude"} {
		p := match.Place().Check(withName(wrong, "x"))
		if len(p) != 1 || !strings.Contains(p[0].Detail, fmt.Sprintf("did you mean %q?", meant)) {
			t.Errorf("%s: %+v", wrong, p)
		}
	}
	p := match.Place().Check(withName("xyzzy", "x"))
	if len(p) != 1 || !strings.Contains(p[0].Detail, "name, phones, address") {
		t.Errorf("xyzzy: %+v", p)
	}
}

func TestSchema(t *testing.T) {
	t.Parallel()
	s := match.Place()
	if a, ok := s.Attribute("category"); !ok || !a.Tag || !a.Many || a.Type != match.TypeCategory {
		t.Errorf("category: %+v, %v", a, ok)
	}
	if _, ok := s.Attribute("colour"); ok {
		t.Error("place has a colour")
	}
	s.Sources["chamber"] = match.Source{Trust: 0.9}
	if got := s.Trust("chamber"); got != 0.9 {
		t.Errorf("trust %v, want 0.9", got)
	}
	if got := s.Trust("nobody"); got != match.DefaultTrust {
		t.Errorf("trust %v in an undeclared source", got)
	}
	if len(match.Place().Sources) != 0 {
		t.Error("one schema's sources are another's")
	}
}
