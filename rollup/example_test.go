// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/rollup"
)

// cell is a minimal in-memory cell: a transaction works on a copy, which replaces the cell on commit.
type cell struct {
	log         []changelog.Change
	bounds      changelog.Bounds
	wanted      changelog.Images
	things      map[rollup.Over]map[int64]changelog.Image // entities or records by place
	leases      map[string]lease.Lease
	rollups     map[string]rollup.Rollup
	generations map[int64]rollup.Generation
	rows        map[int64]map[string][]byte
	history     int64
	docs        shelf // outside of transactions
}

func newCell() *cell {
	return &cell{
		things: map[rollup.Over]map[int64]changelog.Image{rollup.Entities: {}, rollup.Records: {}},
		leases: map[string]lease.Lease{}, rollups: map[string]rollup.Rollup{},
		generations: map[int64]rollup.Generation{}, rows: map[int64]map[string][]byte{}, docs: shelf{},
	}
}

func (c *cell) clone() *cell {
	d := *c
	d.things, d.leases, d.rollups = maps.Clone(c.things), maps.Clone(c.leases), maps.Clone(c.rollups)
	d.generations, d.rows = maps.Clone(c.generations), maps.Clone(c.rows)
	return &d
}

// database runs transactions of the cell that at points to.
func database(at **cell) rollup.Database {
	update := func(_ context.Context, fn func(rollup.Tx) error) error {
		next := (*at).clone()
		err := fn(next)
		if err == nil {
			*at = next
		}
		return err
	}
	view := func(_ context.Context, fn func(rollup.Tx) error) error { return fn((*at).clone()) }
	return rollup.Database{Update: update, View: view, Exclusive: update, Elsewhere: groupsIn((*at).docs)}
}

// put changes an entity or record (nil deletes it) and logs the change.
func (c *cell) put(of rollup.Over, place int64, is *changelog.Image) {
	change := changelog.Change{Kind: changelog.Changed}
	if of == rollup.Records {
		change.Kind = changelog.Put
	}
	things := maps.Clone(c.things[of])
	c.things[of] = things
	if was, ok := things[place]; ok {
		change.Was = &was
	}
	if change.Is = is; is != nil {
		things[place] = *is
	} else {
		delete(things, place)
	}
	wanted := c.wanted.Entities
	if of == rollup.Records {
		wanted = c.wanted.Records
	}
	change.Was, change.Is = only(change.Was, wanted), only(change.Is, wanted)
	_ = c.Append(context.Background(), []changelog.Change{change})
}

// only returns an image with only these attributes, nil if they are nil.
func only(im *changelog.Image, attributes []string) *changelog.Image {
	if im == nil || attributes == nil {
		return nil
	}
	some := &changelog.Image{Kind: im.Kind, Sources: im.Sources, Outcome: im.Outcome, Attributes: entity.Attributes{}}
	for _, name := range attributes {
		if values, ok := im.Attributes[name]; ok {
			some.Attributes[name] = values
		}
	}
	return some
}

func (c *cell) Append(_ context.Context, changes []changelog.Change) error {
	for _, change := range changes {
		c.bounds.Last++
		change.Seq, change.Time = c.bounds.Last, time.UnixMilli(int64(c.bounds.Last)).UTC()
		c.log = append(slices.Clip(c.log), change)
	}
	return nil
}

func (c *cell) Changes(_ context.Context, after changelog.Seq, limit int) ([]changelog.Change, error) {
	if after < c.bounds.Trimmed {
		return nil, changelog.ErrTrimmed
	}
	i, found := slices.BinarySearchFunc(c.log, after, func(c changelog.Change, seq changelog.Seq) int { return cmp.Compare(c.Seq, seq) })
	if found {
		i++
	}
	return slices.Clone(c.log[i:min(len(c.log), i+limit)]), nil
}

func (c *cell) Bounds(context.Context) (changelog.Bounds, error) { return c.bounds, nil }

func (c *cell) Trim(_ context.Context, upTo changelog.Seq, limit int) (n int, err error) {
	for n < min(limit, len(c.log)) && c.log[n].Seq <= upTo {
		c.bounds.Trimmed = c.log[n].Seq
		n++
	}
	c.log = c.log[n:]
	return n, nil
}

func (c *cell) Lease(_ context.Context, name string) (lease.Lease, error) { return c.leases[name], nil }

func (c *cell) PutLease(_ context.Context, name string, l lease.Lease) error {
	c.leases[name] = l
	return nil
}

func (c *cell) Rollups(context.Context) ([]rollup.Rollup, error) { return sorted(c.rollups), nil }

func (c *cell) PutRollup(_ context.Context, r rollup.Rollup) error {
	c.rollups[r.Name] = r
	return nil
}

func (c *cell) Generations(context.Context) ([]rollup.Generation, error) {
	return sorted(c.generations), nil
}

func (c *cell) PutGeneration(_ context.Context, g rollup.Generation) error {
	c.generations[g.Number] = g
	return nil
}

func (c *cell) DeleteGeneration(_ context.Context, number int64) error {
	delete(c.generations, number)
	return nil
}

