// SPDX-License-Identifier: Apache-2.0

package cell

// Walk is one key on its way through the generations, from the newest down, and what
// is written at the end. It is a value that says what it wants and is told what came of
// it: no goroutine, clock or database. The same code runs in [Directory], in the
// simulator and in the model that tries every interleaving:
//
//	w := Walk{Op: WalkPut}.Start(view)
//	for w.Want().Do != DoDone {
//		w = w.Got(reply to w.Want())
//	}
//	w.Answer()
//
//	         ┌── not open: refresh the map, begin again ◄── refused ──┐
//	         │                                                        │
//	     read g2 ── nothing ──► read g1 ── nothing ──► read g0 ──► put into g2
//	   (current)      open: seal it, read it after that     likewise
//
// The cells of all older generations that a new key passes are sealed, and read after
// that: no writer can put the key there any more. A key keeps its puid for ever, so the
// first one that is found ends the walk, whatever the state of the cell. What is refused,
// or found retired, was routed with an old map.
type Walk struct {
	// Op is what the walk is for.
	Op   Op
	view View
	do   Do
	gen  uint16
	puid int64
}

// Op is what a Walk is for.
type Op uint8

// The walks.
const (
	WalkLookup Op = iota // answers with the puid of the key, Nothing if it has none
	WalkPut              // gives the key a puid if it has none, and answers with it
	WalkPost             // seals the older cells of a position, so that a posting may be put
)

// View is what walks see of a cell map.
type View struct {
	Epoch uint64
	// Generations is how many there are, announced ones too.
	Generations, Current, Floor uint16
	// Skip are older generations that need not be asked, bit 0 being the one before the
	// current: for keys, those whose cell is sealed and has a filter that lacks the key;
	// for postings, those whose cell is known to be sealed.
	Skip uint64
}

// View returns what walks see of the map, nothing skipped.
func (m *Map) View() View {
	return View{
		Epoch: m.spec.Epoch, Generations: uint16(len(m.gens)),
		Current: uint16(m.spec.Current), Floor: uint16(m.spec.Floor),
	}
}

// skip marks a generation as one that need not be asked. Only the 64 before the current
// one can be.
func (v *View) skip(gen uint16) {
	if behind := v.Current - 1 - gen; gen < v.Current && behind < 64 {
		v.Skip |= 1 << behind
	}
}

func (v View) skips(gen uint16) bool {
	behind := v.Current - 1 - gen
	return behind < 64 && v.Skip>>behind&1 == 1
}

// Do is what a Walk, an Activation or a Compaction wants done next.
type Do uint8

// What is wanted of the cell of a generation, of the map, or of all cells.
const (
	DoDone    Do = iota // nothing more
	DoRefresh           // the newest map, in Reply.View

	// DoRead and the next two are one transaction each, of the key's cell in generation Gen.
	DoRead // its state and row, from one snapshot
	DoSeal // open becomes sealed, which waits for the writers in flight; then as DoRead
	DoPut  // if the cell is open: the key gets a puid unless it has one; the row

	// DoMake and all after it are steps of growth, on the cells of generation Gen; so is DoSeal.
	DoMake     // the databases of the new generation
	DoAnnounce // the next map lists generation Gen; the newest map after that
	DoWait     // until generation Gen starts
	DoPublish  // the next map makes generation Gen current; the newest map after that
	DoFilter   // filters of sealed cells
	DoCopy     // the rows of older generations into Gen, what Compaction.Carry chooses
	DoFloor    // the next map has the floor Gen; the newest map after that
	DoRetire   // sealed becomes retired
	DoDrop     // the key rows of retired cells are deleted
)

// Request is a step that is wanted. It is atomic and may be repeated.
type Request struct {
	Do  Do
	Gen uint16
	// Epoch is that of the map which the request was routed with: a cell that knows better
	// refuses to be written to.
	Epoch uint64
}

// Reply is what came of a Request.
type Reply struct {
	// Keys is the state of the cell, Row what it has of the key: a puid or Nothing.
	Keys Keys
	Row  int64
	// Fresh says that the request gave the key its puid.
	Fresh bool
	// Fenced says that the cell refused: it is not open, or not here, or knows a newer map
	// that forbids the writer. Nothing was done.
	Fenced bool
	// View is the newest map, if that was asked for.
	View View
}

// Lasting reports whether what a cell answered to DoRead stays true, and may be kept
// for later: the rows of a sealed cell never change, those of an open one may at once.
func (r Reply) Lasting() bool {
	return !r.Fenced && r.Keys == Sealed
}

// Start begins the walk, with a map that may be as old as it likes.
func (w Walk) Start(v View) Walk {
	w.view, w.gen, w.puid = v, v.Current, Nothing
	if w.Op == WalkPost || w.Op == WalkPut && w.alone() {
		return w.down() // the put itself answers with what the current generation has
	}
	w.do = DoRead
	return w
}

// alone reports whether no older generation has to be asked.
func (w Walk) alone() bool {
	for gen := w.view.Floor; gen < w.view.Current; gen++ {
		if !w.view.skips(gen) {
			return false
		}
	}
	return true
}

// Want returns what the walk needs done next.
func (w Walk) Want() Request {
	return Request{Do: w.do, Gen: w.gen, Epoch: w.view.Epoch}
}

// Answer returns what a walk that is done found: a puid, or Nothing.
func (w Walk) Answer() int64 { return w.puid }

// Got goes on with the reply to what the walk wanted.
func (w Walk) Got(r Reply) Walk {
	switch {
	case w.do == DoRefresh:
		return w.Start(r.View)
	case r.Fenced:
		return w.stale()
	case w.do == DoPut:
		return w.done(r.Row)
	}
	if w.Op == WalkPost {
		r.Row = Nothing
	}
	return w.saw(r)
}

// saw goes on with the state and row of the cell that was asked.
func (w Walk) saw(r Reply) Walk {
	top := w.gen == w.view.Current
	switch {
	case r.Row != Nothing:
		return w.done(r.Row)
	case top && r.Keys != Open:
		// There is a newer generation, which may have the key.
		return w.stale()
	case r.Keys == Retired:
		// What it had was copied to a generation that this map does not know or ask.
		return w.stale()
	case !top && r.Keys == Open && w.Op != WalkLookup:
		// No other writer may put the key there once the walk has passed, or both would.
		w.do = DoSeal
		return w
	}
	return w.down()
}

// down goes to the next older generation that has to be asked, if there is one: else no
// generation has the key.
func (w Walk) down() Walk {
	for w.gen > w.view.Floor {
		w.gen--
		if !w.view.skips(w.gen) {
			w.do = DoRead
			return w
		}
	}
	if w.Op == WalkLookup {
		return w.done(Nothing)
	}
	w.do, w.gen = DoPut, w.view.Current
	return w
}

func (w Walk) stale() Walk {
	w.do = DoRefresh
	return w
}

func (w Walk) done(puid int64) Walk {
	w.do, w.puid = DoDone, puid
	return w
}
