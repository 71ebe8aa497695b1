// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/protocol"
)

var doNames = map[protocol.Action]string{
	protocol.ActionDone: "done", protocol.ActionRefresh: "refresh",
	protocol.ActionRead: "read", protocol.ActionSeal: "seal", protocol.ActionPut: "put",
	protocol.ActionMake: "make", protocol.ActionAnnounce: "announce", protocol.ActionWait: "wait",
	protocol.ActionPublish: "publish",
	protocol.ActionFilter:  "filter", protocol.ActionCopy: "copy", protocol.ActionFloor: "floor",
	protocol.ActionRetire: "retire", protocol.ActionDrop: "drop",
}

func request(r protocol.Request) string {
	if r.Do == protocol.ActionDone || r.Do == protocol.ActionRefresh {
		return doNames[r.Do]
	}
	return fmt.Sprintf("%s g%d", doNames[r.Do], r.Gen)
}

// story returns the requests of a machine, in order, for these replies.
func story[M interface {
	Next() protocol.Request
	Step(protocol.Reply) M
}](m M, replies ...protocol.Reply) string {
	steps := []string{request(m.Next())}
	for _, r := range replies {
		m = m.Step(r)
		steps = append(steps, request(m.Next()))
	}
	return strings.Join(steps, ", ")
}

func view(generations, current, floor uint16) protocol.View {
	return protocol.View{Epoch: uint64(generations + current + floor), Generations: generations, Current: current,
		Floor: floor}
}

func TestWalk_Stories(t *testing.T) {
	t.Parallel()
	const puid = 77
	var (
		three  = view(3, 2, 0)
		proven = protocol.View{Epoch: 5, Generations: 3, Current: 2, Skip: 0b11}
		nearly = protocol.View{Epoch: 5, Generations: 3, Current: 2, Skip: 0b01}
		open   = protocol.Reply{Keys: protocol.Open}
		sealed = protocol.Reply{Keys: protocol.Sealed}
		has    = protocol.Reply{Keys: protocol.Open, Row: puid}
		had    = protocol.Reply{Keys: protocol.Sealed, Row: puid}
		gone   = protocol.Reply{Keys: protocol.Retired}
		fenced = protocol.Reply{Fenced: true}
	)
	for _, c := range []struct {
		name    string
		walk    protocol.Walk
		view    protocol.View
		replies []protocol.Reply
		want    string
		answer  int64
	}{
		{"nowhere", protocol.Walk{}, three, []protocol.Reply{open, sealed, open}, "read g2, read g1, read g0, done", 0},
		{"old and found", protocol.Walk{}, three, []protocol.Reply{open, had}, "read g2, read g1, done", puid},
		{"the map is old", protocol.Walk{}, view(2, 1, 0), []protocol.Reply{sealed, {View: three}, has},
			"read g1, refresh, read g2, done", puid},
		{"a hit needs no newer map", protocol.Walk{}, view(2, 1, 0), []protocol.Reply{had}, "read g1, done", puid},
		{"a generation is compacted during the walk", protocol.Walk{}, three, []protocol.Reply{open, gone, {View: view(3, 2, 2)}, has},
			"read g2, read g1, refresh, read g2, done", puid},
		{"above the floor only", protocol.Walk{}, view(3, 2, 2), []protocol.Reply{open}, "read g2, done", 0},
		{"the first generation", protocol.Walk{Op: protocol.WalkPut}, view(1, 0, 0), []protocol.Reply{has},
			"put g0, done", puid},
		{"a new key", protocol.Walk{Op: protocol.WalkPut}, three, []protocol.Reply{open, open, sealed, sealed, has},
			"read g2, read g1, seal g1, read g0, put g2, done", puid},
		{"a new key after filters: one probe", protocol.Walk{Op: protocol.WalkPut}, proven, []protocol.Reply{has},
			"put g2, done", puid},
		{"one filter", protocol.Walk{Op: protocol.WalkPut}, nearly, []protocol.Reply{open, sealed, has},
			"read g2, read g0, put g2, done", puid},
		{"came before the seal", protocol.Walk{Op: protocol.WalkPut}, view(2, 1, 0), []protocol.Reply{open, open, had},
			"read g1, read g0, seal g0, done", puid},
		{"an old key needs no seal", protocol.Walk{Op: protocol.WalkPut}, view(2, 1, 0), []protocol.Reply{open, has},
			"read g1, read g0, done", puid},
		{"refused", protocol.Walk{Op: protocol.WalkPut}, view(1, 0, 0),
			[]protocol.Reply{fenced, {View: view(2, 1, 0)}, open, sealed, has},
			"put g0, refresh, read g1, read g0, put g1, done", puid},
		{"post", protocol.Walk{Op: protocol.WalkPost}, three, []protocol.Reply{open, sealed, sealed},
			"read g1, seal g1, read g0, put g2", 0},
		{"post, all sealed", protocol.Walk{Op: protocol.WalkPost}, proven, nil, "put g2", 0},
	} {
		w := c.walk.Start(c.view)
		if got := story(w, c.replies...); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		for _, r := range c.replies {
			w = w.Step(r)
		}
		if w.Next().Do == protocol.ActionDone && w.Answer() != c.answer {
			t.Errorf("%s: answer %d, want %d", c.name, w.Answer(), c.answer)
		}
	}
}

