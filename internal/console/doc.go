// SPDX-License-Identifier: Apache-2.0

// Package console renders the web pages of Locus: home, entities, review, data and import, quality, rollups, counters,
// streams, operations and kinds (nav.go lists them).
//
// It converts results of the service into HTML, and into the events that update an open page. It writes both to an
// io.Writer and does not know requests or status codes. There is no Node toolchain and no framework, only
// html/template, one style sheet and one small ES module.
//
//	cells.Status     ┐             ┌ templates/operations.html ──► page with slots   <b data-text="records">12</b>
//	changes.Match    ├─► live ─────┤                                 ▲
//	its own counters ┘  text, path └ Event ──► data: {"text":{"records":"13"}} ── console.js fills the slot
//
// All three inputs are read from the cells, so the operations page is the same in every process. The home page is
// rendered whole, from the counts and from a Survey of a bounded sample of the data (survey.go).
//
// A number that changes has a name, its slot. The page contains the slot's initial value, and an event carries new
// values by the same names. So the same code produces what a reload shows and what the stream shows; the module formats
// nothing and decides nothing. An event contains only what changed since the previous one.
//
// The home page and the pages of the ring, the rollups and the counters are always rendered whole. The module requests
// them again and replaces the parts marked data-again that differ. Rows with a data-key flash if they change. The
// pictures of the ring are laid out here, in numbers, from a cell.Map and a cells.Status:
//
//	groups (group.go) ─► rings of generations (rings.go) ┐
//	explain.Route ─────► route of an address (route.go) ──┼─► templates/ring.html
//	cell.Map ──────────► ranges of puids (puids.go) ─────┘
//
// and the tables of the rollups, whose columns are the values of a dimension, from a rollups.Answer:
//
//	rollup.Definition ─► a sentence (counting.go) ──────────┐
//	rollups.Cell ──────► cells by process      (followers.go) ┼─► templates/rollups.html, rollup.html
//	rollup.Group ──────► columns and bars (grouptable.go) ──┘
//
// Counters are shown as pictures drawn by the server, each with its own URL (metric.go), in the theme and size that the
// browser requests. The table below each picture is aggregated from the same series (metrictable.go). The URL contains
// the minute of the picture, so an open page requests the next one.
//
// Humans decide in the review queue and on entity pages. These pages show two records side by side (compare.go),
// earlier decisions (decision.go), the joins of an entity (graph.go, how.go), and what would change (whatif.go). Each
// answer is a form that works without script; the key named by a button's data-press presses it.
//
// The pages follow a strict content security policy: no inline script, no inline style, nothing from other hosts.
// Geometry is therefore written as SVG attributes, never as style. Text from records is inside <bdi>, escaped by
// html/template, and reaches an open page only through textContent. Numbers are text from the start, so that none above
// 2^53 is rounded.
package console
