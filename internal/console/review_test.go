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
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/review"
)

// twins returns a possible match, of an entity of two records and one of a single record; s is their text.
func twins(t testing.TB, s string) *console.Pair {
	t.Helper()
	a := &entity.Record{PUID: 1, Ref: entity.Ref{Source: "pos", Key: s}, Observed: noon, Attributes: entity.Attributes{
		"name": {s}, "phones": {"415-555-2300"}, "city": {"Springfield"}, "hours": {s}, "vintage": {s},
	}}
	b := &entity.Record{PUID: 2, Ref: entity.Ref{Source: "web", Key: s}, Observed: noon, Attributes: entity.Attributes{
		"name": {s + " Two"}, "phones": {"(415) 555-2300"}, "city": {"Springfield"},
	}}
	view := entity.View{{Name: "name", Values: []entity.MergedValue{{Value: s, Members: []int{0}}}}}
	return &console.Pair{
		A: a, B: b, Schema: match.Place(),
		EntityA: &entity.Entity{ID: id(t, 1), View: view, Members: []entity.Member{{PUID: 1, Ref: a.Ref}, {PUID: 3}}},
		EntityB: &entity.Entity{ID: id(t, 2), View: view, Members: []entity.Member{{PUID: 2, Ref: b.Ref}}},
		WhyNot: &explain.Comparison{A: a.Ref, B: b.Ref, Threshold: match.Threshold, Explanation: match.Explanation{
			Weight: 350, Lines: []match.Line{
				{Attribute: "name", Level: "alike", Weight: 650, A: []string{s}, B: []string{s + " Two"}},
				{Attribute: "phone", Level: "differ", Weight: -300, A: []string{s}, B: []string{s}},
			},
			BlockingKeys: []match.SharedKey{{Kind: match.KeyPhone, Text: s}},
		}},
	}
}

// queueOf is a queue of n pairs, the one of twins first.
func queueOf(t testing.TB, s string, n int) console.Review {
	t.Helper()
	pair := twins(t, s)
	r := console.Review{Pair: pair, Author: s}
	for i := range n {
		p := review.Pair{A: pair.A.Ref, B: pair.B.Ref, EntityA: id(t, 1), EntityB: id(t, 2),
			Explanation: pair.WhyNot.Explanation, Merges: 3}
		if i > 0 {
			p.B.Key = fmt.Sprint(s, i)
		}
		r.Pairs = append(r.Pairs, p)
	}
	return r
}

// decisionsOf are decisions of every verdict.
func decisionsOf(t testing.TB, s string) []decisions.Decided {
	t.Helper()
	made := func(verdict entity.Verdict) decisions.Decided {
		return decisions.Decided{
			Decision: entity.Decision{Verdict: verdict, A: 1, Author: s, Reason: s, At: noon},
			RefA:     entity.Ref{Source: "pos", Key: s}, EntityA: id(t, 1),
		}
	}
	alike, apart, anchor, value := made(entity.VerdictSame), made(entity.VerdictDifferent), made(entity.VerdictAnchor), made(entity.VerdictValue)
	alike.B, alike.RefB, alike.EntityB, alike.Pending = 2, entity.Ref{Source: "web", Key: s}, id(t, 1), true
	apart.By, anchor.By = s, "oidc:"+s
	apart.B, apart.Withdrawn = 7, true // with a record that was deleted
	anchor.Conflict = s
	value.Attribute, value.Value = "name", s
	return []decisions.Decided{alike, apart, anchor, value}
}

