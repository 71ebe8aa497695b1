// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/explain"
)

// rowsAtOnce is how many cells a page of the table lists.
const rowsAtOnce = 512

// Ring is the content of the ring page: the cells at one moment, and the route of an address.
type Ring struct {
	Time   time.Time
	Status *cells.Status
	Map    *cell.Map
	// Address is the requested address as typed, Route its route; nil if nothing was requested or the text is not an
	// address.
	Address string
	Route   *explain.Route
	// Problem says why the route is incomplete; "" if it is complete.
	Problem string
	// From is the first cell of the table.
	From cell.ID
}

// Ring writes the ring page.
func (c *Console) Ring(w io.Writer, r Ring) error {
	known := censusOf(r.Status)
	bands := hoops(r.Map, known, r.Time, r.link)
	p := ringPage{
		Ring: r, Bands: bands, Legend: legend, As: stamp(r.Time), Problems: problem(r.Status),
		Made: counted(int64(len(r.Map.Cells())), "cell"), Records: summed(r.Status, r.Status.Counts.Records),
		Command: command("locus", "cell", "list"),
	}
	p.facts()
	for i := range bands {
		if bands[i].Drawn != "" {
			p.Drawn = append(p.Drawn, bands[i].Drawn)
		}
	}
	if n := r.Map.Generations() - len(bands); n > 0 {
		p.Drawn = append(p.Drawn, counted(int64(n), "older generation")+" only in the table")
	}
	var puid *cell.PuidRoute
	if r.Route != nil {
		d := drawing{r.Map, known, bands, r.link}
		p.Way = d.way(r.Route)
		p.Explain = explainAddress(r.Address)
		puid = p.Way.puid
	}
	p.Strip = newStrip(r.Map, puid)
	p.rows(known)
	return c.render(w, "ring", "", p)
}

// explainAddress returns the command that explains an address; it keeps a negative puid from being parsed as a flag.
func explainAddress(address string) string {
	if strings.HasPrefix(address, "-") {
		return command("locus", "route", "--explain", "--", address)
	}
	return command("locus", "route", "--explain", address)
}

type ringPage struct {
	Ring
	Bands    []ring
	Legend   []string
	Facts    []fact
	As       stamp
	Problems string // problems of the installation
	Made     string // number of cells
	Records  string
	Drawn    []string // which cells are drawn together
	Way      *route
	Strip    *strip
	Rows     []cellRow
	Next     string // URL of the rest of the table
	First    string // URL of its beginning
	Command  string
	Explain  string
}

// legend explains the picture to first-time viewers.
var legend = []string{
	"A key has a position on the ring: the first 32 bits of its hash.",
	"Each ring is a generation of cells. Growth adds a ring outside; records stay in their cells.",
	"New keys go to the outermost ring; the others are sealed. A look-up starts there and continues inwards; filters rule out most cells without a read.",
	"The cell of a puid or an entity id is computed, without a look-up.",
}

// fact is a value with its name.
type fact struct{ Name, Value string }

func (p *ringPage) facts() {
	spec := p.Map.Spec()
	until := "all ids: this map cannot grow"
	if !spec.Until.IsZero() {
		until = "ids dated before " + moment(spec.Until)
	}
	p.Facts = []fact{
		{"Map", "epoch " + strconv.FormatUint(spec.Epoch, 10) + ", authority " + spec.Authority.String()},
		{"Covers", until},
	}
}

// When describes when an announced generation starts, "" if there is none.
func (p ringPage) When() string {
	for _, h := range p.Bands {
		if h.When != "" {
			return h.Name() + " " + h.When
		}
	}
	return ""
}

// Box returns the square of the bands, with room for the end of a ray and a line above.
func (ringPage) Box() string { return "-2 -8 324 334" }

// Middle returns the centre of the picture.
func (ringPage) Middle() int { return ringSize / 2 }

// Page identifies the structure of the page; if it changes, the page must be reloaded.
func (p ringPage) Page() string {
	return strconv.Itoa(p.Map.Generations()) + "/" + strconv.Itoa(p.Map.Current())
}

