// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/httpapi"
)

// cities is a rollup of some places in several cities.
func cities(t *testing.T) *fixture {
	t.Helper()
	f := setup(t, nil)
	f.define("by-city", "over: records\n"+byCity) // which have even the names of cities that say nothing
	f.define("by-both", "kind: place\ngroup: [city, region]\n")
	for i, city := range []string{"Ash", "Birch", "Birch", "a/b", "a/b", "a/b", "..", "/", "x y%2F"} {
		f.item(fmt.Sprintf(`{"source":"s%d","key":"%d","attributes":{"name":"Diner %d","city":%q,"region":"R/%d"}}`, i%2, i,
			100*i, city, i%2))
	}
	f.until("/v1/rollups/by-city/groups?latest=true", 200)
	return f
}

func names(list httpapi.RollupGroups) (names []string) {
	for _, g := range list.Groups {
		names = append(names, strings.Join(g.Group, "|"))
	}
	return names
}

func TestGroups_AnswerAsDescribed(t *testing.T) {
	t.Parallel()
	f := cities(t)
	var got map[string]json.RawMessage
	if err := json.Unmarshal(f.get("/v1/rollups/by-city/groups?latest=true").Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	var groups []json.RawMessage
	if err := json.Unmarshal(got["groups"], &groups); err != nil {
		t.Fatal(err)
	}
	if len(groups) != 6 {
		t.Fatalf("%d groups in %s", len(groups), got["groups"])
	}
	want := `{"group":["a/b"],"total":{"phones":0,"places":3},"by":[{"value":"R/0","values":{"phones":0,"places":1}},{"value":"R/1","values":{"phones":0,"places":2}}]}`
	if !slices.ContainsFunc(groups, func(g json.RawMessage) bool { return string(g) == want }) {
		t.Errorf("%s\nwant one of them to be\n%s", got["groups"], want)
	}
	for _, field := range []string{"rollup", "definition", "watermark", "as_of", "lag_ms", "generation", "state"} {
		if got[field] == nil {
			t.Errorf("%s is missing", field)
		}
	}
	for _, field := range []string{"next", "missing"} {
		if got[field] != nil {
			t.Errorf("%s is there: %s", field, got[field])
		}
	}
}

func TestGroups_OneIsAddressedByItsValues(t *testing.T) {
	t.Parallel()
	f := cities(t)
	for city, places := range map[string]string{"Ash": "1", "Birch": "2", "a/b": "3", "..": "1", "/": "1", "x y%2F": "1"} {
		path := httpapi.GroupPath("by-city", []string{city})
		one := decode[httpapi.RollupOne](f.get(path + "?latest=true"))
		if !slices.Equal(one.Group, []string{city}) || string(one.Total["places"]) != places {
			t.Errorf("%s: %+v", path, one.RollupGroup)
		}
		effects := decode[httpapi.RollupEffects](f.get(httpapi.ExplainPath("by-city", []string{city}) + "?limit=10"))
		if len(effects.Effects) == 0 || effects.Rollup != "by-city" || !slices.Equal(effects.Group, []string{city}) ||
			len(effects.Effects[0].After) != 1 {
			t.Errorf("%s is explained by %+v", city, effects)
		}
	}
	two := decode[httpapi.RollupOne](f.get(httpapi.GroupPath("by-both", []string{"a/b", "R/1"}) + "?latest=true"))
	if string(two.Total["count"]) != "2" || len(two.By) != 0 {
		t.Errorf("%+v", two)
	}
	for target, status := range map[string]int{
		"/v1/rollups/by-city/groups/Elm": 404, "/v1/rollups/by-city/groups/": 404, "/v1/rollups/by-city/groups/Ash/": 404,
		"/v1/rollups/by-city/groups//": 404, "/v1/rollups/by-both/groups/Ash//": 404, "/v1/rollups/by-city/explain/": 404,
	} {
		f.get(target).refused(status, httpapi.CodeNotFound)
	}
	for _, target := range []string{"/v1/rollups/by-city/groups/a/b", "/v1/rollups/by-both/groups/Ash", "/v1/rollups/by-both/explain/Ash"} {
		f.get(target).refused(422, httpapi.CodeInvalid)
	}
	f.get("/v1/rollups/by-city/groups/%ff").refused(400, httpapi.CodeInvalidUTF8)
	if list := decode[httpapi.RollupEffects](f.get("/v1/rollups/by-city/explain/Elm")); list.Effects == nil || len(list.Effects) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestGroups_PagesAreTheList(t *testing.T) {
	t.Parallel()
	f := cities(t)
	all := names(decode[httpapi.RollupGroups](f.get("/v1/rollups/by-city/groups?latest=true")))
	for limit := 1; limit <= 7; limit++ {
		var got []string
		for after := ""; ; {
			page := decode[httpapi.RollupGroups](f.get(fmt.Sprintf("/v1/rollups/by-city/groups?limit=%d%s", limit, after)))
			if len(page.Groups) > limit || len(page.Groups) == 0 {
				t.Fatalf("limit %d: %d groups", limit, len(page.Groups))
			}
			if got = append(got, names(page)...); page.Next == "" {
				break
			}
			after = "&after=" + page.Next
		}
		if diff := cmp.Diff(all, got); diff != "" {
			t.Errorf("limit %d: %s", limit, diff)
		}
	}
	next := decode[httpapi.RollupGroups](f.get("/v1/rollups/by-city/groups?limit=1")).Next
	// may be read otherwise
	decode[httpapi.RollupGroups](f.get("/v1/rollups/by-city/groups?latest=true&limit=2&after=" + next))
	for _, bad := range []string{
		"/v1/rollups/by-both/groups?after=" + next, "/v1/rollups/by-city/groups?after=",
		"/v1/rollups/by-city/groups?after=" + next + "A",
		"/v1/rollups/by-city/groups?after=" + next[1:], "/v1/rollups/by-city/groups?after=" + strings.Repeat("A", 7000),
		"/v1/rollups/by-city/groups?after=" + url.QueryEscape(next+"\n"),
	} {
		if p := f.get(bad).refused(422, httpapi.CodeInvalid); p.Pointer != "?after" {
			t.Errorf("%s: %+v", bad, p)
		}
	}
	// A cursor of another list has another key under it.
	f.get("/v1/records?cursor="+next).refused(422, httpapi.CodeInvalid)
	records := decode[httpapi.RecordList](f.get("/v1/records?limit=1"))
	f.get("/v1/rollups/by-city/groups?after="+records.Cursor).refused(422, httpapi.CodeInvalid)
}

func TestGroups_Largest(t *testing.T) {
	t.Parallel()
	f := cities(t)
	got := names(decode[httpapi.RollupGroups](f.get("/v1/rollups/by-city/groups?latest=true&top=2&by=places")))
	if diff := cmp.Diff([]string{"a/b", "Birch"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestGroups_Strict(t *testing.T) {
	t.Parallel()
	f := cities(t)
	for query, pointer := range map[string]string{
		"limit=0": "?limit", "limit=1001": "?limit", "limit=x": "?limit", "top=3": "?top", "by=places": "?top",
		"top=0&by=places": "?top", "top=1001&by=places": "?top",
		"top=3&by=places&limit=4": "?limit", "top=3&by=colour": "?by", "top=3&by=phones": "?by",
		"min_watermark=17": "?min_watermark", "min_watermark=g0-0:017": "?min_watermark",
		"min_watermark=g0-0:-1": "?min_watermark", "min_watermark=g0-0:1,g0-0:2": "?min_watermark",
		"latest=1": "?latest", "latest=": "?latest", "partial=yes": "?partial",
	} {
		if p := f.get("/v1/rollups/by-city/groups?"+query).refused(422, httpapi.CodeInvalid); p.Pointer != pointer {
			t.Errorf("%s: pointer %q, %s", query, p.Pointer, p.Detail)
		}
	}
	f.get("/v1/rollups/by-city/groups?order=x").refused(400, httpapi.CodeUnknownField)
	f.get("/v1/rollups/by-city/groups/Ash?limit=1").refused(400, httpapi.CodeUnknownField)
	f.get("/v1/rollups/by-city/groups?min_watermark=g9-9:1").refused(404, httpapi.CodeNotFound)
	if p := f.get("/v1/rollups/by-city/groups?min_watermark=g0-0:999999").refused(410, httpapi.CodeTrimmed); !strings.Contains(p.Detail, "continue from") {
		t.Errorf("%+v", p)
	}
	decode[httpapi.RollupGroups](f.get("/v1/rollups/by-city/groups?partial=true&latest=false"))
	f.get("/v1/rollups/by-city/groups?partial=true&min_watermark=").refused(422, httpapi.CodeInvalid)
}