// howOf joins records one by one, the last by a decision, and rejects one more.
func howOf(own locality.ID, records []*entity.Record, s string) *explain.Lineage {
	h := &explain.Lineage{Component: len(records) + 1, Took: time.Millisecond}
	group := []entity.Ref{}
	for i, r := range records {
		if i > 0 {
			h.Steps = append(h.Steps, explain.Step{
				A: append([]entity.Ref{}, group...), B: []entity.Ref{r.Ref},
				Pair: explain.Join{A: records[0].Ref, B: r.Ref, Explanation: match.Explanation{Weight: 1550}},
				Sum:  1550, Absent: i - 1, Joined: true,
			})
			if i == len(records)-1 {
				h.Steps[i-1].Decided = &entity.Decision{Author: s, Reason: s}
			}
		}
		group = append(group, r.Ref)
	}
	other := entity.Ref{Source: "far", Key: s}
	h.Steps = append(h.Steps, explain.Step{
		A: group, B: []entity.Ref{other},
		Pair: explain.Join{A: group[0], B: other, Explanation: match.Explanation{Weight: 200}}, Sum: -300, Against: s,
	})
	h.Events = []changes.Change{
		{Change: changelog.Change{Time: noon, Kind: changelog.Created, Entity: own, After: []changelog.Version{{PUID: 1}}}},
		{Change: changelog.Change{Time: noon.Add(time.Second), Kind: changelog.Merged, Cause: changelog.CauseDecision,
			Entity: own, Before: []changelog.Version{{PUID: 1}}, After: []changelog.Version{{PUID: 1}, {PUID: 99}}}},
		{Change: changelog.Change{Time: noon.Add(2 * time.Second), Kind: changelog.Retired, Entity: locality.ID{0: 1},
			Into: own, Before: []changelog.Version{{PUID: 99}}}},
		{Change: changelog.Change{Time: noon.Add(3 * time.Second), Kind: changelog.Put, Entity: locality.ID{0: 2},
			After: []changelog.Version{{PUID: 2}}}},
	}
	h.Since = noon
	return h
}

// reviewRenderings returns the pages for decisions with every external text set to s.
func reviewRenderings(t testing.TB, c *console.Console, s string) map[string]func(io.Writer) error {
	t.Helper()
	answered := queueOf(t, s, 3)
	answered.Answer = &decisionsOf(t, s)[0]
	one := twins(t, s)
	explained := why(t, s, s+" 2", s+" 3")
	explained.Entity.Kind = s
	schema := match.Place()
	schema.Kind, schema.Sources = s, map[string]match.Source{s: {Trust: 0.9, Deduplicated: true,
		Attributes: map[string]float64{s: 0.3}}}
	schema.Weights = map[string]map[string]match.Weight{s: {s: 450}}
	scenario := &explain.ScenarioResult{
		Before: []explain.ScenarioEntity{{ID: id(t, 1), Records: []entity.Ref{one.A.Ref, one.B.Ref}, View: one.EntityA.View}},
		After: []explain.ScenarioEntity{
			{ID: id(t, 1), Records: []entity.Ref{one.A.Ref}, View: one.EntityA.View},
			{ID: id(t, 2), Records: []entity.Ref{one.B.Ref}, View: one.EntityA.View},
		},
		Took: 1234 * time.Microsecond,
	}
	whatIf := func(question string) func(io.Writer) error {
		return func(w io.Writer) error {
			return c.WhatIf(w, console.WhatIf{Entity: one.EntityA, Question: question, Address: s,
				Scenario: scenario, Author: s})
		}
	}
	return map[string]func(io.Writer) error{
		"review": func(w io.Writer) error { return c.Review(w, answered) },
		"review, a list": func(w io.Writer) error {
			return c.Review(w, console.Review{Pairs: answered.Pairs, Problem: s})
		},
		"data": func(w io.Writer) error {
			return c.Data(w, console.Data{
				Time: noon, Since: noon.Add(-time.Hour), Changes: 9, Kinds: []string{s}, MayImport: true,
				Sources: []console.SourceState{{Name: s, Trust: []string{s + " 0.9"},
					SourceLately: console.SourceLately{Source: s, New: 7, Matched: 2, Updated: 1, Last: noon},
					Stream:       &console.Stream{State: "running", Dead: 3},
					Import:       &console.SourceImport{At: noon, File: s, Rows: 12036, Refused: 36, Stopped: true}}, {Name: s}},
			})
		},
		"import": func(w io.Writer) error {
			return c.Import(w, console.Import{
				Name: s, Layout: s, Source: s, Kind: s, Kinds: []string{s}, Key: s, Args: []string{s}, Questions: []string{s},
				Fixed:      map[string]string{"name": s},
				Columns:    []console.ImportColumn{{Name: s, To: s, Reason: s, Values: []string{s}}, {Name: s}},
				Attributes: []console.ImportAttribute{{Name: s, From: s}},
				Rows: []console.ImportRow{{Line: 2, Source: s, Key: s, Values: []string{s}, Outcome: "matched",
					Entity: id(t, 1).String(), Name: s,
					Near: []console.ImportNear{{Entity: id(t, 1).String(), Name: s, Level: "same", Weight: "+7"}}}},
				Refused: []console.ImportRefusal{{Line: 3, Reason: s}},
			})
		},
		"import, refused": func(w io.Writer) error { return c.Import(w, console.Import{Name: s, Problem: s}) },
		"review, empty":   func(w io.Writer) error { return c.Review(w, console.Review{}) },
		"what if without": whatIf(console.Without), "what if apart": whatIf(console.Apart),
		"what if merged": whatIf(console.Merge),
		"what if refused": func(w io.Writer) error {
			return c.WhatIf(w, console.WhatIf{Entity: one.EntityA, Question: console.Merge, Address: s, Problem: s})
		},
		"kinds": func(w io.Writer) error {
			return c.Kinds(w, console.Kinds{
				Rules: []kinds.Rules{
					{Schema: schema, Terms: s, Change: &resolve.Migration{Since: noon,
						Cells: map[cell.ID]resolve.MigrationProgress{{}: {Records: 1200, Done: true}, {Index: 1}: {Records: 34}}}},
					{Schema: match.Place(), Terms: "0a"},
				},
				Terms: []resolve.Terms{{Hash: s, Records: 5000, Since: noon}, {Hash: "0a"}},
			})
		},
		"entity, whole": func(w io.Writer) error {
			return c.Entity(w, console.Entity{
				Why: explained, Schema: match.Place(), Home: "g0-8", RecordPath: recordPath, Author: s,
				How: howOf(id(t, 1), explained.Records, s),
				Standing: &console.Standing{Decisions: decisionsOf(t, s), Relations: []entities.Relation{
					{Relation: "part_of", Entity: id(t, 5), Name: s, Via: [2]entity.Ref{one.A.Ref, one.B.Ref}, Weight: 500},
					{Relation: s, Entity: id(t, 6), Name: s, Via: [2]entity.Ref{one.A.Ref, one.B.Ref}},
				}},
			})
		},
	}
}

