// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

var errCrash = errors.New("the process is gone")

// crash lets a number of commits of a process succeed and fails all later ones.
type crash struct {
	mu   sync.Mutex
	left int
}

type crashCell struct {
	storage.Cell
	*crash
}

func (c crashCell) Update(ctx context.Context, fn func(storage.Tx) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == 0 {
		return errCrash
	}
	c.left--
	return c.Cell.Update(ctx, fn)
}

func TestP09_ACrashBetweenAnyTwoCommitsIsRepaired(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	r := rand.New(rand.NewPCG(9, 9))
	before, after := world(9, 30), world(10, 30)
	rounds, unfinished := 0, 0
	base := prepared(t, func(in *installation) {
		in.apply(t, before[:len(before)*2/3])
		in.check(t)
	})
	for step := 0; ; step += longtest.Stride(3) {
		dir := copied(t, base)
		// A batch of everything: new records, new versions, deletions.
		ops := append(slices.Clone(before[len(before)*2/3:]), after[:15]...)
		for _, op := range before[20:35] {
			ops = append(ops, resolve.Op{Ref: op.Ref, Delete: true})
		}
		r.Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
		fault := &crash{left: step}
		in := open(t, dir, func(_ cell.ID, c storage.Cell) storage.Cell { return crashCell{c, fault} })
		results := in.Apply(t.Context(), ops)
		if err := in.cells.Close(); err != nil {
			t.Fatal(err)
		}
		done := !slices.ContainsFunc(results, func(r resolve.Result) bool {
			return r.Pending || r.Err != nil && !errors.Is(r.Err, entity.ErrNotFound)
		})

		in = open(t, dir, nil)
		if pending := in.depth(t); pending > 0 {
			unfinished++
		}
		in.check(t)
		in.checkPostings(t)
		if done {
			rounds = step
			break
		}
	}
	t.Logf("%d places to crash, %d left work behind", rounds, unfinished)
	if unfinished == 0 {
		t.Error("no crash left anything to repair: the test does not reach what it is for")
	}
}

func (in *installation) depth(t testing.TB) (n int) {
	t.Helper()
	in.each(t, func(tx storage.Tx, _ entity.PUID) error {
		d, err := tx.RedoDepth(t.Context())
		n += d
		return err
	})
	return n
}

func TestResolver_GoesOnAfterAFailedRound(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	ops := world(11, 40)
	for _, left := range []int{1, 2, 4, 5} {
		fault := &crash{left: 1 << 30}
		in := open(t, t.TempDir(), func(_ cell.ID, c storage.Cell) storage.Cell { return crashCell{c, fault} })
		in.apply(t, ops[:len(ops)/2])
		fault.mu.Lock()
		fault.left = left
		fault.mu.Unlock()
		if !slices.ContainsFunc(in.Apply(t.Context(), ops[len(ops)/2:]), func(r resolve.Result) bool { return r.Pending || r.Err != nil }) {
			t.Fatalf("%d commits were enough", left)
		}
		fault.mu.Lock()
		fault.left = 1 << 30
		fault.mu.Unlock()
		in.apply(t, ops[len(ops)/2:])
		in.check(t)
	}
}

// A number becomes generic through records of a crashed batch that is larger than one slice of the redo
// set. Whatever part is worked off together, the records that the number joined before must separate.
func TestP09_ACrashAmongManyLeavesNoHotKey(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	var settled, batch []resolve.Op
	for i := range resolve.MaxBlockSize {
		settled = append(settled, spelled(i, "415-555-9000"))
	}
	for i := range 1200 {
		batch = append(batch, sharing(1000+i, fmt.Sprintf("212-555-%04d", i)))
	}
	for i := range 6 {
		batch[i*190] = spelled(2500+i, "415-555-9000")
	}
	base := prepared(t, func(in *installation) {
		in.apply(t, settled)
		if n := len(in.check(t)); n > 20 {
			t.Fatalf("the number joins %d records to %d entities", len(settled), n)
		}
	})
	broken, crashes := 0, 0
	for step := 3; step <= 8; step += longtest.Sample(3, 6, 3, 1) {
		crashes++
		dir := copied(t, base)
		fault := &crash{left: step}
		in := open(t, dir, func(_ cell.ID, c storage.Cell) storage.Cell { return crashCell{c, fault} })
		in.Apply(t.Context(), batch)
		if err := in.cells.Close(); err != nil {
			t.Fatal(err)
		}
		in = open(t, dir, nil)
		if in.depth(t) > 0 {
			broken++
		}
		in.check(t)
		if err := in.cells.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if 2*broken < crashes {
		t.Errorf("%d of %d crashes left something undone", broken, crashes)
	}
}

// spelled returns a record that only its number makes a candidate: no other has its spelling of the name.
func spelled(i int, phone string) resolve.Op {
	op := sharing(i, phone)
	op.Attributes["name"] = []string{fmt.Sprintf("Zephyr%[1]c%[2]c Quillbank%[2]c%[1]c", 'a'+i%26, 'a'+i/26%26)}
	return op
}

// sharing returns a record with one of 16 names and a number that it may share.
func sharing(i int, phone string) resolve.Op {
	return resolve.Op{
		Ref: entity.Ref{Source: "s", Key: fmt.Sprint(i)}, Observed: time.UnixMilli(1700000000000),
		Attributes: entity.Attributes{"name": {firsts[i%2] + " " + seconds[i/2%8]}, "phones": {phone}},
	}
}
