// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/match"
)

// picture returns the attributes of the elements in the picture with a class.
func picture(root *html.Node, class, tag string) (all []map[string]string) {
	elements(root, func(n *html.Node) {
		if c, _ := attribute(n, "class"); n.Data != "svg" || c != class {
			return
		}
		elements(n, func(n *html.Node) {
			if n.Data == tag {
				values := map[string]string{}
				for _, a := range n.Attr {
					values[a.Key] = a.Val
				}
				all = append(all, values)
			}
		})
	})
	return all
}

func TestEntity_MapShowsWhereTheRecordsAre(t *testing.T) {
	t.Parallel()
	w := why(t, "A", "B", "C", "D", "E")
	at := func(i int, lat, lon string) {
		w.Records[i].Attributes["latitude"], w.Records[i].Attributes["longitude"] = []string{lat}, []string{lon}
	}
	at(0, "60", "10") // a degree of longitude is half a degree of latitude here
	at(1, "60", "10.02")
	at(2, "60.01", "10")
	at(3, "60", "10")
	at(4, "95", "10") // nowhere
	w.Entity.View = append(w.Entity.View,
		entity.MergedAttribute{Name: "latitude", Values: []entity.MergedValue{{Value: "60"}}},
		entity.MergedAttribute{Name: "longitude", Values: []entity.MergedValue{{Value: "10"}}})
	page := func(out io.Writer) error {
		return console.New("1").Entity(out, console.Entity{Why: w, Schema: match.Place(), RecordPath: recordPath})
	}
	root := render(t, page)
	circles := picture(root, "placemap", "circle")
	if len(circles) != 4 {
		t.Fatalf("%d circles: %v", len(circles), circles)
	}
	number := func(i int, name string) int {
		n, err := strconv.Atoi(circles[i][name])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	// The merged view, then A with D, B to the east and C to the north, as far from A as B.
	if number(0, "cx") != number(1, "cx") || number(0, "cy") != number(1, "cy") {
		t.Errorf("the merged view is not at A: %v", circles)
	}
	east, north := number(2, "cx")-number(1, "cx"), number(1, "cy")-number(3, "cy")
	if east < 100 || north < 100 || number(2, "cy") != number(1, "cy") || number(3, "cx") != number(1, "cx") ||
		east-north > 2 || north-east > 2 {
		t.Errorf("B is %d to the east, C %d to the north: %v", east, north, circles)
	}
	said := said(t, page)
	for _, want := range []string{"up to 1.57 km apart", "1 record has no coordinates", "1 +1"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not say %q: %s", want, said)
		}
	}
	if len(picture(render(t, renderEntity(pizza(t))), "placemap", "circle")) != 0 {
		t.Error("records without coordinates have a map")
	}
}

func TestEntity_TimelineShowsHowManyRecords(t *testing.T) {
	t.Parallel()
	versions := func(n int) []changelog.Version { return make([]changelog.Version, n) }
	own := id(t, 1)
	event := func(minutes int, kind changelog.Kind, cause changelog.Cause, of, before, after int) changes.Change {
		return changes.Change{Change: changelog.Change{Time: noon.Add(time.Duration(minutes) * time.Minute), Kind: kind,
			Cause: cause, Entity: id(t, of), Before: versions(before), After: versions(after)}}
	}
	h := &explain.Lineage{Events: []changes.Change{
		event(0, changelog.Created, changelog.CausePut, 1, 0, 1),
		event(1, changelog.Put, changelog.CausePut, 1, 0, 1), // of a record
		event(60, changelog.Merged, changelog.CauseDecision, 1, 1, 4),
		event(60, changelog.Retired, changelog.CauseDecision, 2, 3, 0), // another entity
		event(90, changelog.Split, changelog.CausePut, 1, 4, 2),
	}}
	w := why(t, "A", "B")
	root := render(t, func(out io.Writer) error {
		return console.New("1").Entity(out, console.Entity{Why: w, Schema: match.Place(), RecordPath: recordPath, How: h})
	})
	if w.Entity.ID != own {
		t.Fatal("another entity")
	}
	points := picture(root, "timeline", "a")
	if len(points) != 3 || points[0]["href"] != "#event-4" || points[1]["href"] != "#event-2" ||
		points[1]["class"] != "decided" || points[2]["href"] != "#event-0" ||
		!strings.Contains(points[2]["aria-label"], "split, 2 records") {
		t.Errorf("points %v", points)
	}
	path := picture(root, "timeline", "path")[0]["d"]
	if want := "M24 86V71H369V24H616V55"; path != want {
		t.Errorf("path %s, want %s", path, want)
	}
}

