// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
)

// inOrder checks that each cell's changes are ascending, and counts them by kind.
func inOrder(t *testing.T, changes []changes.Change) map[changelog.Kind]int {
	t.Helper()
	kinds, last := map[changelog.Kind]int{}, map[cell.ID]changelog.Seq{}
	for _, c := range changes {
		if c.Seq <= last[c.Cell] {
			t.Errorf("change %d of %v comes after %d", c.Seq, c.Cell, last[c.Cell])
		}
		last[c.Cell] = c.Seq
		kinds[c.Kind]++
	}
	return kinds
}

func TestChanges_PagesAreTheLogs(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	const places = 12
	for i := range places {
		f.diner("a", fmt.Sprint(i), fmt.Sprint("City", i), "")
	}
	for _, limit := range []int{1, 2, 3, 7, 1000} {
		var all []changes.Change
		for after := ""; ; {
			page := decode[httpapi.ChangeList](f.get(fmt.Sprintf("/v1/changes?limit=%d%s", limit, after)))
			if len(page.Changes) > limit {
				t.Fatalf("limit %d: %d changes", limit, len(page.Changes))
			}
			if after = "&after=" + page.Next.String(); len(page.Changes) == 0 {
				break
			}
			all = append(all, page.Changes...)
		}
		if kinds := inOrder(t, all); kinds[changelog.Put] != places || kinds[changelog.Created] != places {
			t.Errorf("limit %d: %v", limit, kinds)
		}
	}
	for _, id := range []string{"g0-0", "g0-1"} {
		page := decode[httpapi.ChangeList](f.get("/v1/changes?limit=1000&cell=" + id))
		for _, c := range page.Changes {
			if c.Cell.String() != id {
				t.Errorf("%v is in the log of %s", c.Cell, id)
			}
		}
		if len(page.Changes) == 0 || len(page.Next) != 1 {
			t.Errorf("%s: %d changes, next %v", id, len(page.Changes), page.Next)
		}
	}
	if page := decode[httpapi.ChangeList](f.get("/v1/changes?limit=1000&cell=g0-0,g0-1")); len(page.Next) != 2 {
		t.Errorf("next %v", page.Next)
	}
}

// Changes with large images are split into pages of bounded size, and none is lost.
func TestChanges_PagesAreBounded(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	f := setup(t, nil)
	f.define("by-city", "over: records\nwhere: {hours: {exists: true}}\n"+byCity) // so that images have the hours
	const batches, records = 6, 25
	for b := range batches {
		var put httpapi.PutRequest
		for i := range records {
			put.Records = append(put.Records, httpapi.RecordInput{Source: "a", Key: fmt.Sprint(b, "-", i), Attributes: httpapi.Attributes{
				"name": {fmt.Sprint("Place ", b, i)}, "hours": slices.Repeat([]string{strings.Repeat("x", 1000)}, 30),
				"description": {strings.Repeat("y", 4000)},
			}})
		}
		body, err := json.Marshal(put)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range decode[httpapi.PutResponse](f.do("POST", "/v1/records", string(body))).Results {
			if r.Error != nil {
				t.Fatalf("%+v", r.Error)
			}
		}
	}
	var all []changes.Change
	pages := 0
	for after := ""; ; pages++ {
		a := f.get("/v1/changes?limit=1000" + after)
		if n := a.Body.Len(); n > 5<<20 {
			t.Errorf("a page of %d bytes", n)
		}
		page := decode[httpapi.ChangeList](a)
		if len(page.Changes) == 0 {
			break
		}
		all, after = append(all, page.Changes...), "&after="+page.Next.String()
	}
	if kinds := inOrder(t, all); kinds[changelog.Put] != batches*records || pages < 2 {
		t.Errorf("%d pages with %v", pages, kinds)
	}
}

func TestChanges_OfNothing(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	if got := f.get("/v1/changes").Body.String(); !strings.HasPrefix(got, `{"changes":[],"next":"`) {
		t.Errorf("%s", got)
	}
}

func TestChanges_Strict(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for _, accept := range []string{"application/json", "text/event-stream"} {
		for query, pointer := range map[string]string{
			"cell=x": "?cell", "cell=": "?cell", "cell=g0-0,": "?cell", "after=x": "?after", "after=g0-0:1,": "?after",
			"limit=0": "?limit",
		} {
			if p := f.do("GET", "/v1/changes?"+query, "", "Accept", accept).refused(422, httpapi.CodeInvalid); p.Pointer != pointer {
				t.Errorf("%s: %+v", query, p)
			}
		}
		if p := f.do("GET", "/v1/changes?cell=g7-0", "", "Accept", accept).refused(404, httpapi.CodeNotFound); p.Pointer != "?cell" {
			t.Errorf("%+v", p)
		}
		if p := f.do("GET", "/v1/changes?after=g0-0:999999", "", "Accept", accept).refused(410, httpapi.CodeTrimmed); !strings.Contains(p.Detail, "continue from") {
			t.Errorf("%+v", p)
		}
		f.do("GET", "/v1/changes?since=1", "", "Accept", accept).refused(400, httpapi.CodeUnknownField)
	}
	f.do("GET", "/v1/changes?limit=5", "", "Accept", "text/event-stream").refused(422, httpapi.CodeInvalid)
	f.do("GET", "/v1/changes", "", "Accept", "text/event-stream", "Last-Event-ID", "17").refused(422, httpapi.CodeInvalid)
}