// said is the text of a page with single spaces.
func said(t testing.TB, page func(io.Writer) error) string {
	t.Helper()
	return strings.Join(strings.Fields(text(byID(t, render(t, page), "main"))), " ")
}

func renderReview(r console.Review) func(io.Writer) error {
	return func(w io.Writer) error { return console.New("1.2.3").Review(w, r) }
}

func TestReview_ShowsHowTwoRecordsStand(t *testing.T) {
	t.Parallel()
	rows := table(t, render(t, renderReview(queueOf(t, "Joe's", 1))), "pairs")
	for attribute, want := range map[string]string{
		"":        "pos Joe's | web Joe's | Compared",
		"name":    "Joe's | Joe's Two | differs",
		"phones":  "415-555-2300 | (415) 555-2300 | same, spelled differently",
		"city":    "Springfield | Springfield | same",
		"hours":   "Joe's | no value– | only in one",
		"vintage": "Joe's | no value– | only in one",
		"entity":  "Joe's 2 records | Joe's 1 record |",
	} {
		if got := find(t, rows, attribute); strings.TrimSpace(got) != want {
			t.Errorf("%s: %q, want %q", attribute, got, want)
		}
	}
}

func TestReview_SaysHowManyAreLeft(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]console.Review{
		"nothing to review":      {},
		"1 pair to review":       queueOf(t, "x", 1),
		"50 pairs to review":     queueOf(t, "x", 50),
		"1,000+ pairs to review": {Pairs: queueOf(t, "x", 1000).Pairs, More: true, Pair: twins(t, "x")},
	} {
		if got := said(t, renderReview(r)); !strings.HasPrefix(got, "Review "+want+" ") {
			t.Errorf("the page begins %.60q, want %q", got, want)
		}
	}
	if got := said(t, renderReview(queueOf(t, "x", 2))); !strings.Contains(got, "the two entities become one of 3 records") || !strings.Contains(got, "locus review answer pos:x web:x --same") {
		t.Errorf("the page does not say what would be: %s", got)
	}
}

