// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
)

// standings returns hand-made rollups: with one cell, sixteen and three hundred, in every state, with names and numbers
// of maximum length.
func standings(now time.Time) []rollups.Status {
	def := rollup.Definition{
		Name: "places_by_category", Kind: "place", Over: rollup.Entities, Group: []string{"category"}, Dimension: "city",
		Where: []rollup.Condition{
			{Attribute: "country", Values: []string{"US", "CA", "<script>alert(1)</script>"}},
			{Attribute: "vendor_id", Exists: true},
			{Attribute: "rooms", Min: "1", Max: "1000000"},
		},
		Measures: []rollup.Measure{
			{Name: "codes", Func: rollup.Distinct, Attribute: "postcode"},
			{Name: "height", Func: rollup.Avg, Attribute: "height_m", Scale: 2},
			{Name: "places", Func: rollup.Count},
			{Name: "rooms", Func: rollup.Sum, Attribute: "rooms"},
			{Name: "tallest", Func: rollup.Top, Attribute: "height_m", Scale: 2, K: 3},
		},
	}
	stand := func(name string, cells, owners int) rollups.Status {
		s := rollups.Status{
			Name: name, State: rollups.Following, Definition: def, Generation: 7, Groups: 1204, Lag: 3 * time.Millisecond,
			Verified: now.Add(-5 * time.Minute), Watermark: changelog.Watermark{},
		}
		s.Definition.Name = name
		for i := range cells {
			c := rollups.Cell{
				Cell: cell.ID{Index: uint32(i)}, State: rollup.Following, Watermark: 123456, Last: 123456, Groups: 1204,
				Token: int64(1 + i%owners),
				Owner: fmt.Sprintf("db-%d.example.net:%d", i%owners, 4000+i%owners), Verified: s.Verified,
			}
			s.Watermark[c.Cell] = c.Watermark
			s.Cells = append(s.Cells, c)
		}
		return s
	}
	one, some, many := stand("places_by_category", 16, 3), stand("alone", 1,
		1), stand("a_name_as_long_as_it_may_be_of_sixty_three_letters_all_in_all_ok", 300, 7)
	some.State, some.Generation, some.Groups, some.Verified = rollups.Building, 0, 0, time.Time{}
	some.Building, some.Cells[0].State = 12, rollup.Building
	one.Building = 8
	many.State, many.Groups, many.Lag = rollups.Failed, 9_000_000_000_000, 41*time.Minute
	for i := range 3 {
		many.Cells[100+i].State = rollup.Failed
		many.Cells[100+i].Reason = `rollup: group "<b>` + strings.Repeat("x", 80) + `": limit exceeded`
	}
	many.Cells[7] = rollups.Cell{Cell: many.Cells[7].Cell, Reason: "the cell is unavailable"}
	many.Cells[8] = rollups.Cell{Cell: many.Cells[8].Cell}
	return []rollups.Status{some, many, one}
}

// answerOf returns groups with every variation: many dimension values, numbers with many digits, no values.
func answerOf(s *rollups.Status, now time.Time) *rollups.Answer {
	d := &s.Definition
	values := func(n int64) rollup.Values {
		vs := make(rollup.Values, len(d.Measures))
		for i, m := range d.Measures {
			vs[i] = rollup.Value{Measure: &m, N: n, Number: n * 12, Sum: rollup.NewInt128(n * 12), None: n == 0 &&
				m.Func == rollup.Avg}
			if m.Func == rollup.Top {
				vs[i].List = []int64{n * 10, n * 9, 5}
			}
		}
		return vs
	}
	a := &rollups.Answer{
		Name: s.Name, Definition: *d, Watermark: s.Watermark, AsOf: now, Lag: s.Lag, Generation: s.Generation, State: s.State,
		Verified: s.Verified,
	}
	for i := range 40 {
		g := rollup.Group{Group: []string{fmt.Sprintf("category %d", i)}, Skipped: int64(i)}
		switch i {
		case 1:
			g.Group[0] = strings.Repeat("anoverlongwordwithoutanyspace", 5)
		case 2:
			g.Group[0] = "<script>alert(1)</script>"
		}
		total := int64(0)
		for j, city := range []string{"", "Berlin", "Llanfairpwllgwyngyll", "New York", "San Francisco", "São Paulo", "none", "東京"} {
			n := int64(40-i) * int64(j*j+1) * 7
			if i == 0 {
				n *= 7_000_000_000_000
			}
			total += n
			g.By = append(g.By, rollup.Slot{Value: city, Values: values(n)})
		}
		g.Total = values(total)
		a.Groups = append(a.Groups, g)
	}
	return a
}

