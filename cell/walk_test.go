// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
)

var doNames = map[cell.Action]string{
	cell.ActionDone: "done", cell.ActionRefresh: "refresh",
	cell.ActionRead: "read", cell.ActionSeal: "seal", cell.ActionPut: "put",
	cell.ActionMake: "make", cell.ActionAnnounce: "announce", cell.ActionWait: "wait", cell.ActionPublish: "publish",
	cell.ActionFilter: "filter", cell.ActionCopy: "copy", cell.ActionFloor: "floor", cell.ActionRetire: "retire", cell.ActionDrop: "drop",
}

func request(r cell.Request) string {
	if r.Do == cell.ActionDone || r.Do == cell.ActionRefresh {
		return doNames[r.Do]
	}
	return fmt.Sprintf("%s g%d", doNames[r.Do], r.Gen)
}

// story returns the requests of a machine, in order, for these replies.
func story[M interface {
	Next() cell.Request
	Step(cell.Reply) M
}](m M, replies ...cell.Reply) string {
	steps := []string{request(m.Next())}
	for _, r := range replies {
		m = m.Step(r)
		steps = append(steps, request(m.Next()))
	}
	return strings.Join(steps, ", ")
}

func view(generations, current, floor uint16) cell.View {
	return cell.View{Epoch: uint64(generations + current + floor), Generations: generations, Current: current, Floor: floor}
}

func TestWalk_Stories(t *testing.T) {
	t.Parallel()
	const puid = 77
	var (
		three  = view(3, 2, 0)
		proven = cell.View{Epoch: 5, Generations: 3, Current: 2, Skip: 0b11}
		nearly = cell.View{Epoch: 5, Generations: 3, Current: 2, Skip: 0b01}
		open   = cell.Reply{Keys: cell.Open}
		sealed = cell.Reply{Keys: cell.Sealed}
		has    = cell.Reply{Keys: cell.Open, Row: puid}
		had    = cell.Reply{Keys: cell.Sealed, Row: puid}
		gone   = cell.Reply{Keys: cell.Retired}
		fenced = cell.Reply{Fenced: true}
	)
	for _, c := range []struct {
		name    string
		walk    cell.Walk
		view    cell.View
		replies []cell.Reply
		want    string
		answer  int64
	}{
		{"nowhere", cell.Walk{}, three, []cell.Reply{open, sealed, open}, "read g2, read g1, read g0, done", 0},
		{"old and found", cell.Walk{}, three, []cell.Reply{open, had}, "read g2, read g1, done", puid},
		{"the map is old", cell.Walk{}, view(2, 1, 0), []cell.Reply{sealed, {View: three}, has}, "read g1, refresh, read g2, done", puid},
		{"which a hit does not mind", cell.Walk{}, view(2, 1, 0), []cell.Reply{had}, "read g1, done", puid},
		{"compacted meanwhile", cell.Walk{}, three, []cell.Reply{open, gone, {View: view(3, 2, 2)}, has}, "read g2, read g1, refresh, read g2, done", puid},
		{"above the floor only", cell.Walk{}, view(3, 2, 2), []cell.Reply{open}, "read g2, done", 0},
		{"the first generation", cell.Walk{Op: cell.WalkPut}, view(1, 0, 0), []cell.Reply{has}, "put g0, done", puid},
		{"a new key", cell.Walk{Op: cell.WalkPut}, three, []cell.Reply{open, open, sealed, sealed, has}, "read g2, read g1, seal g1, read g0, put g2, done", puid},
		{"a new key after filters: one probe", cell.Walk{Op: cell.WalkPut}, proven, []cell.Reply{has}, "put g2, done", puid},
		{"one filter", cell.Walk{Op: cell.WalkPut}, nearly, []cell.Reply{open, sealed, has}, "read g2, read g0, put g2, done", puid},
		{"came before the seal", cell.Walk{Op: cell.WalkPut}, view(2, 1, 0), []cell.Reply{open, open, had}, "read g1, read g0, seal g0, done", puid},
		{"an old key needs no seal", cell.Walk{Op: cell.WalkPut}, view(2, 1, 0), []cell.Reply{open, has}, "read g1, read g0, done", puid},
		{"refused", cell.Walk{Op: cell.WalkPut}, view(1, 0, 0), []cell.Reply{fenced, {View: view(2, 1, 0)}, open, sealed, has}, "put g0, refresh, read g1, read g0, put g1, done", puid},
		{"post", cell.Walk{Op: cell.WalkPost}, three, []cell.Reply{open, sealed, sealed}, "read g1, seal g1, read g0, put g2", 0},
		{"post, all sealed", cell.Walk{Op: cell.WalkPost}, proven, nil, "put g2", 0},
	} {
		w := c.walk.Start(c.view)
		if got := story(w, c.replies...); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		for _, r := range c.replies {
			w = w.Step(r)
		}
		if w.Next().Do == cell.ActionDone && w.Answer() != c.answer {
			t.Errorf("%s: answer %d, want %d", c.name, w.Answer(), c.answer)
		}
	}
}