// forms returns the forms of a page: their URLs, and the names and values of their fields.
func forms(root *html.Node) map[string]map[string]string {
	all := map[string]map[string]string{}
	elements(root, func(f *html.Node) {
		if f.Data != "form" {
			return
		}
		method, _ := attribute(f, "method")
		action, _ := attribute(f, "action")
		fields := map[string]string{}
		elements(f, func(n *html.Node) {
			if name, ok := attribute(n, "name"); ok {
				value, _ := attribute(n, "value")
				if before, twice := fields[name]; twice {
					value = before + "|" + value
				}
				fields[name] = value
			}
		})
		all[strings.TrimSpace(method+" "+action)] = fields
	})
	return all
}

func TestReview_TheAnswerLeadsToTheNextPair(t *testing.T) {
	t.Parallel()
	r := queueOf(t, "x", 3)
	r.Author = "Ada"
	fields := forms(render(t, renderReview(r)))["post /decisions"]
	for name, want := range map[string]string{
		"a": "pos:x", "b": "web:x", "back": "/review?a=pos%3Ax&b=web%3Ax1", "verdict": "same|different", "author": "Ada",
		"reason": "",
	} {
		if fields[name] != want {
			t.Errorf("the field %s is %q, want %q", name, fields[name], want)
		}
	}
	r.Pairs = r.Pairs[:1]
	if to := forms(render(t, renderReview(r)))["post /decisions"]["back"]; to != "/review" {
		t.Errorf("the last answer leads to %q", to)
	}
}

func TestReview_WhatWasSaidCanBeWithdrawn(t *testing.T) {
	t.Parallel()
	r := console.Review{Answer: &decisionsOf(t, "x")[0]}
	if got := said(t, renderReview(r)); !strings.Contains(got, "pos:x and web:x are the same thing x (unverified), 2026-11-20 12:00:00 UTC: x") {
		t.Errorf("the page says %s", got)
	}
	fields := forms(render(t, renderReview(r)))["post /decisions"]
	for name, want := range map[string]string{"withdraw": "1", "verdict": "same", "a": "1", "b": "2", "back": "/review?a=pos%3Ax&b=web%3Ax"} {
		if fields[name] != want {
			t.Errorf("the field %s is %q, want %q", name, fields[name], want)
		}
	}
}

func TestEntity_SaysWhatPeopleDecided(t *testing.T) {
	t.Parallel()
	page := reviewRenderings(t, console.New("1.2.3"), "x")["entity, whole"]
	got := said(t, page)
	for _, want := range []string{
		"pos:x and web:x are the same thing x (unverified), 2026-11-20 12:00:00 UTC: x. Pending. Withdraw",
		"pos:x and the deleted record 7 are different things x, 2026-11-20 12:00:00 UTC: x. Withdrawn. pos:x is the anchor x (oidc:x), 2026", // and cannot be withdrawn again
		"name pinned to x for pos:x", "locus decision withdraw pos:x --attribute name",
		"part of x found from pos:x and web:x, +5.00 bits",
		"x pinned",
		"2026-11-20 12:00:01 UTCmerged records of another entitydecision",
		"UTC01000000-0000-0000-0000-000000000000 merged into another entity", "UTCrecord put",
		"Complete since 2026-11-20 12:00:00 UTC",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not say %q but %s", want, got)
		}
	}
	c := console.New("1.2.3")
	unknown := said(t, func(w io.Writer) error {
		return c.Entity(w, console.Entity{Why: why(t, "x", "y"), Schema: match.Place(), RecordPath: recordPath})
	})
	if strings.Count(unknown, "Unavailable.") != 4 || strings.Contains(unknown, "No decisions") {
		t.Errorf("what is not known is shown as nothing: %s", unknown)
	}
}