// exhibitRollups serves the pages of hand-made rollups.
func (tab *tab) exhibitRollups() (pages []string) {
	tab.Helper()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	policy, all := tab.policy(), standings(now)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /rollups", func(w http.ResponseWriter, r *http.Request) {
		shown := all
		if r.FormValue("empty") != "" {
			shown = nil
		}
		render(w, policy, func(body io.Writer) error {
			return console.New("").Rollups(body, console.Rollups{Time: now, Rollups: shown, Schema: match.Place()})
		})
	})
	mux.HandleFunc("GET /rollups/{name}", func(w http.ResponseWriter, r *http.Request) {
		for i := range all {
			if s := &all[i]; s.Name == r.PathValue("name") {
				page := console.Rollup{Time: now, Status: s, By: "places"}
				if s.Generation != 0 {
					page.Answer = answerOf(s, now)
				}
				if g := r.FormValue("g1"); g != "" {
					page.Group, page.By = []string{g}, ""
					page.Answer.Groups = page.Answer.Groups[1:2]
				}
				if r.FormValue("order") != "" {
					page.By = ""
				}
				render(w, policy, func(body io.Writer) error { return console.New("").Rollup(body, page) })
			}
		}
	})
	tab.display(mux)
	pages = []string{"/rollups", "/rollups?empty=1", "/rollups/" + all[2].Name + "?g1=x",
		"/rollups/" + all[2].Name + "?order=name"}
	for _, s := range all {
		pages = append(pages, "/rollups/"+s.Name)
	}
	return pages
}

func rollupsOfHundreds(tab *tab) {
	pages := tab.exhibitRollups()
	tab.open("/rollups")
	tab.check(`document.querySelectorAll(".rollup").length === 3 && document.querySelectorAll(".dots .lamp").length === 17`, "cells are not drawn as they should be")
	tab.check(`document.querySelectorAll(".shares").length === 8 && document.querySelectorAll(".shares .failed").length > 0`, "hundreds of cells are not drawn together")
	tab.check(`document.querySelector(".rollup:nth-child(2)").textContent.includes("g0-100 and 2 more")`,
		"it is not said which cells failed")
	tab.open(pages[len(pages)-2])
	tab.check(`document.querySelectorAll("#lines tr").length === 300 && !document.querySelector("#lines").checkVisibility()`, "the table of cells is not there, or open")
	tab.check(`document.querySelector("#groups tbody td").textContent === "290,080,000,000,000,000"`,
		"digits are lost: "+evaluate[string](tab, `document.querySelector("#groups tbody td").textContent`))
	// The columns and the rest add up to the total, digit for digit.
	tab.check(`[...document.querySelectorAll("#groups tbody tr")].every(tr => {
		const [total, ...by] = [...tr.querySelectorAll("td")].map(td => td.textContent).filter(text => /^[\d,]+$/.test(text)).map(text => BigInt(text.replaceAll(",", ""))).slice(0, 8);
		return by.length === 7 && by.reduce((a, b) => a + b) === total;
	})`, "the columns do not add up")
}

func rollupsAreNarrow(tab *tab) {
	tab.isNarrow(tab.exhibitRollups(), "#again > *, .panel, .dots, .shares, pre")
}

func rollupsCanBeRead(tab *tab) {
	pages := tab.exhibitRollups()
	tab.canBeRead(pages, func(scheme string) {
		tab.check(`[...document.querySelectorAll(".gauge .for")].every(e => { `+contrast+` return ratio(getComputedStyle(e).fill, e) >= 3; })`, "bars are hard to see in "+scheme)
	})
	tab.emulate(emulation.SetEmulatedMediaParams{})
}
