// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/httpapi"
)

func TestCells(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.item(joe)
	list := decode[httpapi.CellList](f.get("/v1/cells"))
	if len(list.Cells) != 2 || len(list.Generations) != 1 || list.Generations[0].Cells != 2 ||
		list.Generations[0].Role != cell.RoleCurrent || list.Epoch == 0 || list.Until.IsZero() {
		t.Fatalf("%+v", list)
	}
	records := int64(0)
	for _, c := range list.Cells {
		records += c.Records
		if !c.Answers || c.Keys != cell.Open || c.Home != cell.Serving || c.Incarnation != 1 || c.Role != cell.RoleCurrent ||
			c.PUIDRoom != 1<<32-1 || !strings.HasPrefix(c.URL, "sqlite:") {
			t.Errorf("%+v", c)
		}
	}
	if records != 1 {
		t.Errorf("%d records in all", records)
	}
	one := decode[httpapi.CellDetail](f.get("/v1/cells/g0-1"))
	if one.Cell.Cell.String() != "g0-1" || one.SegmentLo != 1<<31 || one.SegmentHi != 1<<32 || one.Share != 0.5 ||
		one.Puids.Lo != 0 || one.Cells != 2 {
		t.Errorf("%+v", one)
	}
	f.get("/v1/cells/g0-2").refused(404, httpapi.CodeNotFound)
	f.get("/v1/cells/g7-0").refused(404, httpapi.CodeNotFound)
	for _, bad := range []string{"g0", "g00-1", "0-1", "g0-1%20", "g1-4294967296", "plan"} {
		a := f.get("/v1/cells/" + bad)
		if p := a.refused(422, httpapi.CodeInvalid); p.Pointer != "/id" {
			t.Errorf("%s: %d %s", bad, a.Code, a.Body)
		}
	}
}

// The map is served as it is stored, so that a client can route with it.
func TestMap(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	item := f.item(joe)
	m, err := cell.ParseMap(f.get("/v1/map").Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if m.Spec().ID != f.svc.Cells().Map().Spec().ID || m.Count(0) != 2 {
		t.Errorf("map %s with %d cells", m.Spec().ID, m.Count(0))
	}
	at, err := m.Puid(int64(item.PUID))
	if one := decode[httpapi.CellDetail](f.get("/v1/cells/" + at.String())); err != nil || one.Records != 1 {
		t.Errorf("the map leads to %v, which has %d records; %v", at, one.Records, err)
	}
	history := decode[httpapi.MapHistory](f.get("/v1/map/history"))
	if len(history.Maps) == 0 {
		t.Fatal("no version is kept")
	}
	for _, raw := range history.Maps {
		if _, err := cell.ParseMap(raw); err != nil {
			t.Error(err)
		}
	}
}

func TestReadyz_TellsEachCell(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	h := decode[httpapi.Health](f.get("/readyz"))
	if !h.Ready || h.Epoch == 0 || h.Until.IsZero() || len(h.Cells) != 2 {
		t.Fatalf("%+v", h)
	}
	for _, c := range h.Cells {
		if !c.Answers || c.Keys != cell.Open || c.Home != cell.Serving {
			t.Errorf("%+v", c)
		}
	}
}
