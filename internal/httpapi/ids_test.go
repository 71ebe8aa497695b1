// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

// listed returns all states of a cell, read in pages.
func (f *fixture) listed(of string, limit int) (all []mirror.State) {
	f.Helper()
	for after := ""; ; {
		page := decode[httpapi.IDList](f.get(fmt.Sprintf("/v1/ids?cell=%s&limit=%d%s", of, limit, after)))
		if len(page.IDs) > limit || page.IDs == nil {
			f.Fatalf("limit %d: %d ids", limit, len(page.IDs))
		}
		all = append(all, page.IDs...)
		if page.Next.IsZero() {
			return all
		}
		after = "&after=" + page.Next.String()
	}
}

func (f *fixture) asked(request httpapi.IDRequest) []mirror.State {
	f.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		f.Fatal(err)
	}
	return decode[httpapi.IDAnswer](f.do("POST", "/v1/ids", string(body))).IDs
}

func TestIDs_AreAllIDs(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for i := range 9 {
		f.diner("a", fmt.Sprint(i), fmt.Sprint("City", i), "")
	}
	f.do("DELETE", "/v1/records/a/3", "")
	f.do("POST", "/v1/decisions", `{"decisions":[{"verdict":"same","a":"a:1","b":"a:2"}]}`)
	kinds := map[mirror.Kind]int{}
	var ids []locality.ID
	for _, limit := range []int{1, 2, 5, 1000} {
		clear(kinds)
		ids = ids[:0]
		for _, of := range []string{"g0-0", "g0-1"} {
			states := f.listed(of, limit)
			if !slices.IsSortedFunc(states, func(a, b mirror.State) int { return a.ID.Compare(b.ID) }) {
				t.Errorf("limit %d: %+v", limit, states)
			}
			for _, s := range states {
				kinds[s.Kind]++
				ids = append(ids, s.ID)
				if s.Cell.String() != of || s.At < 1 || s.Settling || (s.Thing != nil) != (s.Kind == mirror.Entity) ||
					s.To.IsZero() != (s.Kind != mirror.Redirect) {
					t.Errorf("%+v", s)
				}
			}
		}
		if kinds[mirror.Entity] != 7 || kinds[mirror.Redirect] != 1 || kinds[mirror.Deleted] != 1 {
			t.Errorf("limit %d: %v", limit, kinds)
		}
	}
	for _, s := range f.asked(httpapi.IDRequest{IDs: append(ids, ids...)}) {
		i := slices.Index(ids, s.ID)
		if i < 0 {
			t.Fatalf("%v is asked for once", s.ID)
		}
		ids = slices.Delete(ids, i, i+1)
		if a := f.get("/v1/entities/" + s.ID.String()); s.Kind == mirror.Deleted {
			a.refused(410, httpapi.CodeErased)
		} else if e := decode[httpapi.Entity](a); e.ID != s.ID && e.ID != s.To || s.Thing != nil && fmt.Sprint(s.Thing.Stamp) != e.Stamp {
			t.Errorf("%+v, and the entity is %+v", s, e)
		}
	}
	if len(ids) > 0 {
		t.Errorf("no answer about %v", ids)
	}
}

func TestIDs_OfRecords(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.diner("a", "1", "City", "")
	rec := decode[httpapi.Record](f.get("/v1/records/a/1"))
	states := f.asked(httpapi.IDRequest{Records: []entity.PUID{rec.PUID, rec.PUID, rec.PUID + 1}})
	if len(states) != 1 || states[0].ID != rec.Entity {
		t.Errorf("%+v", states)
	}
	never := f.asked(httpapi.IDRequest{IDs: []locality.ID{locality.New()}})
	if len(never) != 1 || never[0].Kind != mirror.Unknown {
		t.Errorf("%+v", never)
	}
	if got := f.do("POST", "/v1/ids", "{}").Body.String(); got != `{"ids":[]}`+"\n" {
		t.Errorf("of nothing: %s", got)
	}
	if tail := decode[httpapi.Tail](f.get("/v1/tail")); len(tail.Watermark) != 2 {
		t.Errorf("tail %v", tail.Watermark)
	}
}

func TestIDs_Strict(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for query, pointer := range map[string]string{"": "?cell", "?cell=x": "?cell", "?cell=g0-0&after=x": "?after", "?cell=g0-0&limit=0": "?limit", "?cell=g0-0&limit=1001": "?limit"} {
		if p := f.get("/v1/ids"+query).refused(422, httpapi.CodeInvalid); p.Pointer != pointer {
			t.Errorf("%s: %+v", query, p)
		}
	}
	f.get("/v1/ids?cell=g7-0").refused(404, httpapi.CodeNotFound)
	f.get("/v1/ids?cell=g0-0&since=1").refused(400, httpapi.CodeUnknownField)
	id := `"` + locality.New().String() + `",`
	for body, want := range map[string]httpapi.Code{
		`{"ids":["x"]}`: httpapi.CodeInvalid, `{"records":["07"]}`: httpapi.CodeInvalid,
		`{"records":[7]}`: httpapi.CodeInvalid, `{"ids":{}}`: httpapi.CodeInvalid,
		`{"puids":[]}`: httpapi.CodeUnknownField, `[]`: httpapi.CodeInvalid, `{`: httpapi.CodeMalformed,
		`{"ids":[` + strings.Repeat(id, mirror.MostStates) + id[:len(id)-1] + `]}`: httpapi.CodeTooLarge,
	} {
		a := f.do("POST", "/v1/ids", body)
		var p httpapi.Problem
		if err := json.Unmarshal(a.Body.Bytes(), &p); err != nil || p.Code != want {
			t.Errorf("%.60s: %d %s", body, a.Code, a.Body)
		}
	}
	both := `{"ids":[` + strings.Repeat(id, mirror.MostStates-1) + id[:len(id)-1] + `],"records":["7"]}`
	f.do("POST", "/v1/ids", both).refused(422, httpapi.CodeInvalid)
}
