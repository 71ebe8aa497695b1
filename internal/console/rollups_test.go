// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
)

// statusOf returns a rollup that follows in so many cells, spread over so many processes.
func statusOf(cells, owners int) *rollups.Status {
	s := &rollups.Status{
		Name: "pets_by_tag", State: rollups.Following, Generation: 7, Groups: 12, Lag: 3 * time.Millisecond, Verified: noon,
		Watermark: changelog.Watermark{},
		Definition: rollup.Definition{
			Name: "pets_by_tag", Kind: "animal", Over: rollup.Entities, Group: []string{"tags"}, Dimension: "location",
			Measures: []rollup.Measure{{Name: "pets", Func: rollup.Count},
				{Name: "weight", Func: rollup.Sum, Attribute: "weight_g"},
				{Name: "breeds", Func: rollup.Distinct, Attribute: "breed"}},
		},
	}
	for i := range cells {
		c := rollups.Cell{
			Cell: cell.ID{Index: uint32(i)}, State: rollup.Following, Watermark: 17, Last: 17, Groups: 12,
			Owner: fmt.Sprint("server-", i%owners), Token: int64(i + 1), Verified: noon,
		}
		s.Watermark[c.Cell] = c.Watermark
		s.Cells = append(s.Cells, c)
	}
	return s
}

// petsOf returns a group with so many pets at each location; each weighs a thousand.
func petsOf(d *rollup.Definition, group []string, at map[string]int64) rollup.Group {
	values := func(n int64) rollup.Values {
		vs := make(rollup.Values, len(d.Measures))
		for i, m := range d.Measures {
			vs[i] = rollup.Value{Measure: &m, N: n, Number: n * 1000, Sum: rollup.NewInt128(n * 1000), List: []int64{n},
				None: n == 0}
		}
		return vs
	}
	g, total := rollup.Group{Group: group}, int64(0)
	for _, where := range []string{"", "backyard", "frontyard", "house", "l1", "l2", "l3", "l4", "l5"} {
		if n, ok := at[where]; ok {
			g.By = append(g.By, rollup.Slot{Value: where, Values: values(n)})
			total += n
		}
	}
	g.Total = values(total)
	return g
}

func named(s *rollups.Status, name string) rollups.Status {
	other := *s
	other.Name = name
	return other
}

func answerOf(s *rollups.Status, groups ...rollup.Group) *rollups.Answer {
	return &rollups.Answer{
		Name: s.Name, Definition: s.Definition, Groups: groups, Watermark: s.Watermark, AsOf: noon, Generation: s.Generation,
		State: s.State,
	}
}

// rollupRenderings returns rollup pages with every external text set to s.
func rollupRenderings(t testing.TB, c *console.Console, s string) map[string]func(io.Writer) error {
	t.Helper()
	hostile := statusOf(3, 2)
	hostile.State, hostile.Cells[0].Owner, hostile.Cells[1].State, hostile.Cells[1].Reason = rollups.Failed, s, rollup.Failed, s
	hostile.Definition.Where = []rollup.Condition{{Attribute: "species", Values: []string{s, "cat"}}}
	hostile.Definition.Group = []string{"tags", "species"}
	group := petsOf(&hostile.Definition, []string{s, s}, map[string]int64{"": 1, "house": 2})
	group.By[1].Value, group.Skipped = s, 3
	image := &changelog.Image{Attributes: entity.Attributes{"name": {s}}}
	effect := rollups.CellEffect{Effect: rollup.Effect{
		Change: changelog.Change{Seq: 9, Time: noon, Kind: changelog.Changed, Entity: id(t, 1), Was: image, Is: image},
		Before: []string{s}, After: []string{""},
	}}
	list := answerOf(hostile, group)
	list.Next, list.Missing = []string{s, s}, []cell.ID{{}}
	building := statusOf(1, 1)
	building.State, building.Generation, building.Building, building.Cells[0].State, building.Cells[0].Owner = rollups.Building, 0, 3, rollup.Building, s
	many := statusOf(300, 40)
	many.Cells[299] = rollups.Cell{Cell: many.Cells[299].Cell, Reason: s}
	return map[string]func(io.Writer) error{
		"rollups": func(w io.Writer) error {
			return c.Rollups(w, console.Rollups{Time: noon,
				Rollups: []rollups.Status{*hostile, named(building, "other"), named(many, "third")}, Schema: match.Place()})
		},
		"rollups, empty": func(w io.Writer) error { return c.Rollups(w, console.Rollups{Time: noon, Schema: match.Place()}) },
		"rollup, largest": func(w io.Writer) error {
			return c.Rollup(w, console.Rollup{Time: noon, Status: hostile, Answer: list, By: "pets"})
		},
		"rollup, by name": func(w io.Writer) error {
			return c.Rollup(w, console.Rollup{Time: noon, Status: hostile, Answer: list, After: []string{s, s}})
		},
		"rollup, building": func(w io.Writer) error { return c.Rollup(w, console.Rollup{Time: noon, Status: building, Problem: s}) },
		"rollup of many":   func(w io.Writer) error { return c.Rollup(w, console.Rollup{Time: noon, Status: many, Problem: s}) },
		"group": func(w io.Writer) error {
			return c.Rollup(w, console.Rollup{Time: noon, Status: hostile, Answer: list, Group: []string{s, s},
				Effects: []rollups.CellEffect{effect}})
		},
		"group, nothing": func(w io.Writer) error {
			return c.Rollup(w, console.Rollup{Time: noon, Status: hostile, Group: []string{s, s}, Unexplained: s})
		},
	}
}

