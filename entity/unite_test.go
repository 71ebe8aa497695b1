// SPDX-License-Identifier: Apache-2.0

package entity_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/entity"
)

// phone returns a number as match.Said has it: one without a country code has the end that it is known by.
func phone(raw string) entity.Spelling {
	normal := strings.NewReplacer(" ", "", "-", "").Replace(raw)
	s := entity.Spelling{Raw: raw, Normal: normal}
	if !strings.HasPrefix(normal, "+") {
		s.Local = strings.TrimLeft(normal, "0")
	}
	return s
}

// phones returns the testimonies of records with these numbers, those of one record separated by "|".
func phones(records ...string) (members []entity.Testimony) {
	for i, record := range records {
		m := says(i, "crm", 0)
		for raw := range strings.SplitSeq(record, "|") {
			m.Values["phones"] = append(m.Values["phones"], phone(raw))
		}
		members = append(members, m)
	}
	return members
}

// A number without its country or area is one value with the only full number that it can be.
func TestMerge_UnitesValuesThatLackTheirBeginning(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		records []string
		pins    []string
		want    string // values with their records
	}{
		"with and without the country": {[]string{"030 1234567", "+49 30 1234567"}, nil, "+49 30 1234567 [0 1]"},
		"of one record":                {[]string{"030 1234567|+49 30 1234567", "+49 30 7654321"}, nil, "+49 30 1234567 [0]; +49 30 7654321 [1]"},
		"without the area too":         {[]string{"1234567", "030 1234567", "+49 30 1234567"}, nil, "+49 30 1234567 [0 1 2]"},
		"none has the country":         {[]string{"1234567", "030-1234567", "30 1234567", "030 1234567"}, nil, "030 1234567 [0 1 2 3]"},
		"of two countries":             {[]string{"30 1234567", "+49 30 1234567", "+33 30 1234567"}, nil, "+33 30 1234567 [2]; +49 30 1234567 [1]; 30 1234567 [0]"},
		"of two areas":                 {[]string{"1234567", "030 1234567", "0221 1234567"}, nil, "0221 1234567 [2]; 030 1234567 [1]; 1234567 [0]"},
		"two full numbers":             {[]string{"+1 415 5550101", "+1 215 5550101"}, nil, "+1 215 5550101 [1]; +1 415 5550101 [0]"},
		"chosen with the country":      {[]string{"030 1234567", "030 7654321"}, []string{"+49 30 1234567"}, "+49 30 1234567 [0]; 030 7654321 [1]"},
		"chosen without the country":   {[]string{"+49 30 1234567", "1234567"}, []string{"030 1234567"}, "030 1234567 [0 1]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var pins []entity.Pin
			for _, raw := range c.pins {
				pins = append(pins, entity.Pin{Attribute: "phones", Spelling: phone(raw)})
			}
			view := entity.Merge(phones(c.records...), place, pins...)
			var got []string
			for _, v := range view[0].Values {
				got = append(got, fmt.Sprint(v.Value, " ", v.Members))
			}
			slices.Sort(got[len(pins):])
			if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A record that has a number with and without its country speaks once for it.
func TestSupports_AUnitedValueOfOneRecordCountsOnce(t *testing.T) {
	t.Parallel()
	members := phones("030 1234567|+49 30 1234567|30 1234567")
	view := entity.Merge(members, place)
	if got := entity.Supports(members, place, view)["phones"]; len(got) != 1 || got[0].Weight != 0.45 {
		t.Errorf("%+v of %+v, want one value of the weight of its record", got, view)
	}
}

// The union is that of the definition, whatever the order of the records: every value stands for its own record, and no
// value that is shown is the end of one other alone.
func TestMerge_UnitesInAnyOrder(t *testing.T) {
	t.Parallel()
	numbers := []string{"+1234", "+5234", "+11234", "1234", "01234", "234", "0234", "34", "+934", "9934"}
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.SliceOfN(rapid.SampledFrom(numbers), 1, 8).Draw(t, "records")
		members := phones(records...)
		view := entity.Merge(members, place)
		if diff := cmp.Diff(view, entity.Merge(rapid.Permutation(members).Draw(t, "shuffled"), place)); diff != "" {
			t.Fatalf("view, members in another order (-want +got):\n%s", diff)
		}
		seen := make([]int, len(records))
		for _, v := range view[0].Values {
			for _, at := range v.Members {
				seen[at]++
				if end := strings.TrimLeft(records[at], "0"); !strings.HasSuffix(v.Value, end) {
					t.Errorf("%s is shown as %s", records[at], v.Value)
				}
			}
			longer := 0
			for _, other := range view[0].Values {
				if other.Value != v.Value && strings.HasSuffix(other.Value, phone(v.Value).Local) {
					longer++
				}
			}
			if !strings.HasPrefix(v.Value, "+") && longer == 1 {
				t.Errorf("%s is shown beside the only number that it can be: %+v", v.Value, view[0].Values)
			}
		}
		for at, n := range seen {
			if n != 1 {
				t.Errorf("record %d, %s, stands for %d values of %+v", at, records[at], n, view[0].Values)
			}
		}
	})
}