func TestEntity_SaysHowItCameToBe(t *testing.T) {
	t.Parallel()
	root := render(t, reviewRenderings(t, console.New("1.2.3"), "x")["entity, whole"])
	rows := table(t, root, "steps-of")
	for step, want := range map[string]string{
		"1": "1 and 2 | pos:x and pos:x 2 | +15.50 | +15.50 | joined",
		"2": "1 2 and 3 | pos:x and pos:x 3 | +15.50 | +15.501 without a common blocking key | joined, decided by x: x",
		"3": "1 2 3 and far:x | pos:x and far:x | +2.00 | -3.00 | not joined: x",
	} {
		if got := find(t, rows, step); got != want {
			t.Errorf("step %s: %q, want %q", step, got, want)
		}
	}
	var paths []string
	elements(root, func(n *html.Node) {
		if n.Data == "path" && n.Parent.Data == "a" {
			class, ok := attribute(n, "class")
			if !ok {
				return // of the picture of joins
			}
			d, _ := attribute(n, "d")
			paths = append(paths, class+" "+d)
		}
	})
	// Three records below each other: the first two are joined half way, the third at the end.
	if got, want := strings.Join(paths, ", "), "joined M44 13H304V39H44, decided M304 26H564V65H44"; got != want {
		t.Errorf("drawn as %s, want %s", got, want)
	}
}

func TestEntity_ManyStepsAreATableOnly(t *testing.T) {
	t.Parallel()
	names := make([]string, 400)
	for i := range names {
		names[i] = fmt.Sprint("Chain ", i)
	}
	w := why(t, names...)
	page := func(out io.Writer) error {
		return console.New("1").Entity(out, console.Entity{Why: w, Schema: match.Place(), RecordPath: recordPath, How: howOf(id(t, 1), w.Records, "x"), Standing: &console.Standing{}})
	}
	root := render(t, page)
	if rows := table(t, root, "steps-of"); len(rows) != 301 {
		t.Errorf("%d rows", len(rows))
	}
	if got := said(t, page); !strings.Contains(got, "100 more steps: run the command") || !strings.Contains(got, "more and") {
		t.Error("it is not said what is left out")
	}
	elements(root, func(n *html.Node) {
		if class, _ := attribute(n, "class"); class == "tree" {
			t.Error("400 records are drawn")
		}
	})
}

func TestWhatIf_ShowsBothSides(t *testing.T) {
	t.Parallel()
	pages := reviewRenderings(t, console.New("1.2.3"), "x")
	for name, wants := range map[string][]string{
		"what if without": {"If x were deleted", "computed in 1.2 ms", "Now x 2 records", "After x 1 record", "only here",
			"Records cannot be deleted in the console"},
		"what if apart":  {"If x were a different thing", "Split off"},
		"what if merged": {"If x were the same thing", "Merge"},
	} {
		got := said(t, pages[name])
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s does not say %q but %s", name, want, got)
			}
		}
	}
	for name, want := range map[string]string{"what if apart": "unmerge", "what if merged": "merge"} {
		if fields := forms(render(t, pages[name]))["post /entities/"+id(t, 1).String()+"/"+want]; fields["address"] != "x" || fields["author"] != "x" {
			t.Errorf("%s: the form holds %v", name, fields)
		}
	}
	if all := forms(render(t, pages["what if without"])); len(all) != 1 { // the search
		t.Errorf("a page that only tells has the forms %v", all)
	}
}

func TestKinds_ShowsWhatIsDeclared(t *testing.T) {
	t.Parallel()
	root := render(t, reviewRenderings(t, console.New("1.2.3"), "yelp")["kinds"])
	rows := table(t, root, "attributes")
	for attribute, want := range map[string]string{
		"name": "name |  | half-life of 3,650 days", "category": "category |  | a list, groups rollups",
		"latitude": "geo | latitude | ",
	} {
		if got := find(t, rows, attribute); got != want {
			t.Errorf("%s: %q, want %q", attribute, got, want)
		}
	}
	if got := find(t, table(t, root, "sources"), "yelp"); got != "0.9, yelp 0.3 | none within the source" {
		t.Errorf("source: %q", got)
	}
	if got := find(t, table(t, root, "weights"), "yelp"); got != "yelp | +4.50" {
		t.Errorf("weight: %q", got)
	}
	shown := text(root)
	for _, want := range []string{
		"Term frequencies: yelp, counted from 5,000 records on", "Term frequencies: 0a, built in",
		"Resolved again since", ": 1,234 records, 1 cell done.",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