// Without changes the page says how far back it has looked.
func TestEntity_NoChanges(t *testing.T) {
	t.Parallel()
	for want, h := range map[string]*explain.Lineage{
		"No changes in the log.":          {},
		"the command reads older ones":    {Since: noon},
		"Unavailable. Reload in a moment": nil,
	} {
		root := render(t, func(out io.Writer) error {
			return console.New("1").Entity(out, console.Entity{Why: why(t, "A"), Schema: match.Place(), RecordPath: recordPath, How: h})
		})
		if got := text(byID(t, root, "history").Parent); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// An entity of many records is rows in a part that scrolls, with all links of fewer records.
func TestEntity_ManyRecordsAreRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ records, rows int }{{12, 0}, {13, 13}, {200, 200}, {600, 500}} {
		names := make([]string, c.records)
		for i := range names {
			names[i] = fmt.Sprint("Chain ", i%7)
		}
		root := render(t, renderEntity(why(t, names...)))
		rows := max(0, len(table(t, root, "side down"))-1)
		if rows != c.rows {
			t.Errorf("%d records are %d rows", c.records, rows)
		}
		if columns := table(t, root, "side"); (len(columns) > 0) != (c.rows == 0) {
			t.Errorf("%d records are columns too", c.records)
		}
		if c.rows > 0 {
			if row := table(t, root, "side down")[2]; row[0] != "2 pos2" && !strings.HasPrefix(row[0], "2 ") || !strings.Contains(row[1], "Chain 1") || row[len(row)-1] != "split it off" {
				t.Errorf("row %q", row)
			}
		}
		if c.records > c.rows && c.rows > 0 && !strings.Contains(text(root), "100 more records") {
			t.Error("it is not said how many are left out")
		}
	}
}

func TestWhatIf_SaysWhichValuesChange(t *testing.T) {
	t.Parallel()
	view := func(name, city string) entity.View {
		v := entity.View{{Name: "name", Values: []entity.MergedValue{{Value: name}}}}
		if city != "" {
			v = append(v, entity.MergedAttribute{Name: "city", Values: []entity.MergedValue{{Value: city}}})
		}
		return v
	}
	w := pizza(t)
	page := func(question string) func(io.Writer) error {
		return func(out io.Writer) error {
			return console.New("1").WhatIf(out, console.WhatIf{Entity: w.Entity, Question: question, Address: "pos:<1>", Attribute: "name", Scenario: &explain.ScenarioResult{
				Before: []explain.ScenarioEntity{{ID: id(t, 1), Records: []entity.Ref{{Source: "pos", Key: "1"}},
					View: view("Joe's", "Oakland")}},
				After: []explain.ScenarioEntity{{ID: id(t, 1), Records: []entity.Ref{{Source: "pos", Key: "1"}},
					View: view("Joe", "")}},
			}})
		}
	}
	got := said(t, page(console.Pin))
	for _, want := range []string{"If name were pos:<1>", "Now Joe's 1 record", "name: Joe's", "city: Oakland", "name: Joecity: none", "Pin value"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not say %q: %s", want, got)
		}
	}
	for question, want := range map[string]string{console.Pin: "value|", console.Anchor: "anchor|"} {
		fields := forms(render(t, page(question)))["post /decisions"]
		if fields["verdict"]+"|" != want || fields["back"] != "/entities/"+id(t, 1).String() || question == console.Pin &&
			(fields["value"] != "pos:<1>" || fields["attribute"] != "name") || question == console.Anchor &&
			fields["a"] != "pos:<1>" {
			t.Errorf("%s: %v", question, fields)
		}
	}
}
