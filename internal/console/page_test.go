// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// hostile are texts in records that try to break a page.
var hostile = []string{
	`<img src=x onerror=alert(1)>`,
	`<svg onload=alert(1)>`,
	`</script><script>alert(1)</script>`,
	`</title></textarea><b>`,
	`"' onmouseover=alert(1) x='`,
	"javascript:alert(1)",
	"\u202egnp.exe",
	"{{.}} ${x} `x`",
	"a & b < c",
}

func newMap(t testing.TB, cells uint64) *cell.Map {
	t.Helper()
	m, err := cell.NewMap(cell.Spec{Generations: []cell.Generation{{Cells: cells}}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// newGrown returns a map of generations with these counts; the last is announced for an hour after noon.
func newGrown(t testing.TB, floor int, counts ...uint64) *cell.Map {
	t.Helper()
	spec := cell.Spec{ID: "0123456789abcdef0123456789abcdef", Epoch: 9, Current: len(counts) - 2, Floor: floor,
		Until: noon.Add(2 * time.Hour)}
	for i, n := range counts {
		g := cell.Generation{Cells: n, Starts: noon.AddDate(0, 0, 30*(i-spec.Current)-1),
			URLs: []string{"postgres://locus@db1/g{g}_{i}?sslpassword=hush"}}
		if i > spec.Current {
			g.Starts = noon.Add(time.Hour)
		}
		spec.Generations = append(spec.Generations, g)
	}
	m, err := cell.NewMap(spec)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ringOf returns the page of a map with all cells in their expected states and 1000 records each.
func ringOf(m *cell.Map) console.Ring {
	r := console.Ring{Time: noon, Map: m, Status: &cells.Status{Ready: true, Epoch: m.Epoch(), Generation: m.Current()}}
	for _, c := range m.Cells() {
		s := cells.CellStatus{Stats: cell.Stats{Cell: c, PUIDs: 1000, PUIDRoom: 1<<32 - 1,
			Head: cell.Head{Incarnation: 1, KnownEpoch: 9}}}
		switch gen := int(c.Gen); {
		case gen < m.Floor():
			s.Head.Keys = cell.Retired
		case gen < m.Current():
			s.Head.Keys, s.Filter = cell.Sealed, true
		case gen > m.Current():
			s.PUIDs = 0
		}
		s.Counts.Records = int64(s.PUIDs)
		r.Status.Counts = r.Status.Counts.Add(s.Counts)
		r.Status.Cells = append(r.Status.Cells, s)
	}
	return r
}

func snapshot(t testing.TB, n uint64, records int64) console.Snapshot {
	t.Helper()
	s := console.Snapshot{
		Time:    noon,
		Map:     newMap(t, n),
		Status:  &cells.Status{Ready: true, Kinds: []cells.KindStatus{{Kind: "place", Version: 1}}, Epoch: 1},
		History: &console.History{},
	}
	s.Status.Counts = entity.Counts{Records: records, Entities: records / 2, Merges: records / 4}
	for _, c := range s.Map.Cells() {
		s.Status.Cells = append(s.Status.Cells, cells.CellStatus{
			Stats:  cell.Stats{Cell: c, PUIDs: 12, PUIDRoom: 1 << 32, Bytes: 40960},
			Counts: entity.Counts{Records: records / int64(n)},
		})
	}
	return s
}

// id returns a valid entity id that differs for each n.
func id(t testing.TB, n int) locality.ID {
	t.Helper()
	parsed, err := locality.Parse(fmt.Sprintf("80e51ef9-7a7f-bd53-7a50-01a1f866%04x", n))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// why returns the explanation of an entity with one record per name, each joined to the first.
func why(t testing.TB, names ...string) *explain.Explanation {
	t.Helper()
	w := &explain.Explanation{Requested: id(t, 1), Threshold: match.Threshold, Entity: &entity.Entity{ID: id(t, 1)}}
	merged := entity.MergedAttribute{Name: "name"}
	for i, name := range names {
		ref := entity.Ref{Source: "pos", Key: name}
		w.Entity.Members = append(w.Entity.Members, entity.Member{PUID: entity.PUID(i + 1), Ref: ref, Version: 1})
		w.Records = append(w.Records, &entity.Record{
			PUID: entity.PUID(i + 1), Ref: ref, Version: 1, Observed: noon,
			Attributes: entity.Attributes{"name": {name}, "websites": {name}},
		})
		merged.Values = append(merged.Values, entity.MergedValue{Value: name, Members: []int{i}})
		if i > 0 {
			first := w.Entity.Members[0].Ref
			w.Joins = append(w.Joins, explain.Join{A: first, B: ref, Explanation: match.Explanation{
				Outcome: match.Same, Weight: 1550,
				Lines: []match.Line{
					{Attribute: "name", Level: "alike", Weight: 650, A: []string{names[0]}, B: []string{name}},
					{Attribute: "phone", Level: "equal", Weight: 900, A: []string{"1"}, B: []string{"1"}},
				},
				BlockingKeys: []match.SharedKey{{Kind: match.KeyPhone, Text: name}},
			}})
		}
	}
	w.Entity.View = entity.View{merged}
	return w
}

// renderings are all pages, each with every text from outside set to s.
func renderings(t testing.TB, s string) map[string]func(io.Writer) error {
	t.Helper()
	c := console.New("1.2.3")
	home := snapshot(t, 16, 1000)
	home.Status.Reason, home.Status.Ready, home.Status.Kinds[0].Kind = s, false, s
	home.Joins = []changes.Match{{Time: noon, Record: entity.Ref{Source: "pos", Key: s}, Name: s, Entity: id(t, 1)}}
	explained := why(t, s, s+" 2")
	explained.Requested = id(t, 2)
	ring := ringOf(newGrown(t, 1, 4, 8, 16, 32))
	ring.Address, ring.Problem, ring.Status.Reason, ring.Status.Ready = "pos:"+s, s, s, false
	key := cell.NewRouter(ring.Map).ExplainKey("pos", s)
	key.Saw(2, cell.Open, cell.AnswerFound)
	ring.Route = &explain.Route{Address: ring.Address, Key: &key, Found: true}
	lost := ring
	lost.Address, lost.Route = s, nil
	all := map[string]func(io.Writer) error{
		"operations":        func(w io.Writer) error { return c.Operations(w, home) },
		"operations, empty": func(w io.Writer) error { return c.Operations(w, snapshot(t, 1, 0)) },
		"home":              func(w io.Writer) error { return c.Home(w, homeOf(t, s)) },
		"home, empty":       func(w io.Writer) error { return c.Home(w, console.Home{Time: noon, Status: snapshot(t, 1, 0).Status}) },
		"entity": func(w io.Writer) error {
			return c.Entity(w, console.Entity{Why: explained, Schema: match.Place(), Home: "g0-8", RecordPath: recordPath})
		},
		"ring":         func(w io.Writer) error { return c.Ring(w, ring) },
		"ring, no way": func(w io.Writer) error { return c.Ring(w, lost) },
		"ring of one": func(w io.Writer) error {
			return c.Ring(w, console.Ring{Time: noon, Map: home.Map, Status: home.Status, Problem: s})
		},
		"search": func(w io.Writer) error {
			return c.Search(w, console.Search{
				Name: s, Attribute: "name", Value: s, Schema: match.Place(), Cursor: s, Further: true,
				Found: []*entities.Result{
					{Entity: explained.Entity},
					{Entity: explained.Entity, Edits: 1, Corrections: []entities.Correction{{Word: s, As: s}}},
				},
			})
		},
		"search refused": func(w io.Writer) error {
			return c.Search(w, console.Search{Name: s, Schema: match.Place(), Problem: s})
		},
		"notice": func(w io.Writer) error {
			return c.Notice(w, console.Notice{Title: "Not found", Text: "Nothing.", Hint: "Search.",
				Command: []string{"locus", "route", s}, Asked: s})
		},
	}
	maps.Copy(all, rollupRenderings(t, c, s))
	maps.Copy(all, streamRenderings(c, s))
	maps.Copy(all, counterRenderings(c, s))
	maps.Copy(all, reviewRenderings(t, c, s))
	return all
}

func render(t testing.TB, page func(io.Writer) error) *html.Node {
	t.Helper()
	var b bytes.Buffer
	if err := page(&b); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// elements walks through everything in a page.
func elements(root *html.Node, visit func(*html.Node)) {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			visit(n)
		}
	}
}

func attribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func byID(t testing.TB, root *html.Node, id string) *html.Node {
	t.Helper()
	var found *html.Node
	elements(root, func(n *html.Node) {
		if v, ok := attribute(n, "id"); ok && v == id {
			found = n
		}
	})
	if found == nil {
		t.Fatalf("the page has no element with id %q", id)
	}
	return found
}

// allowed are the HTML elements of pages: none of them can come from a record.
var allowed = map[string]bool{}

func init() {
	for e := range strings.FieldsSeq(`html head meta title link script body header main footer nav section article div p span a b h1 h2 h3
		small ul ol li form input select option label button table thead tbody tfoot tr th td code bdi time template noscript svg g path
		circle rect text defs radialGradient stop pattern details summary pre picture source img kbd progress`) {
		allowed[e] = true
	}
}

func TestPages_KeepThePolicyWhateverRecordsSay(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for _, s := range append([]string{"Joe's"}, hostile...) {
		for name, page := range renderings(t, s) {
			root := render(t, page)
			elements(root, func(n *html.Node) {
				if !allowed[n.Data] {
					t.Errorf("%s with %q: element <%s>", name, s, n.Data)
				}
				for _, a := range n.Attr {
					if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcdoc" {
						t.Errorf("%s with %q: attribute %s of <%s>", name, s, a.Key, n.Data)
					}
					if (a.Key == "href" || a.Key == "src" || a.Key == "action") && !strings.HasPrefix(a.Val, "/") &&
						!strings.HasPrefix(a.Val, "#") || strings.HasPrefix(a.Val, "//") {
						t.Errorf("%s with %q: %s leads to %q", name, s, a.Key, a.Val)
					}
				}
				if n.Data == "img" || n.Data == "source" {
					src, _ := attribute(n, "src")
					if set, ok := attribute(n, "srcset"); ok {
						src = set
					}
					if !strings.HasPrefix(src, "/counters/picture?") || strings.ContainsAny(src, ", ") {
						t.Errorf("%s with %q: a picture of %q", name, s, src)
					}
				}
				if _, ok := attribute(n, "src"); n.Data == "script" && (!ok || n.FirstChild != nil) {
					t.Errorf("%s with %q: an inline script", name, s)
				}
			})
		}
	}
}

func TestPages_ShowHostileTextAsIs(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for _, s := range hostile {
		for name, page := range renderings(t, s) {
			if strings.HasSuffix(name, "empty") {
				continue
			}
			isolated := false
			elements(render(t, page), func(n *html.Node) {
				isolated = isolated || n.Data == "bdi" && strings.Contains(text(n), s)
			})
			if !isolated {
				t.Errorf("%s does not show %q inside <bdi>", name, s)
			}
		}
	}
}

func TestPages_IdsAreUniqueAndLinksWithinAPageLeadSomewhere(t *testing.T) {
	t.Parallel()
	for name, page := range renderings(t, "Joe's") {
		root := render(t, page)
		ids := map[string]int{}
		elements(root, func(n *html.Node) {
			if v, ok := attribute(n, "id"); ok {
				ids[v]++
			}
		})
		for v, n := range ids {
			if n > 1 {
				t.Errorf("%s has %d elements with id %q", name, n, v)
			}
		}
		elements(root, func(n *html.Node) {
			for _, a := range []string{"href", "aria-labelledby", "for"} {
				v, ok := attribute(n, a)
				if a == "href" && !strings.HasPrefix(v, "#") {
					continue
				}
				if target := strings.TrimPrefix(v, "#"); ok && ids[target] == 0 {
					t.Errorf("%s: %s=%q leads nowhere", name, a, v)
				}
			}
		})
	}
}

func TestPages_FieldsAndPicturesHaveNames(t *testing.T) {
	t.Parallel()
	for name, page := range renderings(t, "Joe's") {
		elements(render(t, page), func(n *html.Node) {
			label, _ := attribute(n, "aria-label")
			_, hidden := attribute(n, "aria-hidden")
			switch n.Data {
			case "img":
				if alt, _ := attribute(n, "alt"); alt == "" {
					t.Errorf("%s: a picture without a text", name)
				}
			case "input", "select":
				if kind, _ := attribute(n, "type"); label == "" && n.Parent.Data != "label" && kind != "hidden" {
					t.Errorf("%s: a field without a label", name)
				}
			case "svg":
				if label == "" && !hidden {
					t.Errorf("%s: a picture without a name", name)
				}
			}
		})
	}
}

func TestRender_AnErrorWritesNothing(t *testing.T) {
	t.Parallel()
	full := fmt.Errorf("disk full")
	err := console.New("1").Notice(failing{full}, console.Notice{Title: "x"})
	if err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("err = %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
