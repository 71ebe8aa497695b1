// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"math"
	"strconv"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/explain"
)

// route is the route of an address: its legs in words, and in the picture.
type route struct {
	Kind  string // kind of the address, in words
	Steps []routeStep
	// Ray goes through the bands at the address's position. Mint is the segment of ids minted beside it.
	Ray, Mint string
	// At is the position in figures, Turn in words.
	At, Turn string
	Marks    []mark
	// Missed reports that nothing is stored there.
	Missed bool
	// puid is the puid whose range is drawn, nil if there is none.
	puid *cell.PuidRoute
}

// routeStep is a row of a route. A mark connects it with the picture.
type routeStep struct {
	Mark  string
	Class string
	Title string
	Link  string // link of the title, which is then a cell
	State string
	Text  string
}

// mark is a numbered spot in the picture.
type mark struct {
	text
	Class string
	R     string // radius; too small ones have no number
}

// text is a text at a position in a picture.
type text struct{ X, Y, Anchor, Text string }

// drawing is the picture that routes are drawn on.
type drawing struct {
	m     *cell.Map
	known census
	bands []ring
	link  func(cell.ID) string
}

// way converts a route.
func (d *drawing) way(r *explain.Route) *route {
	w := &route{Missed: !r.Found}
	switch {
	case r.Key != nil:
		d.key(w, r.Key, r.Found)
	case r.PUID != nil:
		d.number(w, r.PUID)
	case r.ID != nil:
		d.id(w, r.ID)
	}
	router := cell.NewRouter(d.m)
	if r.Record != nil && r.PUID == nil {
		p, err := router.ExplainPuid(int64(*r.Record))
		if w.puid = &p; err == nil {
			w.add(routeStep{Title: "Puid", State: "computed",
				Text: fmt.Sprintf("%d lies in the range of %v: no database is asked.", p.PUID, p.Cell)})
		}
	}
	if r.Entity != nil && r.ID == nil {
		if e, err := router.ExplainEntity(*r.Entity); err == nil {
			w.add(routeStep{Title: "Entity", State: "computed",
				Text: fmt.Sprintf("%v lives in %v: no database is asked.", e.ID, e.Cell)})
		}
	}
	return w
}

func (w *route) add(s routeStep) { w.Steps = append(w.Steps, s) }

// key explains an external key: its hash is a position, and the directory of a cell in each band may have it.
func (d *drawing) key(w *route, k *cell.KeyRoute, found bool) {
	w.Kind = "An external key"
	turn := d.ray(w, k.Position)
	w.add(routeStep{Title: "Hash", Text: fmt.Sprintf("0x%s: XXH64 of source and key.", k.Hash)})
	w.add(d.place(k.Position, "The upper half of the hash"))
	for i, p := range k.Probes {
		class := answers[p.Answer]
		number := strconv.Itoa(i + 1)
		said := string(p.Answer)
		if p.State != "" {
			said = p.State + ": " + said
		}
		w.add(routeStep{Mark: number, Class: class, Title: p.Cell.String(), Link: d.link(p.Cell), State: said,
			Text: sentence(p.Why)})
		d.mark(w, number, class, p.Cell, turn)
	}
	w.add(outcome(k, found))
	from, to := float64(k.Window.Lo)/(1<<32), float64(k.Window.Hi)/(1<<32)
	least := max(0, 0.004-(to-from)) / 2 // minimum visible width
	w.Mint = curve(from-least, to+least, bandsOuter+3)
	born := fmt.Sprintf("Ids for new records here are minted in %s to %s", hexPosition(k.Window.Lo),
		hexPosition(k.Window.Hi-1))
	if k.Window.From != "" {
		born += ", dated from " + k.Window.From
	}
	if k.Window.Until != "" {
		born += " until " + k.Window.Until
	}
	w.add(routeStep{Title: "New ids", Text: born + ", so that they are in the same cell as the key."})
}

// answers maps answers to CSS classes.
var answers = map[cell.Answer]string{
	cell.AnswerNo: "no", cell.AnswerFilterNo: "filtered", cell.AnswerFound: "found", cell.AnswerUnavailable: "silent",
}

func outcome(k *cell.KeyRoute, found bool) routeStep {
	s := routeStep{Title: "Result"}
	silent := false
	for _, p := range k.Probes {
		silent = silent || p.Answer == cell.AnswerUnavailable
	}
	switch {
	case found:
		s.Text = "The key is here."
	case silent:
		s.Text = "It is not known whether the key exists: a cell is unavailable."
	case len(k.Probes) > 0:
		s.Text = fmt.Sprintf("The key is not stored. Its first record would go to %v.", k.Probes[0].Cell)
	}
	if k.Asked == 0 {
		s.Text += fmt.Sprintf(" At most %s.", counted(int64(k.Cost), "probe"))
		return s
	}
	s.Text += fmt.Sprintf(" %d of %s asked", k.Asked, directories(k.Cost))
	if k.Saved > 0 {
		s.Text += fmt.Sprintf(", filters saved %d", k.Saved)
	}
	if k.TookMS > 0 {
		s.Text += fmt.Sprintf(", %.1f ms", k.TookMS)
	}
	s.Text += "."
	return s
}

