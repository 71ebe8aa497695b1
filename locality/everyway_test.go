// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/locus-db/locus/locality"
)

// TestP07_EveryWayToMint restarts a process with number 1 a thousand times and mints in every way that there is,
// LOCUS_IDS in all.
func TestP07_EveryWayToMint(t *testing.T) {
	t.Parallel()
	const restarts = 1000
	total := 500_000
	if long, err := strconv.Atoi(os.Getenv("LOCUS_IDS")); err == nil {
		total = long
	}
	random := rand.New(seeded(11))
	ids := make([]locality.ID, 0, total+total/10)
	for restart := range restarts {
		for len(ids) < total/restarts*(restart+1) {
			ids = everyWay(t, ids, random, total/restarts)
		}
	}
	slices.SortFunc(ids, locality.ID.Compare)
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] {
			t.Errorf("%v twice", ids[i])
		}
	}
	t.Logf("%d ids of %d restarts", len(ids), restarts)
}

// everyWay appends at least n IDs of a newly started process.
func everyWay(t *testing.T, ids []locality.ID, random *rand.Rand, n int) []locality.ID {
	opts := locality.Options{
		Order: orders[random.IntN(len(orders))],
		Lease: random.IntN(2) * 32,
		// Its own randomness: an identity may repeat, as it may in another process.
		Rand: rand.NewChaCha8([32]byte{byte(random.Uint32()), byte(random.Uint32()), byte(random.Uint32()),
			byte(random.Uint32())}),
	}
	g, err := locality.NewGeneratorAs(&opts, func() int { return 1 })
	if err != nil {
		t.Fatal(err)
	}
	must := func(id locality.ID, err error) locality.ID {
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	local, old := g.Local(), time.UnixMilli(1.5e12)
	cell := locality.Segment{Lo: 3 << 28, Hi: 4 << 28}
	over := locality.Segment{Lo: random.Uint32() &^ 0xffff, Hi: ring, From: 1.4e12, Until: 1.6e12}
	run := make([]locality.ID, 32)
	for end := len(ids) + n; len(ids) < end; {
		ids = append(ids, g.New(), local.New(), g.Near(cellParent), must(g.NewIn(cell)), must(g.NewInPast(over)))
		if opts.Order != locality.Sequential {
			ids = append(ids, must(g.NewAt(old)))
		}
		if err := g.FillIn(cell, run); err != nil {
			t.Fatal(err)
		}
		ids = g.Append(append(ids, run...), 64)
	}
	return ids
}

// cellParent lies in the cell of everyWay, so that near IDs share it with the others.
var cellParent = locality.Assemble(3<<28, 1, 1, 1.7e12)