// After any prefix of the steps a new machine continues with the remaining ones.
func TestActivation_Stories(t *testing.T) {
	t.Parallel()
	done, newest := protocol.Reply{}, func(v protocol.View) protocol.Reply { return protocol.Reply{View: v} }
	for _, c := range []struct {
		name    string
		view    protocol.View
		replies []protocol.Reply
		want    string
	}{
		{
			"from the beginning", view(2, 1, 0),
			[]protocol.Reply{done, newest(view(3, 1, 0)), done, newest(view(3, 2, 0)), done, done, done, done},
			"make g2, announce g2, wait g2, publish g2, seal g0, seal g1, filter g0, filter g1, done",
		},
		{"another process changed the map", view(2, 1, 0), []protocol.Reply{done, newest(view(2, 1, 1))},
			"make g2, announce g2, announce g2"},
		{"another process announced it", view(2, 1, 0), []protocol.Reply{done, newest(view(3, 1, 0))},
			"make g2, announce g2, wait g2"},
		{"announced", view(3, 1, 0), []protocol.Reply{done, newest(view(3, 1, 0)), done, newest(view(3, 2, 0))},
			"wait g2, publish g2, wait g2, publish g2, seal g0"},
		{"behind another", view(3, 0, 0), []protocol.Reply{done, newest(view(3, 1, 0)), done, newest(view(3, 2, 0))},
			"wait g1, publish g1, wait g2, publish g2, seal g0"},
		{"current", view(3, 2, 1), []protocol.Reply{done, done}, "seal g1, filter g1, done"},
	} {
		if got := story(protocol.NewRollout(2, c.view), c.replies...); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestCompaction_Stories(t *testing.T) {
	t.Parallel()
	done, newest := protocol.Reply{}, func(v protocol.View) protocol.Reply { return protocol.Reply{View: v} }
	for _, c := range []struct {
		name    string
		to      int
		view    protocol.View
		replies []protocol.Reply
		want    string
	}{
		{
			"all", 2, view(3, 2, 0),
			[]protocol.Reply{done, done, done, newest(view(3, 2, 2)), done, done, done, done},
			"seal g0, seal g1, copy g2, floor g2, retire g0, retire g1, drop g0, drop g1, done",
		},
		{
			"the oldest", 1, view(3, 2, 0),
			[]protocol.Reply{done, done, done, newest(view(3, 2, 1)), done, done},
			"seal g0, seal g1, copy g2, floor g1, retire g0, drop g0, done",
		},
		{
			"a generation came", 1, view(2, 1, 0),
			[]protocol.Reply{done, {Fenced: true}, newest(view(3, 2, 0)), done, done, done},
			"seal g0, copy g1, refresh, seal g0, seal g1, copy g2, floor g1",
		},
		{"another process changed the map", 1, view(2, 1, 0),
			[]protocol.Reply{done, done, newest(view(3, 1, 0)), newest(view(3, 1, 1))},
			"seal g0, copy g1, floor g1, floor g1, retire g0"},
		{"killed after the floor", 1, view(3, 2, 1), []protocol.Reply{done, done}, "retire g0, drop g0, done"},
		{"nothing to do", 0, view(3, 2, 0), nil, "done"},
	} {
		if got := story(protocol.NewCompaction(c.to, c.view), c.replies...); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestCompaction_Carry(t *testing.T) {
	t.Parallel()
	c := protocol.NewCompaction(2, view(5, 4, 0)) // copies generations 0 and 1 into 4
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
			w, n := protocol.Walk{}.Start(view(gens, gens-1, 0)), 0
			for ; w.Next().Do == protocol.ActionRead; n++ {
				reply := protocol.Reply{Keys: protocol.Sealed}
				if w.Next().Gen == gens-1 {
					reply.Keys = protocol.Open
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
	if got := (protocol.Walk{}).Start(many).Step(protocol.Reply{}).Next(); got.Gen != 34 {
		t.Errorf("after 64 filters generation %d is asked, want 34", got.Gen)
	}
}