// cellRow is a row of the table.
type cellRow struct {
	Cell, Gen, URL, State, Incarnation string
	Segment, From, To                  string
	Records, PUIDs, Fill, Epoch        string
	On                                 bool // on the route
}

// rows fills the table with the cells from the requested one on, the oldest generation first.
func (p *ringPage) rows(known census) {
	all := p.Map.Cells()
	from := p.offset(p.From)
	to := min(from+rowsAtOnce, len(all))
	if to < len(all) {
		p.Next = p.page(all[to])
	}
	if from > 0 {
		p.First = p.page(cell.ID{})
	}
	on := p.cellsOfWay()
	spec := p.Map.Spec()
	var arcs []cell.Arc
	for _, c := range all[from:to] {
		if arcs == nil || arcs[0].Cell.Gen != c.Gen {
			arcs = p.Map.Ring(int(c.Gen))
		}
		row := p.row(arcs[c.Index], spec.Moved[c].Incarnation, known)
		row.On = on[c]
		p.Rows = append(p.Rows, row)
	}
}

// offset returns the index of a cell in the table, 0 if there is no such cell.
func (r *Ring) offset(c cell.ID) (n int) {
	if !r.Map.Has(c) {
		return 0
	}
	for g := range int(c.Gen) {
		n += int(r.Map.Count(g))
	}
	return n + int(c.Index)
}

func (p *ringPage) row(arc cell.Arc, incarnation int, known census) cellRow {
	c := arc.Cell
	lo, hi := p.Map.PuidRange(c)
	row := cellRow{
		Cell: c.String(), Gen: strconv.Itoa(int(c.Gen)), URL: cell.Redact(p.Map.URL(c)),
		Segment: position(arc.From) + " to " + position(arc.To-1.0/(1<<32)),
		From:    strconv.FormatInt(lo, 10), To: strconv.FormatInt(hi, 10),
		Records: "?", PUIDs: "?", Fill: "?", Epoch: "?", State: "unavailable",
	}
	row.Incarnation = strconv.Itoa(max(1, incarnation))
	role := p.Map.Role(int(c.Gen))
	if s, ok := known[c]; ok {
		row.State = s.Head.Keys.String()
		if s.Filter {
			row.State += ", filter"
		}
		if s.Head.Home != cell.Serving {
			row.State += ", " + s.Head.Home.String()
		}
		row.Incarnation = strconv.Itoa(max(1, incarnation, s.Head.Incarnation))
		row.Records, row.PUIDs = count(s.Counts.Records), count(int64(s.PUIDs))
		row.Fill, row.Epoch = percent(float64(s.PUIDs), float64(s.PUIDRoom)), strconv.FormatUint(s.Head.KnownEpoch, 10)
		if role == cell.RoleAnnounced {
			row.State = stateAnnounced
		}
	} else if role == cell.RoleAnnounced {
		row.State, row.Records, row.PUIDs, row.Fill, row.Epoch = stateAnnounced, "–", "–", "–", "–"
	}
	return row
}

func (r *Ring) cellsOfWay() map[cell.ID]bool {
	on := map[cell.ID]bool{}
	if r.Route == nil {
		return on
	}
	if k := r.Route.Key; k != nil {
		for _, p := range k.Probes {
			on[p.Cell] = true
		}
	}
	if p := r.Route.PUID; p != nil && p.Place != nil {
		on[p.Cell] = true
	}
	if e := r.Route.ID; e != nil && e.Place != nil {
		on[e.Cell] = true
	}
	return on
}

// link returns the URL of the row of a cell, on this page of the table or another.
func (r *Ring) link(c cell.ID) string {
	from := r.offset(r.From)
	if at := r.offset(c); at >= from && at < from+rowsAtOnce {
		return "#" + c.String()
	}
	return r.page(c) + "#" + c.String()
}

// page returns the URL of the page whose table begins with a cell.
func (r *Ring) page(c cell.ID) string {
	q := url.Values{}
	if r.Address != "" {
		q.Set("address", r.Address)
	}
	if c != (cell.ID{}) {
		q.Set("from", c.String())
	}
	if len(q) == 0 {
		return "/ring"
	}
	return "/ring?" + q.Encode()
}
