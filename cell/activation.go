// SPDX-License-Identifier: Apache-2.0

package cell

// Activation makes a generation of cells the current one. Like Walk, it is a value that returns its next request and is
// given the reply:
//
//	make databases ─► announce ─► wait ─► publish ─► seal all older cells ─► their filters
//	                  (map: ids)  (clock) (map: keys)
//
// It can be interrupted between any two steps and resumed by any process, and several can run concurrently. Writes are
// never interrupted: the new cells are open at once, and a writer that needs an older cell sealed before the activation
// has reached it seals it itself.
type Activation struct {
	gen  uint16 // generation that becomes current
	view View
	do   Do
	at   uint16 // generation whose cells are being processed
}

// NewActivation starts or resumes the activation of generation gen, given the newest map. A generation that the map
// does not list yet must be the map's next one.
func NewActivation(gen int, newest View) Activation {
	return Activation{gen: uint16(gen)}.plan(newest)
}

// plan determines the next step from what the map says has been done.
func (a Activation) plan(v View) Activation {
	made := a.do == DoAnnounce
	a.view, a.at = v, a.gen
	switch {
	case v.Generations <= a.gen && made:
		a.do = DoAnnounce // another process changed the map
	case v.Generations <= a.gen:
		a.do = DoMake
	case v.Current < a.gen:
		a.do, a.at = DoWait, v.Current+1
	default:
		return a.each(DoSeal, v.Floor)
	}
	return a
}

// each requests do for the older generations one by one, starting at gen, then the step that follows.
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

// Want returns the next request: DoMake, DoAnnounce, DoWait, DoPublish, then DoSeal and then DoFilter for each older
// generation, and finally DoDone.
func (a Activation) Want() Request {
	return Request{Do: a.do, Gen: a.at, Epoch: a.view.Epoch}
}

// Got returns the activation after its request was carried out. For DoAnnounce and DoPublish it must also be called if
// another process changed the map first; their replies carry the newest map.
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