// sorted returns the values of a map in key order.
func sorted[K cmp.Ordered, V any](m map[K]V) []V {
	values := make([]V, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		values = append(values, m[k])
	}
	return values
}

func (c *cell) Rows(_ context.Context, generation int64, keys [][]byte) ([][]byte, error) {
	bodies := make([][]byte, len(keys))
	for i, key := range keys {
		bodies[i] = c.rows[generation][string(key)]
	}
	return bodies, nil
}

func (c *cell) ScanRows(_ context.Context, generation int64, ranges []rollup.Range) ([][]rollup.Row, error) {
	keys := slices.Sorted(maps.Keys(c.rows[generation]))
	all := make([][]rollup.Row, len(ranges))
	for i, r := range ranges {
		for _, key := range keys {
			if strings.HasPrefix(key, string(r.Prefix)) && (r.After == nil || key > string(r.After)) {
				all[i] = append(all[i], rollup.Row{Key: []byte(key), Body: c.rows[generation][key]})
			}
		}
		if r.Last {
			slices.Reverse(all[i])
		}
		all[i] = all[i][:min(len(all[i]), r.Limit)]
	}
	return all, nil
}

func (c *cell) PutRows(_ context.Context, generation int64, rows []rollup.Row) error {
	of := maps.Clone(c.rows[generation])
	if of == nil {
		of = map[string][]byte{}
	}
	for _, r := range rows {
		if of[string(r.Key)] = r.Body; r.Body == nil {
			delete(of, string(r.Key))
		}
	}
	c.rows[generation] = of
	return nil
}

func (c *cell) DropRows(_ context.Context, generation int64, limit int) (int, error) {
	n := len(c.rows[generation])
	if n <= limit {
		delete(c.rows, generation)
		return n, nil
	}
	of := maps.Clone(c.rows[generation])
	for _, key := range slices.Sorted(maps.Keys(of))[:limit] {
		delete(of, key)
	}
	c.rows[generation] = of
	return limit, nil
}

func (c *cell) Wanted(context.Context) (changelog.Images, error) { return c.wanted, nil }

func (c *cell) Want(_ context.Context, images changelog.Images) error {
	c.wanted = images
	return nil
}

func (c *cell) History(context.Context) (int64, error) { return c.history, nil }

func (c *cell) List(_ context.Context, of rollup.Over, attributes []string, after int64, limit int) ([]rollup.Item, error) {
	var items []rollup.Item
	for _, place := range slices.Sorted(maps.Keys(c.things[of])) {
		if place > after && len(items) < limit {
			items = append(items, rollup.Item{Place: place, Image: *only(new(c.things[of][place]), attributes)})
		}
	}
	return items, nil
}

// The animals of the source text: how many of each tag are where.
func Example() {
	ctx := context.Background()
	house := newCell()
	db := database(&house)
	animal := func(place int64, location string, tags ...string) {
		if err := db.Update(ctx, func(tx rollup.Tx) error {
			tx.(*cell).put(rollup.Entities, place, &changelog.Image{
				Kind: "animal", Attributes: map[string][]string{"location": {location}, "tags": tags},
			})
			return nil
		}); err != nil {
			fmt.Println(err)
		}
	}
	for i := range int64(16) {
		animal(i, "house", "mammal", "ears")
	}

	definition, err := rollup.Parse([]byte("{ rollup: pets, kind: animal, group: tags, dimension: location }"))
	if err != nil {
		fmt.Println(err)
		return
	}
	var catalog rollup.Catalog
	if err := db.Update(ctx, func(tx rollup.Tx) error {
		r, _, err := rollup.Define(ctx, tx, *definition, time.Now())
		catalog = rollup.Catalog{r}
		return err
	}); err != nil {
		fmt.Println(err)
	}
	follower := rollup.NewFollower(rollup.Options{Database: db, Owner: "a", TTL: time.Second, Now: time.Now})
	progress, err := follower.Step(ctx, catalog) // acquires the lease
	if err == nil {
		progress, err = follower.Step(ctx, catalog) // reports the missing generations
	}
	for _, v := range progress.Missing {
		err = cmp.Or(err, follower.Build(ctx, v, nil))
	}
	fmt.Println("built:", err)

	for i := range int64(4) {
		animal(i, "backyard", "mammal", "ears")
	}
	animal(4, "frontyard", "mammal")
	animal(5, "frontyard", "mammal", "wings")
	progress, err = follower.Step(ctx, catalog)
	fmt.Println("applied:", progress.Applied, err)

	if err := db.View(ctx, func(tx rollup.Tx) error {
		part, err := rollup.Read(ctx, tx, rollup.Query{Generation: 1})
		if err != nil {
			return err
		}
		groups, _ := rollup.Merge(definition, []*rollup.Part{part}, 0)
		for _, g := range groups {
			fmt.Print(g.Group[0], ":")
			for _, slot := range g.By {
				fmt.Printf(" %s %s", slot.Value, slot.Values[0])
			}
			fmt.Println()
		}
		return nil
	}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// built: <nil>
	// applied: 6 <nil>
	// ears: backyard 4 house 10
	// mammal: backyard 4 frontyard 2 house 10
	// wings: frontyard 1
}
