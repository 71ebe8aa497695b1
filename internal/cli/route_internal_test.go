// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/locality"
)

// grown returns a map with every kind of generation: retired, older, current, announced.
func grown(t *testing.T) *cell.Map {
	t.Helper()
	day := func(d int) time.Time { return time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC) }
	return newMap(t, cell.Spec{ID: "test", Epoch: 9, Current: 2, Floor: 0, Until: day(30), Generations: []cell.Generation{
		{Cells: 4, Starts: day(1), URLs: []string{"sqlite:g{g}-{i}.db"}},
		{Cells: 8, Starts: day(8), URLs: []string{"sqlite:g{g}-{i}.db"}},
		{Cells: 48, Starts: day(15), URLs: []string{"sqlite:g{g}-{i}.db"}},
		{Cells: 96, Starts: day(29), URLs: []string{"sqlite:g{g}-{i}.db"}},
	}})
}

// found returns the route of a key of generation 1 that a filter shortened.
func found(m *cell.Map, answers ...cell.Answer) *walked {
	key := cell.NewRouter(m).ExplainKey("vendor", "88231")
	states := []cell.KeyState{cell.Open, cell.Sealed, cell.Sealed}
	for i, answer := range answers {
		key.Saw(2-i, states[i], answer)
	}
	if len(answers) > 0 {
		key.TookMS = 0.42
	}
	return &walked{Route: explain.Route{Address: "vendor:88231", Key: &key}, took: 1500 * time.Microsecond}
}

