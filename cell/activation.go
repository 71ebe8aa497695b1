// SPDX-License-Identifier: Apache-2.0

package cell

// Activation makes a generation of cells the current one. Like Walk it is a value that
// says what it wants and is told what came of it:
//
//	make databases ─► announce ─► wait ─► publish ─► seal all older cells ─► their filters
//	                  (map: ids)  (clock) (map: keys)
//
// It may be stopped between any two steps and begun again by anybody, and several may
// run at one time. There is no moment without writes: the new cells are open at once,
// and who needs an older cell sealed before the turn comes to it seals it himself.
type Activation struct {
	gen  uint16 // the generation that becomes current
	view View
	do   Do
	at   uint16 // the generation whose cells are worked on
}

// NewActivation begins, or goes on with, the activation of generation gen, with the newest
// map. A generation that the map does not list yet must be its next.
func NewActivation(gen int, newest View) Activation {
	return Activation{gen: uint16(gen)}.plan(newest)
}

// plan goes on from what the map says has been done.
func (a Activation) plan(v View) Activation {
	made := a.do == DoAnnounce
	a.view, a.at = v, a.gen
	switch {
	case v.Generations <= a.gen && made:
		a.do = DoAnnounce // somebody else changed the map meanwhile
	case v.Generations <= a.gen:
		a.do = DoMake
	case v.Current < a.gen:
		a.do, a.at = DoWait, v.Current+1
	default:
		return a.each(DoSeal, v.Floor)
	}
	return a
}

// each wants something done with the older generations, one after the other from this
// one, then what comes after it.
func (a Activation) each(do Do, gen uint16) Activation {
	switch {
	case gen < a.gen:
		a.do, a.at = do, gen
	case do == DoSeal:
		return a.each(DoFilter, a.view.Floor)
	default:
		a.do, a.at = DoDone, a.gen
	}
	return a
}

// Want returns what is to be done next: DoMake, DoAnnounce, DoWait, DoPublish, then
// DoSeal and DoFilter for one generation after the other, DoDone.
func (a Activation) Want() Request {
	return Request{Do: a.do, Gen: a.at, Epoch: a.view.Epoch}
}

// Got goes on after what was wanted was done, or, for DoAnnounce and DoPublish, after
// somebody else changed the map first: both reply with the newest map.
func (a Activation) Got(r Reply) Activation {
	switch a.do {
	case DoMake:
		a.do = DoAnnounce
	case DoAnnounce, DoPublish:
		return a.plan(r.View)
	case DoWait:
		a.do = DoPublish
	case DoSeal, DoFilter:
		return a.each(a.do, a.at+1)
	}
	return a
}