// The one process of a data directory has a name in the leases that says nothing to people.
func TestRollups_FollowedByThisServer(t *testing.T) {
	t.Parallel()
	s := statusOf(1, 1)
	s.Cells[0].Owner = "alone"
	root := render(t, func(w io.Writer) error {
		return console.New("").Rollups(w, console.Rollups{Time: noon, Rollups: []rollups.Status{*s}})
	})
	if list := text(byID(t, root, "rollups")); !strings.Contains(list, "followed by this server") {
		t.Error(list)
	}
}

func TestRollups_StatesOfCells(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cells, owners, dots, shares int
		says                        []string
	}{
		{1, 1, 1, 0, []string{"followed by server-0", "1 cell: 1 following; token 1"}},
		{16, 3, 16, 0, []string{"6 cells: 6 following; tokens 1 to 16", "followed by server-2"}},
		{64, 1, 64, 0, []string{"64 cells: 64 following"}},
		{300, 7, 0, 7, []string{"43 cells: 43 following; tokens 1 to 295"}},
		{300, 40, 0, 24, []string{"16 more processes."}},
	} {
		root := render(t, func(w io.Writer) error {
			return console.New("").Rollups(w,
				console.Rollups{Time: noon, Rollups: []rollups.Status{*statusOf(c.cells, c.owners)}})
		})
		list := byID(t, root, "rollups")
		if dots, shares := carrying(list, "lamp"), carrying(list, "shares"); dots != c.dots || shares != c.shares {
			t.Errorf("%d cells of %d owners: %d dots, %d bars", c.cells, c.owners, dots, shares)
		}
		for _, want := range c.says {
			if said := strings.Join(strings.Fields(text(list)), " "); !strings.Contains(said, want) {
				t.Errorf("%d cells of %d owners: no %q in %q", c.cells, c.owners, want, said)
			}
		}
	}
	s := statusOf(9, 1)
	for i := range 7 {
		s.Cells[i].State, s.Cells[i].Reason = rollup.Failed, fmt.Sprint("reason ", i/2)
	}
	s.Cells[7] = rollups.Cell{Cell: s.Cells[7].Cell, Reason: "the cell is unavailable"}
	s.Cells[8] = rollups.Cell{Cell: s.Cells[8].Cell}
	root := renderRollup(t, console.Rollup{Status: s})
	for class, want := range map[string]int{"failed": 7, "silent": 1, "filling": 1} {
		if got := carrying(byID(t, root, "followers"), "lamp", class); got != want {
			t.Errorf("%d cells are %s, want %d", got, class, want)
		}
	}
	problems := text(byID(t, root, "problems"))
	if !strings.Contains(problems, "g0-0 and 1 more: reason 0") ||
		!strings.Contains(problems, "g0-7: the cell is unavailable") {
		t.Errorf("problems: %q", problems)
	}
	if got := row(t, root, "g0-7"); strings.Join(got[:6], "|") != "g0-7|unavailable|–|–|–|–" {
		t.Errorf("the line of a silent cell: %q", got)
	}
}

func TestRollups_ExampleFitsTheKind(t *testing.T) {
	t.Parallel()
	for want, schema := range map[string]*match.Schema{
		"rollup: place_by_category\nkind: place\ngroup: category\ndimension: region\nmeasures: { number: count }": match.Place(),
		"rollup: animal_by_colour\nkind: animal\ngroup: colour\nmeasures: { number: count }":                      {Kind: "animal", Attributes: []match.Attribute{{Name: "name"}, {Name: "colour", Dimension: true}}},
		"rollup: x_by_source\nkind: x\ngroup: source\nmeasures: { number: count }": {Kind: "x",
			Attributes: []match.Attribute{{Name: "name"}}},
	} {
		root := render(t, func(w io.Writer) error {
			return console.New("").Rollups(w, console.Rollups{Time: noon, Schema: schema})
		})
		shown := ""
		elements(root, func(n *html.Node) {
			if n.Data == "pre" {
				shown = text(n)
			}
		})
		body, ok := strings.CutPrefix(strings.TrimSuffix(shown, "\nEND"), "locus rollup define - <<'END'\n")
		if body != want || !ok {
			t.Errorf("the example is %q, want %q", shown, want)
		}
		d, err := rollup.Parse([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		kind := rollup.Kind{Name: schema.Kind, Many: map[string]bool{}}
		for _, a := range schema.Attributes {
			kind.Many[a.Name] = a.Many
		}
		if _, err := d.Check(kind); err != nil {
			t.Errorf("the example is not valid: %v", err)
		}
	}
}
