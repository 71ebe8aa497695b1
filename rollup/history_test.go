// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/rollup"
)

var drawnAttributes = []string{"tags", "colors", "city", "weight", "source"}

// drawImage draws an image.
func drawImage(t *rapid.T) *changelog.Image {
	values := func(name string, most int, from ...string) []string {
		return rapid.SliceOfN(rapid.SampledFrom(from), 0, most).Draw(t, name)
	}
	return &changelog.Image{
		Kind:    rapid.SampledFrom([]string{"animal", "animal", "k"}).Draw(t, "kind"),
		Sources: values("sources", 1, "crm", "web"),
		Outcome: rapid.SampledFrom([]string{"", changelog.OutcomeMatched}).Draw(t, "outcome"),
		Attributes: map[string][]string{
			"tags": values("tags", 4, "mammal", "ears", "wings"), "colors": values("colors", 3, "red", "white"),
			"city":   values("city", 1, "a", "b", "2026-11-20"),
			"weight": values("weight", 3, "1", "2.5", "-3", "0.25", "1.00", "heavy"),
		},
	}
}

// For any definition and history, including shrinking to nothing and growing again, in batches of any size, the
// groups equal the oracle's and the rows those of a fresh build.
func TestFollower_EqualsARecomputation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ctx := t.Context()
		d := drawDefinition(t, drawnAttributes, rapid.SampledFrom([]string{"a", "ears", "red", "1"}))
		of := d.Over
		at := newCell()
		db := database(&at)
		update := func(fn func(*cell) error) {
			if err := db.Update(ctx, func(tx rollup.Tx) error { return fn(tx.(*cell)) }); err != nil {
				t.Fatal(err)
			}
		}
		change := func(most int) {
			update(func(c *cell) error {
				for range rapid.IntRange(0, most).Draw(t, "changes") {
					var is *changelog.Image
					if rapid.IntRange(0, 2).Draw(t, "goes") > 0 {
						is = drawImage(t)
					}
					of := rapid.SampledFrom([]rollup.Over{of, of, rollup.Entities, rollup.Records}).Draw(t, "of")
					c.put(of, rapid.Int64Range(-2, 3).Draw(t, "place"), is)
				}
				return nil
			})
		}
		follower := rollup.NewFollower(rollup.Options{
			Database: db, Owner: "a", TTL: time.Hour, Now: func() time.Time { return time.UnixMilli(0) },
			Batch: rapid.IntRange(1, 7).Draw(t, "batch"),
		})
		catalog := rollup.Catalog{{Name: d.Name, Last: 2, Serving: &rollup.Version{Generation: 1, Definition: d}}}
		step := func() (p rollup.Progress) {
			for more := true; more; more = p.More {
				var err error
				if p, err = follower.Step(ctx, catalog); err != nil {
					t.Fatal(err)
				}
			}
			return p
		}
		build := func() {
			step() // the first Step after the lease was acquired builds nothing
			for _, v := range step().Missing {
				if err := follower.Build(ctx, v, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		change(10)
		build()
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			change(8)
			step()
			part, err := db.Read(ctx, rollup.Query{Generation: 1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			groups, _ := rollup.Merge(&d, []*rollup.Part{part}, 0)
			if got, want := shown(&d, groups), naive(&d, sorted(at.things[of])); !slices.Equal(got, want) {
				t.Fatalf("%+v makes of %v\n%s\nwant\n%s", d, at.things[of], strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			v, err := db.Verify(ctx, 1, nil)
			if err != nil || v.Differs > 0 {
				t.Fatalf("Verify = %+v, %v", v, err)
			}
		}
		catalog[0].Next = &rollup.Version{Generation: 2, Definition: d}
		build()
		if !maps.EqualFunc(at.stored(1), at.stored(2), bytes.Equal) {
			t.Fatalf("rows are %q, counted anew %q", at.stored(1), at.stored(2))
		}
		update(func(c *cell) error {
			for place := range c.things[of] {
				c.put(of, place, nil)
			}
			return nil
		})
		step()
		if len(at.stored(1)) > 0 || at.generations[1].Groups != 0 {
			t.Fatalf("of nothing there are %q, %d groups", at.stored(1), at.generations[1].Groups)
		}
		catalog[0].Serving, catalog[0].Next = nil, nil
		for _, number := range step().Left {
			if err := follower.Erase(ctx, number); err != nil {
				t.Fatal(err)
			}
		}
		if len(at.rows)+len(at.docs)+len(at.generations) > 0 || !at.wanted.None() {
			t.Fatalf("left are %v, %v, %v, images %v", at.rows, at.docs, at.generations, at.wanted)
		}
	})
}
