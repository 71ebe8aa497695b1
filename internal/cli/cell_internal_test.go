// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/httpapi"
)

// spread returns a map of two generations on two servers; the second generation is announced.
func spread(t *testing.T, change func(*cell.Spec)) *cell.Map {
	t.Helper()
	spec := cell.Spec{
		ID: "spread", Epoch: 7, Until: time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC),
		Generations: []cell.Generation{
			{Cells: 4, Starts: time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC),
				URLs: []string{"postgres://db1/locus_g{g}_{i}", "postgres://db2/locus_g{g}_{i}"}},
			{Cells: 12, Starts: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC),
				URLs: []string{"postgres://db1/locus_g{g}_{i}", "postgres://db2/locus_g{g}_{i}", "postgres://db3/locus_g{g}_{i}"}},
		},
	}
	if change != nil {
		change(&spec)
	}
	return newMap(t, spec)
}

func newMap(t *testing.T, spec cell.Spec) *cell.Map {
	t.Helper()
	m, err := cell.NewMap(spec)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func oneGeneration(t *testing.T, cells uint64) *cell.Map {
	t.Helper()
	return newMap(t, cell.Spec{ID: "one", Generations: []cell.Generation{{Cells: cells}}})
}

func TestPlanText(t *testing.T) {
	t.Parallel()
	m := spread(t, nil)
	before := spread(t, func(s *cell.Spec) { s.Generations, s.Until = s.Generations[:1], s.Generations[1].Starts })
	now := time.Date(2026, 11, 20, 14, 19, 0, 0, time.UTC)
	grown := cell.Growth{Cells: 12, URLs: m.Spec().Generations[1].URLs}
	for name, c := range map[string]struct {
		m    *cell.Map
		want string
	}{
		"new": {before, `generation  1   12 cells
starts      2026-11-20T15:00:00Z, in 41m00s: until then the current cell map covers ids
moves       0 rows; old cells keep their records and their ids
            generation 0: 4 cells of 25 % of the ring, is read for keys, takes no new ones
            generation 1: 12 cells of 8.33 % of the ring, takes new keys
server      postgres://db1   2 cells now, then 6, 4 of them for new keys
server      postgres://db2   2 cells now, then 6, 4 of them for new keys
server      postgres://db3   0 cells now, then 4, 4 of them for new keys
look-ups    of a new key 1.00 now, then 1.00   of one that is there 1.00, then 1.25
room        15 generations more like that, up to 172,186,884 cells`},
		"announced": {m, `generation  1   12 cells, announced already
starts      2026-11-20T15:00:00Z, in 41m00s: until then the current cell map covers ids
moves       0 rows; old cells keep their records and their ids
            generation 0: 4 cells of 25 % of the ring, is read for keys, takes no new ones
            generation 1: 12 cells of 8.33 % of the ring, takes new keys
server      postgres://db1   6 cells now, then 6, 4 of them for new keys
server      postgres://db2   6 cells now, then 6, 4 of them for new keys
server      postgres://db3   4 cells now, then 4, 4 of them for new keys
look-ups    of a new key 1.00 now, then 1.00   of one that is there 1.00, then 1.25
room        15 generations more like that, up to 172,186,884 cells`},
	} {
		plan, err := cell.PlanGrowth(c.m, grown, now)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, planText(plan)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCompactText(t *testing.T) {
	t.Parallel()
	current := spread(t, func(s *cell.Spec) { s.Current = 1 })
	want := "will move the keys of generation 0 (4 cells) to the 12 cells of generation 1; records stay\n" +
		"then finding a key takes at most 1 look-up, not 2"
	if got := compactText(current, 1, 2, 1); got != want {
		t.Errorf("%s", got)
	}
	done := spread(t, func(s *cell.Spec) { s.Current, s.Floor = 1, 1 })
	if got := compactText(done, 1, 1, 1); !strings.Contains(got, "already looked up from generation 1 on") {
		t.Errorf("%s", got)
	}
}

func TestCellCard(t *testing.T) {
	t.Parallel()
	of := httpapi.CellDetail{
		Cell: httpapi.Cell{
			Cell: cell.ID{Gen: 1, Index: 19}, Role: cell.RoleOlder, URL: "postgres://db2/locus_g1_19\x1b", Answers: true,
			Keys: cell.Sealed, Home: cell.Serving, Incarnation: 2, Epoch: 9, KnownEpoch: 11, Filter: true,
			Records: 1234567, Entities: 1, PUIDs: 1 << 31, PUIDRoom: 1<<32 - 1, Redo: 3, Bytes: 5 << 20,
		},
		Cells: 48, Starts: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC), Ends: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
		SegmentLo: 1700091221, SegmentHi: 1789569707, Share: 1.0 / 48, Puids: &cell.Range{Lo: 4294967296, Hi: 8589934591},
	}
	want := `cell      g1-19   one of 48 of generation 1, older
url       postgres://db2/locus_g1_19\x1b
segment   0x65555555 to 0x6aaaaaaa   2.083 % of the ring
ids       dated from 2026-11-20T15:00:00Z until 2027-01-01T00:00:00Z
puids     4294967297 to 8589934591   2,147,483,648 allocated, 50 %
state     sealed for keys, with a filter of them   serving, in its 2nd database   knows epoch 11
holds     1,234,567 records, 1 entity   3 to redo   5,242,880 bytes
`
	if diff := cmp.Diff(want, cellCard(&of)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	of.Answers = false
	if got := cellCard(&of); !strings.HasSuffix(got, "state     it is unavailable\n") {
		t.Errorf("a silent one:\n%s", got)
	}
	if row := cellRow(&of.Cell); len(row) != 12 || row[2] != "unavailable" {
		t.Errorf("row %q", row)
	}
	if row := cellRow(&httpapi.Cell{Answers: true}); len(row) != 12 {
		t.Errorf("row %q", row)
	}
}

func TestUnanswered(t *testing.T) {
	t.Parallel()
	if err := errUnavailable(nil); err != nil {
		t.Error(err)
	}
	if err := errUnavailable([]string{"g0-1"}); err == nil || err.Error() != "g0-1 is unavailable" {
		t.Error(err)
	}
	if err := errUnavailable([]string{"g0-1", "g0-2"}); err == nil || err.Error() != "2 cells are unavailable, among them g0-1" {
		t.Error(err)
	}
}

func TestDated(t *testing.T) {
	t.Parallel()
	from, until := time.UnixMilli(0), time.UnixMilli(1e12)
	for _, c := range []struct {
		from, until time.Time
		first       bool
		want        string
	}{
		{from, time.Time{}, true, "at any time"},
		{from, until, true, "before 2001-09-09T01:46:40Z"},
		{until, time.Time{}, false, "from 2001-09-09T01:46:40Z"},
		{from, until, false, "from 1970-01-01T00:00:00Z until 2001-09-09T01:46:40Z"},
	} {
		if got := dated(c.from, c.until, c.first); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 102: "102nd", 111: "111th"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d is %q", n, got)
		}
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	first := spread(t, func(s *cell.Spec) { s.Generations, s.Until = s.Generations[:1], s.Generations[1].Starts })
	for _, c := range []struct {
		before, m *cell.Map
		want      []string
	}{
		{nil, first, []string{"oldest version kept"}},
		{first, spread(t, nil), []string{"generation 1 announced: 12 cells from 2026-11-20T15:00:00Z"}},
		{spread(t, nil), spread(t, func(s *cell.Spec) { s.Current = 1 }), []string{"generation 1 takes new keys"}},
		{spread(t, func(s *cell.Spec) { s.Current = 1 }), spread(t, func(s *cell.Spec) { s.Current, s.Floor = 1, 1 }), []string{"keys are looked up from generation 1 on"}},
		{spread(t, nil), spread(t, func(s *cell.Spec) { s.Until = s.Until.Add(time.Hour) }), []string{"covers later ids"}},
		{spread(t, nil), spread(t, func(s *cell.Spec) {
			s.Moved = map[cell.ID]cell.Home{{Index: 3}: {URL: "postgres://db9/a", Incarnation: 2},
				{Index: 1}: {URL: "postgres://db9/b?passfile=canary", Incarnation: 2}}
		}), []string{"cell g0-1 moved to postgres://db9/b", "cell g0-3 moved to postgres://db9/a"}},
		{spread(t, nil), spread(t, nil), nil},
	} {
		if diff := cmp.Diff(c.want, mapChanges(c.before, c.m)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestSplitURLs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"postgres://db1/x":                                 {"postgres://db1/x"},
		"postgres://db1/x,postgres://db2/x":                {"postgres://db1/x", "postgres://db2/x"},
		"postgres://a:1,b:2/x,postgresql://c/x,sqlite:y,z": {"postgres://a:1,b:2/x", "postgresql://c/x", "sqlite:y,z"},
		"postgres:///x?host=/a,/b,sqlite:/g{g}":            {"postgres:///x?host=/a,/b", "sqlite:/g{g}"},
	} {
		if got := splitURLs(text); !slices.Equal(got, want) {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestMoveLine(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]cell.MoveProgress{
		"copied 12,000 rows, now of record": {Step: "copy", Table: "record", Rows: 12000},
		"copied 3 rows":                     {Step: "copy", Rows: 3},
		"followed 7 changes":                {Step: "follow", Followed: 7},
		"switching: writers wait":           {Step: "switch"},
		"":                                  {Step: "done"},
	} {
		if got := moveLine(&p); got != want {
			t.Errorf("%+v: %q", p, got)
		}
	}
}

func TestStanding(t *testing.T) {
	t.Parallel()
	m := spread(t, nil)
	if got, want := standing(m, where{shared: true}, &serving{}), "16 cells of PostgreSQL on 3 servers, durable   epoch 7, covers ids until 2026-11-20T16:00:00Z"; got != want {
		t.Errorf("%s", got)
	}
	if got := standing(m, where{shared: true, unsafe: true}, &serving{}); !strings.Contains(got, "NOT durable") {
		t.Errorf("%s", got)
	}
	if got := (where{shared: true, place: "postgres://u:canary@db1/x,postgres://db2/x?password=canary"}).String(); strings.Contains(got, "canary") || !strings.Contains(got, "db2") {
		t.Errorf("%s", got)
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	var out, talk strings.Builder
	a := &app{stdout: &out, stderr: &talk, json: true}
	if err := a.summary(json.RawMessage(`{"type":"result","epoch":7}`), "unused"); err != nil || out.String() != `{"type":"summary","epoch":7}`+"\n" || talk.Len() > 0 {
		t.Errorf("%q, %v", out.String(), err)
	}
}
