// SPDX-License-Identifier: Apache-2.0

// Package console renders the web pages of Locus: the first screen, the review queue, the rollups, the counters,
// the ring, the kinds, the search, an entity, and what it would be.
//
// It turns what the service answers into HTML and into the events that keep a page alive, writes
// both to an io.Writer, and knows neither requests nor status codes. There is no Node toolchain and
// no framework: html/template, one style sheet, one small ES module.
//
//	locus.Status     ┐             ┌ templates/home.html ──► page with slots   <b data-text="records">12</b>
//	locus.Joins      ├─► live ─────┤                                 ▲
//	its own counters ┘  text, path └ Event ──► data: {"text":{"records":"13"}} ── console.js fills the slot
//
// All three are read from the cells, so the first screen is the same whichever process shows it, or has written.
//
// A number that changes has one name, its slot. The page is made with the slot's value in it and an
// event carries new values by the same names, so what a reload shows and what the stream shows are
// made by the same code: the module formats nothing and decides nothing. An event says only what
// changed since the one before.
//
// The pages of the ring, of the rollups and of the counters are made whole each time; the module asks for them again and
// takes over the parts marked data-again that became others. Lines with a data-key flash if they say
// something new. The pictures of the ring are laid out here, in numbers, from a cell.Map and a locus.Status:
//
//	groups (group.go) ─► bands of generations (bands.go) ┐
//	locus.Route ───────► the way of an address (way.go) ─┼─► templates/ring.html
//	cell.Map ──────────► ranges of puids (puids.go) ─────┘
//
// and the tables of the rollups, whose columns are the values of a dimension, from a locus.RollupAnswer:
//
//	rollup.Definition ─► a sentence (counting.go) ──────────┐
//	locus.RollupCell ──► who keeps which cells (keepers.go) ┼─► templates/rollups.html, rollup.html
//	rollup.Group ──────► columns and bars (grouptable.go) ──┘
//
// Counters are shown as pictures that the server draws, each with an address of its own (metric.go), in the theme and
// the size that the browser asks for; the table below each is folded out of the same series (metrictable.go). The
// address says of which minute the picture is, so a page that goes on asks for the next one.
//
// People decide on the review queue and on the page of an entity. What they see there is made of the types of questions.go
// of package locus: two records side by side (pair.go), what was decided (decision.go), how records were joined, as a
// picture and as the table behind it (how.go), and what would be (whatif.go). Each answer is a form, which works without
// script; a key that a button names in data-press presses it.
//
// The pages keep a strict content security policy: no inline script, no inline style, nothing from
// another host. Geometry is therefore written as SVG attributes, never as style. Whatever came from
// a record stands inside <bdi>, escaped by html/template, and reaches the live page by textContent
// only. Numbers are text from the start, so that none is rounded above 2^53.
package console
