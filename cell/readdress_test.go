// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance/celltest"
)

// here and there are the locations of an installation and its copy.
const here, there = "mem://here/locus", "mem://there/locus"

func at(place string, i int) string { return fmt.Sprintf("%s_g0_%d", place, i) }

// copied creates an installation of three cells here, with some keys, and a copy of its databases there.
func copied(t *testing.T) (*celltest.Memory, linked) {
	t.Helper()
	memory := &celltest.Memory{}
	o := options(memory, 0)
	o.Authority = at(here, 0)
	o.New = &cell.Spec{Generations: []cell.Generation{{Cells: 3, URLs: []string{here + "_g{g}_{i}"}}}}
	c, err := cell.OpenCells(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	keys := linked{}
	keys.mustPut(t, c, 0, 30)
	closeCells(t, c)
	for i := range 3 {
		memory.Clone(at(here, i), at(there, i))
	}
	return memory, keys
}

// restore does what locus cell restored --map here=there does.
func restore(t *testing.T, memory *celltest.Memory, pairs ...[2]string) (*process, []cell.Readdressed, error) {
	t.Helper()
	o := options(memory, 0)
	o.Authority, o.Restored = at(there, 0), true
	if len(pairs) == 0 {
		pairs = [][2]string{{here, there}}
	}
	var shown []cell.Readdressed
	o.Readdress = &cell.Readdress{URL: cell.Rewrite(pairs), Agree: func(_ *cell.Map, cells []cell.Readdressed) error {
		shown = cells
		return nil
	}}
	c, err := cell.OpenCells(t.Context(), o)
	if err == nil {
		err = errors.Join(cell.Reincarnate(t.Context(), c))
	}
	return c, shown, err
}

// states reads the state of databases, to check that nothing was written there.
func states(t *testing.T, memory *celltest.Memory, place string) (all string) {
	t.Helper()
	for i := range 3 {
		db, err := memory.Dial(t.Context(), at(place, i), false)
		if err != nil {
			t.Fatal(err)
		}
		p, err := db.Pulse(t.Context())
		if err == nil {
			err = db.View(t.Context(), func(s cell.Store) error {
				h, err := s.Head(t.Context())
				epoch, text, err2 := s.CellMap(t.Context())
				all += fmt.Sprintf("%v %+v %d %s\n", p, h, epoch, text)
				return errors.Join(err, err2)
			})
		}
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// A copy whose map leads to the original neither serves nor repairs, whether the original can be reached or not.
func TestP08_ACopyIsToldFromTheOriginal(t *testing.T) {
	t.Parallel()
	for _, down := range []bool{false, true} {
		for _, restored := range []bool{false, true} {
			t.Run(fmt.Sprintf("down %v, restored %v", down, restored), func(t *testing.T) {
				t.Parallel()
				memory, _ := copied(t)
				before := states(t, memory, here)
				for i := range 3 {
					memory.Down(at(here, i), down)
				}
				o := options(memory, 0)
				o.Authority, o.Restored = at(there, 0), restored
				c, err := cell.OpenCells(t.Context(), o)
				if err == nil {
					closeCells(t, c)
				}
				if !errors.Is(err, cell.ErrCopy) || !strings.Contains(err.Error(), "--map OLD=NEW") {
					t.Fatalf("the copy was opened: %v, want ErrCopy that says what to do", err)
				}
				for i := range 3 {
					memory.Down(at(here, i), false)
				}
				if after := states(t, memory, here); after != before {
					t.Errorf("the original was\n%sand is\n%s", before, after)
				}
			})
		}
	}
}

// The same database under another name is not a copy.
func TestOpenCells_BySeveralNames(t *testing.T) {
	t.Parallel()
	memory, keys := copied(t)
	o := options(memory, 0)
	o.Authority = "mem://alias"
	inner := o.Driver
	o.Driver = func(url string) (cell.Driver[cell.Store], error) {
		d, err := inner(url)
		return alias{d}, err
	}
	c, err := cell.OpenCells(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer closeCells(t, c)
	keys.check(t, c)
}

type alias struct{ cell.Driver[cell.Store] }

func (a alias) Dial(ctx context.Context, url string, create bool) (cell.Opened[cell.Store], error) {
	if url == "mem://alias" {
		url = at(here, 0)
	}
	return a.Driver.Dial(ctx, url, create)
}

// A copy gets its own map with a new ID and continues from its content; the original is unchanged. Readdressing may be
// interrupted at any point and repeated.
func TestP08_ACopyIsReaddressed(t *testing.T) {
	t.Parallel()
	for n := int64(1); ; n++ {
		memory, keys := copied(t)
		before := states(t, memory, here)
		steps := failing(memory, n, true)
		c, _, err := restore(t, memory)
		if c != nil {
			_ = c.Close()
		}
		memory.Hook(nil)
		done := err == nil && steps.Load() < n
		var id string
		for range 2 {
			c, shown, err := restore(t, memory)
			if err != nil {
				t.Fatalf("step %d: %v", n, err)
			}
			if len(shown) != 3 || shown[2].To != at(there, 2) {
				t.Fatalf("step %d: shown were %v", n, shown)
			}
			if id == "" {
				id = c.Map().Spec().ID
			}
			if c.Map().Spec().ID != id || strings.Contains(before, id) {
				t.Fatalf("step %d: the copy is of map %s, was %s, the original is\n%s", n, c.Map().Spec().ID, id, before)
			}
			closeCells(t, c)
		}
		if after := states(t, memory, here); after != before {
			t.Fatalf("step %d: the original was\n%sand is\n%s", n, before, after)
		}
		for _, place := range []string{here, there} {
			o := options(memory, 0)
			o.Authority = at(place, 0)
			c, err := cell.OpenCells(t.Context(), o)
			if err != nil {
				t.Fatalf("step %d: %v", n, err)
			}
			keys.check(t, c)
			for _, id := range c.Map().Cells() {
				if url := c.Map().URL(id); !strings.HasPrefix(url, place) {
					t.Fatalf("step %d: cell %v of %s is at %s", n, id, place, url)
				}
			}
			closeCells(t, c)
		}
		if done {
			break
		}
	}
}

// A database that is not a copy is not readdressed.
func TestReaddress_Refuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pairs [][2]string
		spoil func(m *celltest.Memory)
		want  string
	}{
		"a server that is not named":  {[][2]string{{"mem://elsewhere/locus", there}}, nil, "whose copy is not named"},
		"a database that is missing":  {nil, func(m *celltest.Memory) { m.Lose(at(there, 1)) }, "no database there"},
		"databases that were swapped": {nil, func(m *celltest.Memory) { m.Clone(at(here, 2), at(there, 1)) }, "g0-2"},
		"what is not the copy's map":  {[][2]string{{here, "mem://third/locus"}}, func(m *celltest.Memory) { m.Clone(at(here, 0), "mem://third/locus_g0_0") }, "no database there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memory, _ := copied(t)
			if c.spoil != nil {
				c.spoil(memory)
			}
			before := states(t, memory, here)
			p, _, err := restore(t, memory, c.pairs...)
			if err == nil {
				closeCells(t, p)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error with %q", err, c.want)
			}
			if after := states(t, memory, here); after != before {
				t.Errorf("the original was\n%sand is\n%s", before, after)
			}
		})
	}
}

// NEW may be OLD under another name. Then there is no copy, and nothing is written.
func TestReaddress_RefusesTheOriginal(t *testing.T) {
	t.Parallel()
	memory, _ := copied(t)
	before := states(t, memory, here)
	o := options(memory, 0)
	o.Authority, o.Restored = strings.Replace(at(here, 0), "here", "HERE", 1), true
	inner := o.Driver
	o.Driver = func(url string) (cell.Driver[cell.Store], error) {
		d, err := inner(url)
		return upper{d}, err
	}
	o.Readdress = &cell.Readdress{
		URL:   cell.Rewrite([][2]string{{here, "mem://HERE/locus"}}),
		Agree: func(*cell.Map, []cell.Readdressed) error { return nil },
	}
	c, err := cell.OpenCells(t.Context(), o)
	if err == nil {
		closeCells(t, c)
	}
	if !errors.Is(err, cell.ErrIdentity) || !strings.Contains(err.Error(), "same database") {
		t.Errorf("%v, want ErrIdentity: it is the same database", err)
	}
	if after := states(t, memory, here); after != before {
		t.Errorf("the original was\n%sand is\n%s", before, after)
	}
}

type upper struct{ cell.Driver[cell.Store] }

func (u upper) Dial(ctx context.Context, url string, create bool) (cell.Opened[cell.Store], error) {
	return u.Driver.Dial(ctx, strings.Replace(url, "HERE", "here", 1), create)
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, new, url, want string }{
		{"postgres://a/locus", "postgres://b/locus", "postgres://a/locus_g{g}_{i}", "postgres://b/locus_g{g}_{i}"},
		{"postgres://a/locus", "postgres://b/copy", "postgres://a/locus_g{g}_{i}?pooler=1",
			"postgres://b/copy_g{g}_{i}?pooler=1"},
		{"postgres://a/locus?pooler=1", "postgres://b/locus?x=2", "postgres://a/locus_g0_0?pooler=1",
			"postgres://b/locus_g0_0?x=2"},
		{"postgres://a/locus?pooler=1", "postgres://b/locus", "postgres://a/locus_g0_0", ""},
		{"postgres://a", "postgres://b", "postgres://a/archive_g0_3", "postgres://b/archive_g0_3"},
		{"postgres://a", "postgres://b", "postgres://ab/locus_g0_3", ""},
		{"postgres://a/locus", "postgres://b/locus", "postgres://a/locus2_g{g}_{i}", ""},
		{"postgres://a/locus", "postgres://b/locus", "postgres://b/locus_g{g}_{i}", "postgres://b/locus_g{g}_{i}"},
		{"postgres://a/locus", "postgres://a/locus_copy", "postgres://a/locus_copy_g0_0", "postgres://a/locus_copy_g0_0"},
		{"postgres://a/locus_copy", "postgres://a/locus", "postgres://a/locus_copy_g0_0", "postgres://a/locus_g0_0"},
		{"sqlite:/srv/x.db", "sqlite:/srv/y.db", "sqlite:/srv/x.db", "sqlite:/srv/y.db"},
	} {
		got, known := cell.Rewrite([][2]string{{c.old, c.new}})(c.url)
		if known != (c.want != "") || known && got != c.want {
			t.Errorf("%s=%s makes %s of %s, known %v, want %s", c.old, c.new, got, c.url, known, c.want)
		}
	}
}
