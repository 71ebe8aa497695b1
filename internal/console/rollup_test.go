// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
)

func renderRollup(t testing.TB, r console.Rollup) *html.Node {
	t.Helper()
	r.Time = noon
	return render(t, func(w io.Writer) error { return console.New("1.2.3").Rollup(w, r) })
}

// lines are the lines of a table, cells apart by a bar.
func lines(table *html.Node) (all []string) {
	elements(table, func(n *html.Node) {
		if n.Data == "tr" {
			var cells []string
			for c := range n.ChildNodes() {
				if c.Type == html.ElementNode {
					cells = append(cells, text(c))
				}
			}
			all = append(all, strings.Join(cells, "|"))
		}
	})
	return all
}

func wantLines(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestRollup_ListsGroupsByTheDimension(t *testing.T) {
	t.Parallel()
	s := statusOf(2, 1)
	a := answerOf(s,
		petsOf(&s.Definition, []string{"mammal"}, map[string]int64{"house": 1_234_567_890_123_456, "backyard": 4}),
		petsOf(&s.Definition, []string{"none"}, map[string]int64{"": 2}))
	root := renderRollup(t, console.Rollup{Status: s, Answer: a, By: "pets"})
	wantLines(t, "largest", lines(byID(t, root, "groups")),
		"tags|pets|backyard|house|no location|weight",
		"mammal|1,234,567,890,123,460|4|1,234,567,890,123,456|0|1,234,567,890,123,460,000",
		"none|2|0|0|2|2,000")
	if note := text(byID(t, root, "left")); note != "Ordered by name, and on the page of a group, there is also breeds." {
		t.Errorf("it is not said what is left out: %q", note)
	}
	root = renderRollup(t, console.Rollup{Status: s, Answer: a})
	if got := lines(byID(t, root, "groups"))[2]; got != "none|2|0|0|2|2,000|2" {
		t.Errorf("by name: %q", got)
	}
	if mark := text(byID(t, root, "facts")); !strings.Contains(mark, "Watermark: g0-0:17,g0-1:17") {
		t.Errorf("facts %q", mark)
	}
}

func TestRollup_RareValuesShareAColumn(t *testing.T) {
	t.Parallel()
	s := statusOf(1, 1)
	s.Definition.Measures = append(s.Definition.Measures,
		rollup.Measure{Name: "mean", Func: rollup.Avg, Attribute: "weight_g"},
		rollup.Measure{Name: "most", Func: rollup.Max, Attribute: "weight_g"})
	group := petsOf(&s.Definition, []string{"mammal"},
		map[string]int64{"": 1, "backyard": 9, "house": 8, "l1": 7, "l2": 6, "l3": 5, "l4": 4, "l5": 3})
	for by, want := range map[string][]string{
		"pets": {"tags|pets|backyard|house|l1|l2|l3|l4|others|weight|mean", "mammal|43|9|8|7|6|5|4|4|43,000|1,000"},
		"weight": {"tags|weight|backyard|house|l1|l2|l3|l4|others|pets|mean",
			"mammal|43,000|9,000|8,000|7,000|6,000|5,000|4,000|4,000|43|1,000"},
		"mean": {"tags|mean|no location|backyard|house|l1|l2|l3|others|pets|weight"},
	} {
		got := lines(byID(t, renderRollup(t, console.Rollup{Status: s, Answer: answerOf(s, group), By: by}), "groups"))
		// all alike: it does not matter which ones have a column, but it does how much the others weigh
		if by == "mean" {
			if !strings.HasSuffix(got[1], "|1,000|43|43,000") {
				t.Errorf("the average of the others: %q", got[1])
			}
			continue
		}
		wantLines(t, by, got, want...)
	}
	s.Definition.Measures = []rollup.Measure{{Name: "most", Func: rollup.Max, Attribute: "weight_g"}}
	group = petsOf(&s.Definition, []string{"mammal"},
		map[string]int64{"": 1, "backyard": 9, "house": 8, "l1": 7, "l2": 6, "l3": 5, "l4": 4, "l5": 3})
	wantLines(t, "values that cannot be taken from their whole", lines(byID(t, renderRollup(t, console.Rollup{Status: s, Answer: answerOf(s, group)}), "groups")),
		"tags|most|backyard|house|l1|l2|l3|l4|others", "mammal|43,000|9,000|8,000|7,000|6,000|5,000|4,000|–")
}

func TestRollup_WithoutADimension(t *testing.T) {
	t.Parallel()
	s := statusOf(1, 1)
	s.Definition.Dimension, s.Definition.Group = "", []string{"tags", "species"}
	group := petsOf(&s.Definition, []string{"mammal", "cat"}, map[string]int64{"": 3})
	group.By = nil
	root := renderRollup(t, console.Rollup{Status: s, Answer: answerOf(s, group), By: "pets"})
	wantLines(t, "groups", lines(byID(t, root, "groups")), "tags|species|pets|weight", "mammal|cat|3|3,000")
	wantLines(t, "group", lines(byID(t, renderRollup(t, console.Rollup{Status: s, Answer: answerOf(s, group), Group: group.Group}), "group")),
		"|pets|weight|breeds", "total|3|3,000|3")
}

func TestRollup_Pages(t *testing.T) {
	t.Parallel()
	s := statusOf(1, 1)
	var groups []rollup.Group
	for i := range locus.MaxLimit {
		groups = append(groups, petsOf(&s.Definition, []string{fmt.Sprint("tag ", i)},
			map[string]int64{"house": int64(2000 - i)}))
	}
	links := func(r console.Rollup) string {
		r.Status = s
		var all []string
		root := renderRollup(t, r)
		elements(byID(t, root, "pager"), func(n *html.Node) {
			if href, ok := attribute(n, "href"); ok {
				all = append(all, text(n)+" "+href)
			}
		})
		return strings.Join(append(all, text(byID(t, root, "left"))), "; ")
	}
	whole, part := answerOf(s, groups...), answerOf(s, groups[:50]...)
	part.Next = []string{"a&b"}
	const kept = "Ordered by name, and on the page of a group, there is also breeds."
	for _, c := range []struct {
		page console.Rollup
		want string
	}{
		{console.Rollup{Answer: whole, By: "pets"}, "Next groups /rollups/pets_by_tag?by=pets&page=2; " + kept},
		{console.Rollup{Answer: whole, By: "pets", Page: 1},
			"First groups /rollups/pets_by_tag?by=pets; Next groups /rollups/pets_by_tag?by=pets&page=3; " + kept},
		{console.Rollup{Answer: whole, By: "pets", Page: 19},
			"First groups /rollups/pets_by_tag?by=pets; Only the 1,000 largest groups are listed. Order by name to see all."},
		{console.Rollup{Answer: whole, By: "pets", Page: 99},
			"First groups /rollups/pets_by_tag?by=pets; Only the 1,000 largest groups are listed. Order by name to see all."},
		{console.Rollup{Answer: part}, "Next groups /rollups/pets_by_tag?after=%5B%22a%5Cu0026b%22%5D&order=name; "},
		{console.Rollup{Answer: answerOf(s), After: []string{"z"}}, "First groups /rollups/pets_by_tag?order=name; "},
	} {
		if got := links(c.page); got != c.want {
			t.Errorf("page %d, %d groups: %q, want %q", c.page.Page, len(c.page.Answer.Groups), got, c.want)
		}
	}
	if after, ok := console.ParseAfter(`["a\u0026b"]`); !ok || len(after) != 1 || after[0] != "a&b" {
		t.Errorf("the link leads to %q, %v", after, ok)
	}
	for _, text := range []string{"", "a", "[]", "[1]", "{}", "null", `["a"`} {
		if after, ok := console.ParseAfter(text); ok {
			t.Errorf("%q is after %q", text, after)
		}
	}
}

func TestRollup_ExplainsAGroup(t *testing.T) {
	t.Parallel()
	s := statusOf(1, 1)
	at := noon
	effect := func(name string, before, after []string) rollups.CellEffect {
		at = at.Add(time.Second)
		return rollups.CellEffect{Effect: rollup.Effect{
			Change: changelog.Change{Seq: changelog.Seq(at.Unix()), Time: at, Kind: changelog.Changed, Entity: id(t, 1),
				Was: &changelog.Image{Attributes: entity.Attributes{"name": {name}}}},
			Before: before, After: after,
		}}
	}
	page := console.Rollup{Status: s, Group: []string{"mammal"}, Effects: []rollups.CellEffect{
		effect("Cat", nil, []string{"house"}), effect("Dog", []string{"house"}, []string{""}),
		effect("Bat", []string{""}, nil), effect("Cow", []string{"a"}, []string{"a"}),
	}}
	said := func(root *html.Node) (all []string) {
		elements(byID(t, root, "effects"), func(n *html.Node) {
			if n.Data == "li" {
				all = append(all, text(n.FirstChild))
			}
		})
		return all
	}
	wantLines(t, "with a dimension", said(renderRollup(t, page)),
		"Cow changed: a", "Bat removed: no location", "Dog moved: house → no location", "Cat added: house")
	s.Definition.Dimension = ""
	page.Effects = []rollups.CellEffect{effect("Cat", nil, []string{""}), effect("Bat", []string{""}, nil)}
	wantLines(t, "without one", said(renderRollup(t, page)), "Bat removed", "Cat added")
}
