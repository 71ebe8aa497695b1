// SPDX-License-Identifier: Apache-2.0

package cell

// Compaction takes the keys out of the oldest generations, so that nobody need look
// there any more: their puids are copied to the cells of the current generation. Records
// stay where they are. Like Walk it is a value that says what it wants:
//
//	seal all older cells ─► copy ─► raise the floor ─► retire what is below ─► drop its rows
//	                        (if refused: a newer generation came, begin again with it)
//
// It may be stopped between any two steps and begun again by anybody.
type Compaction struct {
	to   uint16 // the floor that it makes
	view View
	do   Do
	at   uint16 // the generation whose cells are worked on
}

// NewCompaction begins, or goes on with, the compaction of all generations below to, with the
// newest map. to is at most the current generation.
func NewCompaction(to int, newest View) Compaction {
	return Compaction{to: uint16(to)}.plan(newest)
}

// plan begins with what the map says has not been done.
func (c Compaction) plan(v View) Compaction {
	c.view = v
	if v.Floor >= c.to {
		return c.each(DoRetire, 0)
	}
	return c.each(DoSeal, v.Floor)
}

// each wants something done with the cells of one generation after the other from this
// one, then what comes after it.
func (c Compaction) each(do Do, gen uint16) Compaction {
	end := c.to
	if do == DoSeal {
		end = c.view.Current // what is read to be copied must not change
	}
	c.do, c.at = do, gen
	switch {
	case gen < end:
	case do == DoSeal:
		c.do, c.at = DoCopy, c.view.Current
	case do == DoRetire:
		return c.each(DoDrop, 0)
	default:
		c.do, c.at = DoDone, c.to
	}
	return c
}

// Want returns what is to be done next: DoSeal for one generation after the other,
// DoCopy, DoFloor, then DoRetire and DoDrop for one generation after the other, DoDone.
func (c Compaction) Want() Request {
	return Request{Do: c.do, Gen: c.at, Epoch: c.view.Epoch}
}

// From returns the generations whose rows DoCopy looks at: from the newest, which is the
// one before the current, down to the oldest. All their cells are sealed.
func (c Compaction) From() (newest, oldest int) {
	return int(c.view.Current) - 1, int(c.view.Floor)
}

// Carry chooses what DoCopy copies of a key: its puid, or Nothing. rows are what the
// generations that From names have of it, Nothing included, the newest first. A key is
// copied unless a generation that will still be asked has it.
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

// Got goes on after what was wanted was done. The reply to DoCopy is Fenced if a cell
// that is copied into refused (Head.Admits). To DoRefresh and DoFloor, which somebody else
// may have been in the way of, it is the newest map.
func (c Compaction) Got(r Reply) Compaction {
	switch c.do {
	case DoSeal, DoRetire, DoDrop:
		return c.each(c.do, c.at+1)
	case DoCopy:
		c.do, c.at = DoFloor, c.to
		if r.Fenced {
			c.do = DoRefresh
		}
	case DoFloor:
		if r.View.Floor < c.to {
			c.view = r.View // what was copied stays copied, however many generations came
			break
		}
		return c.plan(r.View)
	case DoRefresh:
		return c.plan(r.View)
	}
	return c
}
