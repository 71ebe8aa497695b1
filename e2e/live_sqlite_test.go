// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"path/filepath"
	"testing"

	"github.com/locus-db/locus/cell"
)

// A data directory grows, has a cell moved to another disk and is compacted while it is written to, and is killed in
// between. Only the rows of the moved cell move, requests are refused only because of the kill, no key has two puids,
// and in the end a key is found with one lookup.
func TestP06_P08_LiveDirectory(t *testing.T) {
	t.Parallel()
	sizes := []int{12}
	if long() {
		sizes = []int{48, 240}
	}
	disk := t.TempDir()
	f := newDirectory(t, scaled(4, 16), "--place", "sqlite:"+disk)
	n := f.nodes[0]
	tr := newTraffic(f, 3)
	tr.begin()
	tr.advance(30)
	maps := []*cell.Map{n.cellMap()}
	for _, size := range sizes {
		n.grow(size, nil)
		tr.advance(30)
		maps = append(maps, n.cellMap())
	}
	killed := tr.during("the process was killed", 0, killing, func() {
		n.kill()
		n.start()
	})
	tr.advance(30)
	summary, err := n.run(nil, "move", "g0-3", "--to", "sqlite:"+filepath.Join(disk, "moved.db"))
	if err != nil {
		t.Fatal(err)
	}
	tr.advance(30)
	maps = append(maps, n.cellMap())
	if _, err := n.run(nil, "compact"); err != nil {
		t.Fatal(err)
	}
	tr.advance(30)
	s := tr.judge(killed)
	tr.oneProbe(n, s)
	n.drain()
	rows := tr.checkRows(s, f.witness(), maps...)
	t.Logf("%d keys, %d rows of keys, %d acknowledged puts (%d more with a lost answer), %d reads, %d keys raced for; %d activations, 1 move whose writers paused %v, 1 compaction, 1 kill; %.0f s of load",
		len(s.puids), rows, s.acks, s.lost, s.reads, s.contended, len(sizes), pause(t, summary), s.loaded.Seconds())
}