func TestRoute_Text(t *testing.T) {
	t.Parallel()
	m := grown(t)
	home := cell.ID{Gen: 1, Index: 4}
	lo, hi := m.PuidRange(home)
	puid, id := entity.PUID(lo+1), locality.MustParse("80e51ef9-7a7f-bd53-7a50-01a1f8660d00")
	router := cell.NewRouter(m)
	byPuid, err := router.ExplainPuid(int64(puid))
	if err != nil {
		t.Fatal(err)
	}
	byID, err := router.ExplainEntity(id)
	if err != nil {
		t.Fatal(err)
	}
	nowhere, _ := router.ExplainPuid(hi + 1<<40)
	has := func(w *walked) *walked {
		w.Found, w.Record, w.Entity, w.record, w.entity = true, &puid, &id, &home, &byID.Cell
		return w
	}
	computed := []string{
		fmt.Sprintf("puid    %-36v   computed: cell g1-4", puid),
		"entity  80e51ef9-7a7f-bd53-7a50-01a1f8660d00   computed: cell g2-24",
	}
	for name, c := range map[string]struct {
		w    *walked
		want []string
	}{
		"key that two probes found": {has(found(m, cell.AnswerNo, cell.AnswerFound)), append([]string{
			"key     hash 0x80e51c93   cell g2-24: no   cell g1-4: yes   2 probes, 0.4 ms",
		}, computed...)},
		"key that a filter shortened": {has(found(m, cell.AnswerNo, cell.AnswerFilterNo, cell.AnswerFound)), append([]string{
			"key     hash 0x80e51c93   cell g2-24: no   cell g1-4: filtered   cell g0-2: yes   2 probes, 1 saved by filters, 0.4 ms",
		}, computed...)},
		"key that was not asked for": {found(m),
			[]string{"key     hash 0x80e51c93   cell g2-24   cell g1-4   cell g0-2   3 probes, 1.5 ms"}},
		"key that may be anywhere": {found(m, cell.AnswerUnavailable),
			[]string{"key     hash 0x80e51c93   cell g2-24: unavailable   1 probe, 0.4 ms"}},
		"puid":                        {&walked{Route: explain.Route{PUID: &byPuid}}, []string{fmt.Sprintf("puid    %-36v   computed: cell g1-4 (its range lies 1 behind the start of the cell: generation 1)", puid)}},
		"puid of no cell":             {&walked{Route: explain.Route{PUID: &nowhere}}, []string{fmt.Sprintf("puid    %-36d   computed: no cell: its range is 257 after a start, but there are only 4 generations", nowhere.PUID)}},
		"id":                          {&walked{Route: explain.Route{ID: &byID}}, []string{"entity  80e51ef9-7a7f-bd53-7a50-01a1f8660d00   computed: cell g2-24 (generation 2 started at 2026-11-15T00:00:00.000Z, the next at 2026-11-29T00:00:00.000Z)"}},
		"record without a known cell": {&walked{Route: explain.Route{ID: &byID, Record: &puid}}, []string{"entity  80e51ef9-7a7f-bd53-7a50-01a1f8660d00   computed: cell g2-24 (generation 2 started at 2026-11-15T00:00:00.000Z, the next at 2026-11-29T00:00:00.000Z)", fmt.Sprintf("puid    %-36v   computed", puid)}},
	} {
		got := strings.Split(strings.TrimSuffix(c.w.text(), "\n"), "\n")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// status returns the status of the cells of a map with 1,000 records each.
func status(m *cell.Map) map[cell.ID]cells.CellStatus {
	known := map[cell.ID]cells.CellStatus{}
	for _, c := range m.Cells() {
		s := cells.CellStatus{Stats: cell.Stats{Cell: c, PUIDs: 1000, PUIDRoom: 1<<32 - 1}}
		s.Counts.Records = 1000
		if int(c.Gen) < m.Current() {
			s.Head.Keys, s.Filter = cell.Sealed, true
		}
		known[c] = s
	}
	delete(known, cell.ID{Gen: 3, Index: 48})
	return known
}

func TestRoute_ExplainsAKey(t *testing.T) {
	t.Parallel()
	m := grown(t)
	w := found(m, cell.AnswerNo, cell.AnswerFilterNo, cell.AnswerFound)
	w.Address = "vendor:88231\x1b"
	g := newGuide(status(m), term.Style{})
	g.key(w)
	want := strings.Join([]string{
		`key      vendor:88231\x1b`,
		`hash     0x80e51c93a7da3c31   XXH64 of source and key`,
		`place    0x80e51c93   the upper half of the hash, 50.35 % of the turn`,
		``,
		`      0               2^30            2^31            3*2^30          2^32`,
		`g0    |---------------|---------------|###############|---------------| 4 cells`,
		`g1    |-------|-------|-------|-------|#######|-------|-------|-------| 8 cells`,
		`g2    --------------------------------##------------------------------| 48 cells`,
		`g3    --------------------------------#-------------------------------| 96 cells`,
		`                                      ^`,
		``,
	}, "\n")
	got := g.String()
	if !strings.HasPrefix(got, want) {
		t.Errorf("-want +got:\n%s", cmp.Diff(want, got))
	}
	for _, line := range []string{
		"g0-2   older       2026-11-01T00:00:00.000Z  sealed, filter  0x80000000 to 0xbfffffff",
		"g2-24  current     2026-11-15T00:00:00.000Z  open            0x80000000 to 0x85555555",
		"1,000  1,000  0.000023 %",
		"g3-48  announced   2026-11-29T00:00:00.000Z  ?               0x80000000 to 0x82aaaaaa",
		"    1  g2-24  open    no              generation 2 is current: it takes new keys",
		"    2  g1-4   sealed  filter says no  older generation 1 may hold it",
		"    3  g0-2   sealed  found           older generation 0 may hold it",
		"cost     2 probes, 1 saved by filters of 3 directories, 0.4 ms",
		"new ids  0x80800000 to 0x80ffffff, dated from 2026-11-15T00:00:00.000Z until 2026-11-29T00:00:00.000Z: beside the key",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
}

func TestRoute_ExplainsAPuid(t *testing.T) {
	t.Parallel()
	m := grown(t)
	lo, _ := m.PuidRange(cell.ID{Gen: 1, Index: 5})
	route, err := cell.NewRouter(m).ExplainPuid(lo + 7)
	if err != nil {
		t.Fatal(err)
	}
	g := newGuide(status(m), term.Style{})
	g.puid(&route)
	want := strings.Join([]string{
		"puid     2305843013508661255",
		"range    2,684,354,561   its upper half, counted from the lowest puid",
		"start    2,684,354,560   of finest segment 60; the range lies 1 behind",
		"",
		"g0    [ ] nobody's   2305843009213693952 to 2305843013508661247",
		"g1       [#] g1-5   2305843013508661248 to 2305843017803628543",
		"g2          [=] g2-30   2305843017803628544 to 2305843022098595839",
		"g3             [=] g3-60   2305843022098595840 to 2305843026393563135",
		"",
		"lives in cell g1-5 (its range lies 1 behind the start of the cell: generation 1)",
		"cell     sealed, filter; records 1,000, puids allocated 1,000, full 0.000023 %",
		"",
	}, "\n")
	if diff := cmp.Diff(want, g.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRoute_ExplainsAnID(t *testing.T) {
	t.Parallel()
	m := grown(t)
	route, err := cell.NewRouter(m).ExplainEntity(locality.MustParse("ffffffff-7a7f-bd53-7a50-01a1f8660d00"))
	if err != nil {
		t.Fatal(err)
	}
	g := newGuide(nil, term.Style{})
	g.id(&route)
	for _, line := range []string{
		"time     2026-11-20T10:00:00.000Z   its last 48 bits",
		"g1    |-------|-------|-------|-------|-------|-------|-------|#######| 8 cells",
		"g3    ---------------------------------------------------------------#| 96 cells",
		"                                                                     ^\n",
		"lives in cell g2-47 (generation 2 started at",
	} {
		if !strings.Contains(g.String(), line) {
			t.Errorf("no line %q in\n%s", line, g.String())
		}
	}
}

// For any number of cells, a band has the same width and shows exactly the cell's segment.
func TestUnrolled(t *testing.T) {
	t.Parallel()
	for _, cells := range []uint64{1, 2, 3, 7, 16, 31, 32, 33, 64, 100, 4096} {
		m := oneGeneration(t, cells)
		for _, at := range []uint32{0, 1, 1 << 31, 0x80e51c93, 1<<32 - 1} {
			l := m.Layers(at)[0]
			got := unrolled(&l)
			own, ends := strings.Count(got, "#"), strings.Count(got, "|")
			if len(got) != bandColumns+1 || own == 0 || float64(own) > float64(bandColumns)/float64(cells)+2 {
				t.Errorf("%d cells at %d: %q", cells, at, got)
			}
			if want := int(cells) + 1; cells <= bandColumns/2 && ends != want || cells > bandColumns/2 && ends != 1 {
				t.Errorf("%d cells: %d ends in %q", cells, ends, got)
			}
		}
	}
}

func TestFullness(t *testing.T) {
	t.Parallel()
	for used, want := range map[uint64]string{0: "0.0 %", 1: "0.000000023 %", 1 << 31: "50.0 %", 1<<32 - 1: "100.0 %", 4294967: "0.100 %"} {
		if got := fullness(used, 1<<32-1); got != want {
			t.Errorf("%d: %s, want %s", used, got, want)
		}
	}
}
