// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
)

func TestAppend(t *testing.T) {
	t.Parallel()
	const hour = int64(time.Hour / time.Millisecond)
	base := func() cell.Spec {
		s := grownSpec()
		s.Epoch, s.Current, s.Floor = 10, 1, 1
		return s
	}
	until := base().Until.UnixMilli()
	for _, c := range []struct {
		name   string
		change func(old, next *cell.Spec)
		says   string // "" is accepted
	}{
		{"nothing but the epoch", func(_, _ *cell.Spec) {}, ""},
		{"until rises", func(_, n *cell.Spec) { n.Until = ms(until + hour) }, ""},
		{"announced", func(_, n *cell.Spec) {
			n.Generations = append(n.Generations, cell.Generation{Cells: 240, Starts: ms(until)})
		}, ""},
		{"announced, until beyond it", func(_, n *cell.Spec) {
			n.Generations = append(n.Generations, cell.Generation{Cells: 48, Starts: ms(until + hour)})
			n.Until = ms(until + 2*hour)
		}, ""},
		{"moved", func(_, n *cell.Spec) { n.Moved[cell.ID{}] = cell.Home{URL: "postgres://db9/x", Incarnation: 2} }, ""},
		{"other authority", func(_, n *cell.Spec) { n.Authority = cell.ID{} }, ""},
		{"a date is taken away", func(_, n *cell.Spec) { n.Until = time.Time{} }, ""},

		{"other map", func(_, n *cell.Spec) { n.ID = "other" }, "map other cannot follow map 7c0e31"},
		{"other salt", func(_, n *cell.Spec) { n.Salt = [16]byte{} }, "salt"},
		{"same epoch", func(_, n *cell.Spec) { n.Epoch = 9 }, "epoch 9 cannot follow 9"},
		{"epoch left out", func(_, n *cell.Spec) { n.Epoch = 11 }, "epoch 11 cannot follow 9"},
		{"generation lost", func(o, n *cell.Spec) {
			n.Generations, n.Current, n.Floor = n.Generations[:1], 0, 0
			n.Authority = cell.ID{}
		}, "generation 1 is missing"},
		{"other count", func(_, n *cell.Spec) { n.Generations[1].Cells = 96 }, "generation 1 changed"},
		{"other start", func(_, n *cell.Spec) { n.Generations[1].Starts = n.Generations[1].Starts.Add(time.Second) }, "generation 1 changed"},
		{"other place", func(_, n *cell.Spec) { n.Generations[0].URLs = []string{"sqlite:new/{i}"} }, "generation 0 changed"},
		{"starts before until", func(_, n *cell.Spec) {
			n.Generations = append(n.Generations, cell.Generation{Cells: 48, Starts: ms(until - 1)})
		}, "generation 2 starts"},
		{"until falls", func(_, n *cell.Spec) { n.Until = ms(until - 1) }, "until decreases"},
		{"current falls", func(_, n *cell.Spec) { n.Current, n.Floor = 0, 0 }, "current generation 0"},
		{"floor falls", func(o, n *cell.Spec) { o.Floor, n.Floor = 1, 0 }, "floor 0"},
		{"growth without a date", func(o, n *cell.Spec) {
			o.Until, n.Until = time.Time{}, time.Time{}
			n.Generations = append(n.Generations, cell.Generation{Cells: 48, Starts: ms(until + hour)})
		}, "map without until"},
		{"a date comes late", func(o, _ *cell.Spec) { o.Until = time.Time{} }, "until cannot be added"},
	} {
		old, next := grownSpec(), base()
		c.change(&old, &next)
		err := cell.Append(newMap(t, old), newMap(t, next))
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if !errors.Is(err, cell.ErrMap) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want ErrMap that says %q", c.name, err, c.says)
		}
	}
}
