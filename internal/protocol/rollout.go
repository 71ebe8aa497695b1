// SPDX-License-Identifier: Apache-2.0

package protocol

// Rollout makes a generation of cells the current one. Like Walk, it is a value that returns its next request and is
// given the reply:
//
//	make databases ─► announce ─► wait ─► publish ─► seal all older cells ─► their filters
//	                  (map: ids)  (clock) (map: keys)
//
// It can be interrupted between any two steps and resumed by any process, and several can run concurrently. Writes are
// never interrupted: the new cells are open at once, and a writer that needs an older cell sealed before the rollout
// has reached it seals it itself.
type Rollout struct {
	gen  uint16 // generation that becomes current
	view View
	do   Action
	at   uint16 // generation whose cells are being processed
}

// NewRollout starts or resumes the rollout of generation gen, given the newest map. A generation that the map
// does not list yet must be the map's next one.
func NewRollout(gen int, newest View) Rollout {
	return Rollout{gen: uint16(gen)}.plan(newest)
}

// plan determines the next step from what, according to the map, has been done.
func (a Rollout) plan(v View) Rollout {
	made := a.do == ActionAnnounce
	a.view, a.at = v, a.gen
	switch {
	case v.Generations <= a.gen && made:
		a.do = ActionAnnounce // another process changed the map
	case v.Generations <= a.gen:
		a.do = ActionMake
	case v.Current < a.gen:
		a.do, a.at = ActionWait, v.Current+1
	default:
		return a.each(ActionSeal, v.Floor)
	}
	return a
}

// each requests do for the older generations one by one, starting at gen, then the step that follows.
func (a Rollout) each(do Action, gen uint16) Rollout {
	switch {
	case gen < a.gen:
		a.do, a.at = do, gen
	case do == ActionSeal:
		return a.each(ActionFilter, a.view.Floor)
	default:
		a.do, a.at = ActionDone, a.gen
	}
	return a
}

// Next returns the next request: ActionMake, ActionAnnounce, ActionWait, ActionPublish, then ActionSeal and then
// ActionFilter for each older generation, and finally ActionDone.
func (a Rollout) Next() Request {
	return Request{Do: a.do, Gen: a.at, Epoch: a.view.Epoch}
}

// Step returns the rollout after its request was carried out. For ActionAnnounce and ActionPublish it must also be
// called if another process changed the map first; their replies carry the newest map.
func (a Rollout) Step(r Reply) Rollout {
	switch a.do {
	case ActionMake:
		a.do = ActionAnnounce
	case ActionAnnounce, ActionPublish:
		return a.plan(r.View)
	case ActionWait:
		a.do = ActionPublish
	case ActionSeal, ActionFilter:
		return a.each(a.do, a.at+1)
	}
	return a
}
