// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
)

// sqlWords must not appear in an answer to an operator.
var sqlWords = regexp.MustCompile(`SQLSTATE|SELECT |INSERT |UPDATE |internal error`)

// Two processes concurrently move one cell, to one target and to two, and grow the installation to different numbers,
// while it is written to. One command succeeds; the other joins it or is refused with a clear message. Nothing
// acknowledged is lost, and a check finds no difference.
func TestP06_P09_TwoOperatorsAtOnce(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestP06_Simulation does it in memory")
	f := newFleet(t, 1, 2, 3)
	tr := newTraffic(f, 5)
	tr.begin()
	tr.advance(10)
	maps := []*cell.Map{f.nodes[0].cellMap()}
	// both runs a command through each process concurrently, and returns which succeeded.
	both := func(args func(n int) []string) (done []int) {
		t.Helper()
		var wg sync.WaitGroup
		errs := make([]error, len(f.nodes))
		for i, n := range f.nodes {
			wg.Go(func() { _, errs[i] = n.run(nil, args(i)...) })
		}
		wg.Wait()
		for i, err := range errs {
			switch {
			case err == nil:
				done = append(done, i)
			case sqlWords.MatchString(err.Error()) || exitCode(err) == 1:
				t.Errorf("process %d: %v", i, err)
			default:
				t.Logf("process %d is refused: %.300v", i, err)
			}
		}
		if len(done) == 0 {
			t.Fatalf("neither %v nor %v is done: %v", args(0), args(1), errs)
		}
		return done
	}
	for _, targets := range [][2]string{{"same", "same"}, {"left", "right"}} {
		id := cell.ID{Index: uint32(len(maps))}
		done := both(func(n int) []string { return []string{"move", id.String(), "--to", f.pg[0].URL("twice_" + targets[n])} })
		tr.advance(10)
		m := f.nodes[done[0]].cellMap()
		at := m.URL(id)
		if !slices.ContainsFunc(done, func(n int) bool { return strings.Contains(at, "twice_"+targets[n]) }) {
			t.Errorf("cell %v is at %s; done are %v of %v", id, at, done, targets)
		}
		maps = append(maps, m)
	}
	sizes := []int{3, 6}
	done := both(func(n int) []string { return []string{"grow", "--to", fmt.Sprint(sizes[n]), "--wait"} })
	tr.advance(10)
	last := f.nodes[done[0]].cellMap()
	if got := last.Count(1); len(done) == 1 && got != uint64(sizes[done[0]]) {
		t.Errorf("the generation has %d cells, the growth that was done was to %d", got, sizes[done[0]])
	}
	f.nodes[0].grow(6, nil) // nothing is left that would hinder it
	tr.advance(10)
	maps = append(maps, last, f.nodes[0].cellMap())
	s := tr.judge()
	if out, err := run(t, "check", "--url", f.nodes[1].url()); err != nil {
		t.Errorf("%v\n%.2000s", err, out)
	}
	rows := tr.checkRows(s, f.witness(), maps...)
	t.Logf("%d keys, %d rows of keys, %d acknowledged puts; %.0f s of load", len(s.puids), rows, s.acks,
		s.loaded.Seconds())
}