func directories(n int) string {
	if n == 1 {
		return "1 directory"
	}
	return fmt.Sprintf("%d directories", n)
}

// number explains a puid: arithmetic on its upper half.
func (d *drawing) number(w *route, p *cell.PuidRoute) {
	w.Kind, w.puid = "A puid, the number of a record", p
	w.add(routeStep{Title: "Range", Text: fmt.Sprintf("The upper half of the puid, counted from the lowest puid, is the number of its range: %s.", count(int64(p.Slot)))})
	w.add(routeStep{Title: "Start", Text: fmt.Sprintf("The nearest start of a segment at or before it is range %s: segment %s of the finest generation.", count(int64(p.Slot-p.Distance)), count(int64(p.Finest)))})
	if p.Place == nil {
		w.add(routeStep{Title: "No cell", Class: "no", Text: sentence(p.Why)})
		return
	}
	w.add(routeStep{Mark: "1", Class: "found", Title: p.Cell.String(), Link: d.link(p.Cell), State: "computed",
		Text: sentence(p.Why)})
	if c, ok := d.known[p.Cell]; ok {
		w.add(routeStep{Title: "Used",
			Text: fmt.Sprintf("%s of %s in %d to %d.", count(int64(c.PUIDs)), count(int64(c.PUIDRoom)), p.Puids.Lo, p.Puids.Hi)})
	}
	d.mark(w, "1", "found", p.Cell, (float64(p.Lo)+float64(p.Hi))/2/(1<<32))
}

// id explains an entity id: its first bits are a position, its last ones a time, which determines the band.
func (d *drawing) id(w *route, e *cell.EntityRoute) {
	w.Kind = "An entity id"
	turn := d.ray(w, e.Position)
	w.add(d.place(e.Position, "The first 32 bits of the id"))
	w.add(routeStep{Title: "Time", Text: "Its last 48 bits: " + e.Time + "."})
	if e.Place == nil {
		w.add(routeStep{Title: "Nowhere yet", Class: "silent", Text: sentence(e.Why)})
		return
	}
	w.add(routeStep{Mark: "1", Class: "found", Title: e.Cell.String(), Link: d.link(e.Cell), State: "computed",
		Text: sentence(e.Why)})
	d.mark(w, "1", "found", e.Cell, turn)
}

func (d *drawing) place(position uint32, what string) routeStep {
	return routeStep{Title: "Place", Text: fmt.Sprintf("%s, %s, is %s of the ring.", what,
		hexPosition(uint64(position)), percent(float64(position), 1<<32))}
}

// ray draws a line from the centre through all bands and returns its position as a fraction of a turn.
func (d *drawing) ray(w *route, at uint32) (turn float64) {
	turn = float64(at) / (1 << 32)
	var p outline
	p.point('M', turn, d.bands[0].inner-6)
	p.point('L', turn, bandsOuter+6)
	w.Ray = string(p)
	w.At, w.Turn = hexPosition(uint64(at)), percent(float64(at), 1<<32)+" of the ring"
	return turn
}

// mark puts a number where a ray crosses the band of a cell.
func (d *drawing) mark(w *route, number, class string, c cell.ID, turn float64) {
	for _, h := range d.bands {
		if h.Gen != int(c.Gen) {
			continue
		}
		m := mark{text: spot(turn, (h.inner+h.outer)/2), Class: class, R: figure(min(8, max(2.5, (h.outer-h.inner)/2-0.5)))}
		if h.outer-h.inner >= 13 {
			m.Text = number
		}
		w.Marks = append(w.Marks, m)
	}
}

// spot returns a point in the picture.
func spot(turn, radius float64) text {
	sin, cos := math.Sincos(2 * math.Pi * turn)
	return text{X: figure(ringSize/2 + radius*sin), Y: figure(ringSize/2 - radius*cos)}
}

// hexPosition formats a position.
func hexPosition(at uint64) string { return fmt.Sprintf("0x%08x", at) }

// sentence makes a sentence of a reason.
func sentence(why string) string {
	if why == "" {
		return ""
	}
	first := why[0]
	if first >= 'a' && first <= 'z' {
		first -= 'a' - 'A'
	}
	return string(first) + why[1:] + "."
}
