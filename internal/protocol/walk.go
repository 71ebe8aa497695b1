// SPDX-License-Identifier: Apache-2.0

package protocol

// Walk is the search for one key through the generations, from the newest down, and the write at the end. It is a value
// that returns its next request and is given the reply: no goroutine, clock or database. The same code runs in
// cell.Directory, in the simulator and in the model that explores every interleaving:
//
//	w := Walk{Op: WalkPut}.Start(view)
//	for w.Next().Do != ActionDone {
//		w = w.Step(reply to w.Next())
//	}
//	w.Answer()
//
//	         ┌── not open: refresh the map, begin again ◄── refused ──┐
//	         │                                                        │
//	     read g2 ── nothing ──► read g1 ── nothing ──► read g0 ──► put into g2
//	   (current)      open: seal it, read it after that     likewise
//
// The cells of all older generations that a new key passes are sealed, and read after that: no writer can put the key
// there any more. A key keeps its puid for ever, so the first puid found ends the walk, whatever the state of the cell.
// A refusal, or a retired cell, means that the map was old.
type Walk struct {
	// Op is the operation of the walk.
	Op   Op
	view View
	do   Action
	gen  uint16
	puid int64
}

// Op is the operation of a Walk.
type Op uint8

// The operations of walks.
const (
	WalkLookup Op = iota // returns the puid of the key, Nothing if it has none
	WalkPut              // gives the key a puid if it has none, and returns it
	WalkPost             // seals the older cells of a position, so that a posting may be put
)

// View is the part of a cell map that walks use.
type View struct {
	Epoch uint64
	// Generations is how many there are, including announced ones.
	Generations, Current, Floor uint16
	// Skip is a bit set of older generations that need not be read, bit 0 being the one before the current: for keys,
	// those whose cell is sealed and has a filter that lacks the key; for postings, those whose cell is known to be
	// sealed.
	Skip uint64
}

// MarkSkipped marks a generation as one that need not be read. Only the 64 before the current one can be marked.
func (v *View) MarkSkipped(gen uint16) {
	if behind := v.Current - 1 - gen; gen < v.Current && behind < 64 {
		v.Skip |= 1 << behind
	}
}

func (v View) skips(gen uint16) bool {
	behind := v.Current - 1 - gen
	return behind < 64 && v.Skip>>behind&1 == 1
}

// Start begins the walk, with a map of any age.
func (w Walk) Start(v View) Walk {
	w.view, w.gen, w.puid = v, v.Current, Nothing
	if w.Op == WalkPost || w.Op == WalkPut && w.alone() {
		return w.down() // the put itself returns the row of the current generation
	}
	w.do = ActionRead
	return w
}

// alone reports whether no older generation has to be read.
func (w Walk) alone() bool {
	for gen := w.view.Floor; gen < w.view.Current; gen++ {
		if !w.view.skips(gen) {
			return false
		}
	}
	return true
}

// View returns the part of the map that the walk uses.
func (w Walk) View() View { return w.view }

// Next returns the next request of the walk.
func (w Walk) Next() Request {
	return Request{Do: w.do, Gen: w.gen, Epoch: w.view.Epoch}
}

// Answer returns the result of a finished walk: a puid, or Nothing.
func (w Walk) Answer() int64 { return w.puid }

// Step returns the walk after the reply to its request.
func (w Walk) Step(r Reply) Walk {
	switch {
	case w.do == ActionRefresh:
		return w.Start(r.View)
	case r.Fenced:
		return w.stale()
	case w.do == ActionPut:
		return w.done(r.Row)
	}
	if w.Op == WalkPost {
		r.Row = Nothing
	}
	return w.saw(r)
}

// saw continues with the state and row of the cell that was read.
func (w Walk) saw(r Reply) Walk {
	top := w.gen == w.view.Current
	switch {
	case r.Row != Nothing:
		return w.done(r.Row)
	case top && r.Keys != Open:
		// There is a newer generation, which may have the key.
		return w.stale()
	case r.Keys == Retired:
		// Its rows were copied to a generation that this map does not list or search.
		return w.stale()
	case !top && r.Keys == Open && w.Op != WalkLookup:
		// No other writer may put the key there once the walk has passed, or both would.
		w.do = ActionSeal
		return w
	}
	return w.down()
}

// down continues with the next older generation that has to be read. If there is none, no generation has the key.
func (w Walk) down() Walk {
	for w.gen > w.view.Floor {
		w.gen--
		if !w.view.skips(w.gen) {
			w.do = ActionRead
			return w
		}
	}
	if w.Op == WalkLookup {
		return w.done(Nothing)
	}
	w.do, w.gen = ActionPut, w.view.Current
	return w
}

func (w Walk) stale() Walk {
	w.do = ActionRefresh
	return w
}

func (w Walk) done(puid int64) Walk {
	w.do, w.puid = ActionDone, puid
	return w
}
