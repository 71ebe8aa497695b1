// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
)

// planned returns an installation of 16 and 48 cells, the second half of them on two servers.
func planned(t *testing.T) *cell.Map {
	t.Helper()
	s := grownSpec()
	s.Authority = cell.ID{}
	return newMap(t, s)
}

func TestPlanGrowth(t *testing.T) {
	t.Parallel()
	m := planned(t)
	now := m.Until().Add(-41 * time.Minute)
	p, err := cell.PlanGrowth(m, cell.Growth{Cells: 240,
		URLs: []string{"postgres://db2/locus_g{g}_{i}", "postgres://db4:5433/locus_g{g}_{i}"}}, now)
	if err != nil {
		t.Fatal(err)
	}
	if p.Epoch != m.Epoch() || p.Generation != 2 || p.Cells != 240 || p.Announced || !p.Starts.Equal(m.Until()) ||
		p.Wait != 41*time.Minute {
		t.Errorf("plan %+v", p)
	}
	wantGenerations := []cell.PlanGeneration{
		{Generation: 0, Cells: 16, Role: cell.RoleOlder, Share: 1. / 16},
		{Generation: 1, Cells: 48, Role: cell.RoleOlder, Share: 1. / 48},
		{Generation: 2, Cells: 240, Role: cell.RoleCurrent, Share: 1. / 240},
	}
	if !reflect.DeepEqual(p.Generations, wantGenerations) {
		t.Errorf("generations %+v", p.Generations)
	}
	wantServers := []cell.PlanServer{
		{Server: "postgres://db1", Before: 24, After: 24},
		{Server: "postgres://db2", Before: 25, After: 145, New: 120},
		{Server: "postgres://db3", Before: 1, After: 1},
		{Server: "postgres://db4:5433", After: 120, New: 120},
		{Server: "sqlite:cells", Before: 14, After: 14},
	}
	if !reflect.DeepEqual(p.Servers, wantServers) {
		t.Errorf("servers %+v", p.Servers)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("new before", p.Before.New, 2)
	near("there before", p.Before.There, (48+2*16)/64.)
	near("new after", p.After.New, 3)
	near("filtered new after", p.After.FilteredNew, 1+2/256.)
	near("there after", p.After.There, (240+2*48+3*16)/304.)
	near("filtered there after", p.After.FilteredThere, (240+2*48+(2+1/256.)*16)/304.)
	// 16, 48, 240, then 5 times as many while there is room.
	if p.Room != 8 || p.RoomCells != 240*390625 {
		t.Errorf("room for %d more, up to %d cells", p.Room, p.RoomCells)
	}
	b, err := json.Marshal(p)
	if err != nil || !strings.Contains(string(b), `"starts":"2026-11-20T`) {
		t.Errorf("%s, %v", b, err)
	}
}

// Plan and growth agree on which generation is new and which one is resumed.
func TestPlanGrowth_GoesOn(t *testing.T) {
	t.Parallel()
	m := planned(t)
	p, err := cell.PlanGrowth(m, cell.Growth{Cells: 48}, m.Until())
	if err != nil || p.Generation != 1 || !p.Announced || p.Wait != 0 {
		t.Errorf("as many as there are: %+v, %v", p, err)
	}
	if p.Room != 14 {
		t.Errorf("from 48 to 144 and on: room for %d", p.Room)
	}
	p, err = cell.PlanGrowth(m, cell.Growth{Cells: 48, URLs: []string{"postgres://db3/locus_g{g}_{i}"}},
		m.Until().Add(time.Hour))
	if err != nil || p.Generation != 2 || p.Announced || p.Wait != 0 {
		t.Errorf("as many at another place: %+v, %v", p, err)
	}
}

func TestPlanGrowth_Refuses(t *testing.T) {
	t.Parallel()
	dated := func(cells ...uint64) *cell.Map {
		s := cell.Spec{ID: "x", Until: time.UnixMilli(1 << 40)}
		for i, n := range cells {
			s.Generations = append(s.Generations, cell.Generation{Cells: n, Starts: time.UnixMilli(int64(i)), URLs: nil})
			s.Current = i
		}
		return newMap(t, s)
	}
	for name, c := range map[string]struct {
		m     *cell.Map
		cells uint64
		says  string
	}{
		"no multiple":        {dated(16, 48), 64, "48, 96, 144 would do"},
		"fewer":              {dated(16, 48), 16, "48, 96, 144 would do"},
		"none":               {dated(16, 48), 0, "48, 96, 144 would do"},
		"too many":           {dated(1 << 31), 1 << 32, "2147483648 would do"},
		"a map without date": {newMap(t, cell.Spec{Generations: []cell.Generation{{Cells: 2}}}), 4, "without until"},
	} {
		_, err := cell.PlanGrowth(c.m, cell.Growth{Cells: c.cells}, time.UnixMilli(0))
		if !errors.Is(err, cell.ErrMap) {
			t.Errorf("%s: %v, want ErrMap", name, err)
			continue
		}
		if !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

// Maps accept exactly as many growths as a plan has room for.
func TestPlanGrowth_RoomIsWhatMapsAccept(t *testing.T) {
	t.Parallel()
	for _, counts := range [][]uint64{{16, 32}, {16, 64}, {48, 96}, {60, 120}, {240, 480}, {3, 9}, {1, 10}, {1 << 20, 1 << 20}, {1 << 31, 1 << 31}} {
		s := cell.Spec{ID: "x", Until: time.UnixMilli(1 << 40)}
		s.Generations = []cell.Generation{{Cells: counts[0]}}
		p, err := cell.PlanGrowth(newMap(t, s), cell.Growth{Cells: counts[1]}, time.UnixMilli(0))
		if err != nil {
			t.Fatal(err)
		}
		s.Generations = append(s.Generations, cell.Generation{Cells: counts[1], Starts: time.UnixMilli(1)})
		more := func() error {
			n := len(s.Generations)
			s.Generations = append(s.Generations, cell.Generation{
				Cells: s.Generations[n-1].Cells * (counts[1] / counts[0]), Starts: time.UnixMilli(int64(n)),
			})
			_, err := cell.NewMap(s)
			return err
		}
		for n := range min(p.Room, 100) {
			if err := more(); err != nil {
				t.Errorf("%v: room for %d more, refused after %d: %v", counts, p.Room, n, err)
			}
		}
		if last := s.Generations[len(s.Generations)-1].Cells; p.Room <= 100 && (more() == nil || last != p.RoomCells) {
			t.Errorf("%v: room for %d more up to %d cells, and one more is accepted, %d", counts, p.Room, p.RoomCells, last)
		}
	}
}