// After any prefix of the steps a new machine continues with the remaining ones.
func TestActivation_Stories(t *testing.T) {
	t.Parallel()
	done, newest := cell.Reply{}, func(v cell.View) cell.Reply { return cell.Reply{View: v} }
	for _, c := range []struct {
		name    string
		view    cell.View
		replies []cell.Reply
		want    string
	}{
		{
			"from the beginning", view(2, 1, 0),
			[]cell.Reply{done, newest(view(3, 1, 0)), done, newest(view(3, 2, 0)), done, done, done, done},
			"make g2, announce g2, wait g2, publish g2, seal g0, seal g1, filter g0, filter g1, done",
		},
		{"somebody changed the map", view(2, 1, 0), []cell.Reply{done, newest(view(2, 1, 1))}, "make g2, announce g2, announce g2"},
		{"somebody announced it", view(2, 1, 0), []cell.Reply{done, newest(view(3, 1, 0))}, "make g2, announce g2, wait g2"},
		{"announced", view(3, 1, 0), []cell.Reply{done, newest(view(3, 1, 0)), done, newest(view(3, 2, 0))}, "wait g2, publish g2, wait g2, publish g2, seal g0"},
		{"behind another", view(3, 0, 0), []cell.Reply{done, newest(view(3, 1, 0)), done, newest(view(3, 2, 0))}, "wait g1, publish g1, wait g2, publish g2, seal g0"},
		{"current", view(3, 2, 1), []cell.Reply{done, done}, "seal g1, filter g1, done"},
	} {
		if got := story(cell.NewRollout(2, c.view), c.replies...); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestCompaction_Stories(t *testing.T) {
	t.Parallel()
	done, newest := cell.Reply{}, func(v cell.View) cell.Reply { return cell.Reply{View: v} }
	for _, c := range []struct {
		name    string
		to      int
		view    cell.View
		replies []cell.Reply
		want    string
	}{
		{
			"all", 2, view(3, 2, 0),
			[]cell.Reply{done, done, done, newest(view(3, 2, 2)), done, done, done, done},
			"seal g0, seal g1, copy g2, floor g2, retire g0, retire g1, drop g0, drop g1, done",
		},
		{
			"the oldest", 1, view(3, 2, 0),
			[]cell.Reply{done, done, done, newest(view(3, 2, 1)), done, done},
			"seal g0, seal g1, copy g2, floor g1, retire g0, drop g0, done",
		},
		{
			"a generation came", 1, view(2, 1, 0),
			[]cell.Reply{done, {Fenced: true}, newest(view(3, 2, 0)), done, done, done},
			"seal g0, copy g1, refresh, seal g0, seal g1, copy g2, floor g1",
		},
		{"somebody changed the map", 1, view(2, 1, 0), []cell.Reply{done, done, newest(view(3, 1, 0)), newest(view(3, 1, 1))}, "seal g0, copy g1, floor g1, floor g1, retire g0"},
		{"killed after the floor", 1, view(3, 2, 1), []cell.Reply{done, done}, "retire g0, drop g0, done"},
		{"nothing to do", 0, view(3, 2, 0), nil, "done"},
	} {
		if got := story(cell.NewCompaction(c.to, c.view), c.replies...); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestCompaction_Carry(t *testing.T) {
	t.Parallel()
	c := cell.NewCompaction(2, view(5, 4, 0)) // copies generations 0 and 1 into 4
	if newest, oldest := c.From(); newest != 3 || oldest != 0 {
		t.Errorf("from %d to %d", newest, oldest)
	}
	for _, r := range []struct {
		rows []int64
		want int64
	}{
		{[]int64{0, 0, 0, 0}, 0},
		{[]int64{0, 0, 0, 5}, 5},
		{[]int64{0, 0, 6, 5}, 6},
		{[]int64{0, 7, 6, 5}, 0},
	} {
		if got := c.Carry(r.rows); got != r.want {
			t.Errorf("of %v, newest first, %d is copied, want %d", r.rows, got, r.want)
		}
	}
}

// In an installation whose cells were filled evenly, one generation after the other, each r times as large as the one
// before, an existing key is found after r/(r-1) reads on average, a new one after reading all generations, or one if
// the older cells have filters.
func TestT7_Hops(t *testing.T) {
	t.Parallel()
	for _, r := range []float64{2, 3, 10} {
		const gens = 11
		asked, keys, weight := 0.0, 0.0, 1.0
		for lives := range uint16(gens) {
			w, n := cell.Walk{}.Start(view(gens, gens-1, 0)), 0
			for ; w.Next().Do == cell.ActionRead; n++ {
				reply := cell.Reply{Keys: cell.Sealed}
				if w.Next().Gen == gens-1 {
					reply.Keys = cell.Open
				}
				if w.Next().Gen == lives {
					reply.Row = 1
				}
				w = w.Step(reply)
			}
			asked, keys, weight = asked+float64(n)*weight, keys+weight, weight*r
		}
		if mean := asked / keys; mean >= r/(r-1) || mean < 1 {
			t.Errorf("growth %v: %.3f questions, want fewer than %.3f", r, mean, r/(r-1))
		}
	}
	// Generations beyond the 64th are read, whatever a filter says.
	many := view(100, 99, 0)
	many.Skip = ^uint64(0)
	if got := (cell.Walk{}).Start(many).Step(cell.Reply{}).Next(); got.Gen != 34 {
		t.Errorf("after 64 filters generation %d is asked, want 34", got.Gen)
	}
}
