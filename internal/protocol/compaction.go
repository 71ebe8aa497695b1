// SPDX-License-Identifier: Apache-2.0

package protocol

// Compaction removes the oldest generations from key lookups: it copies their puids to the cells of the current
// generation. Records stay where they are. Like Walk, it is a value that returns its next request:
//
//	seal all older cells ─► copy ─► raise the floor ─► retire what is below ─► drop its rows
//	                        (if refused: a newer generation came, begin again with it)
//
// It can be interrupted between any two steps and resumed by any process.
type Compaction struct {
	to   uint16 // the new floor
	view View
	do   Action
	at   uint16 // generation whose cells are being processed
}

// NewCompaction starts or resumes the compaction of all generations below to, given the newest map. to must not exceed
// the current generation.
func NewCompaction(to int, newest View) Compaction {
	return Compaction{to: uint16(to)}.plan(newest)
}

// plan starts at the first step that the map does not show as done.
func (c Compaction) plan(v View) Compaction {
	c.view = v
	if v.Floor >= c.to {
		return c.each(ActionRetire, 0)
	}
	return c.each(ActionSeal, v.Floor)
}

// each requests do for the cells of each generation, starting at gen, then the step that follows.
func (c Compaction) each(do Action, gen uint16) Compaction {
	end := c.to
	if do == ActionSeal {
		end = c.view.Current // rows must not change while they are read to be copied
	}
	c.do, c.at = do, gen
	switch {
	case gen < end:
	case do == ActionSeal:
		c.do, c.at = ActionCopy, c.view.Current
	case do == ActionRetire:
		return c.each(ActionDrop, 0)
	default:
		c.do, c.at = ActionDone, c.to
	}
	return c
}

// Next returns the next request: ActionSeal for each older generation, ActionCopy, ActionFloor, then ActionRetire and
// then ActionDrop for each generation below the floor, and finally ActionDone.
func (c Compaction) Next() Request {
	return Request{Do: c.do, Gen: c.at, Epoch: c.view.Epoch}
}

// From returns the generations that ActionCopy reads: from the newest, which is the one before the current, down to the
// oldest. All their cells are sealed.
func (c Compaction) From() (newest, oldest int) {
	return int(c.view.Current) - 1, int(c.view.Floor)
}

// Carry returns the puid that ActionCopy copies for a key, or Nothing. rows are the key's puids in the generations of
// From, newest first, Nothing where there is none. A key is copied unless a generation that stays above the floor has
// it.
func (c Compaction) Carry(rows []int64) int64 {
	newest, _ := c.From()
	for i, row := range rows {
		kept := newest-i >= int(c.to)
		switch {
		case row == Nothing:
		case kept:
			return Nothing
		default:
			return row
		}
	}
	return Nothing
}

// Step returns the compaction after its request was carried out. The reply to ActionCopy is Fenced if a target cell
// refused the rows. The replies to ActionRefresh and ActionFloor carry the newest map, also if another
// process changed the map first.
func (c Compaction) Step(r Reply) Compaction {
	switch c.do {
	case ActionSeal, ActionRetire, ActionDrop:
		return c.each(c.do, c.at+1)
	case ActionCopy:
		c.do, c.at = ActionFloor, c.to
		if r.Fenced {
			c.do = ActionRefresh
		}
	case ActionFloor:
		if r.View.Floor < c.to {
			c.view = r.View // copied rows stay copied, however many generations were added
			break
		}
		return c.plan(r.View)
	case ActionRefresh:
		return c.plan(r.View)
	}
	return c
}
