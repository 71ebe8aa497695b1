// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/locus-db/locus/changelog"
)

// A process that is killed repeatedly under load continues its rollups after a restart: they contain every acknowledged
// change, equal their recomputation, and need not wait for the expiry of the killed process's lease.
func TestP04_KilledServer(t *testing.T) {
	t.Parallel()
	f := newDirectory(t, 3)
	n := f.nodes[0]
	standing(t, n)
	c := newCrowd(f, 4, 41)
	c.begin()
	kills, atOnce := rounds(t), 0
	for range kills {
		c.advance(8, 4)
		n.kill()
		before := c.marks()
		n.start()
		first := true
		eventually(t, time.Minute, "the rollups contain what was acknowledged before the kill", func() (bool, string) {
			a, err := n.groups("by_category", "min_watermark", before.String())
			if err != nil {
				first = false
				return false, err.Error()
			}
			if !a.Watermark.Contains(before) {
				t.Errorf("asked for %v, the answer is of %v", before, a.Watermark)
			}
			return true, ""
		})
		if first {
			atOnce++
		}
		n.wantTrue(standingRollups...)
	}
	c.advance(8, 4)
	c.held()
	c.end()
	t.Logf("%d kills, %d times all was counted at once; %d acknowledged requests, %d answers checked; refused %v",
		kills, atOnce, c.acks.Load(), c.read.Load(), c.refusals())
}

// standingRollups are the rollups that the clients read.
var standingRollups = []string{"by_category", "by_source"}

// standing defines these rollups, and waits until they are active.
func standing(t *testing.T, n *node) {
	t.Helper()
	for name, text := range map[string]string{"by_category": fmt.Sprintf(byCategory, "city"), "by_source": bySource} {
		if _, err := n.define(name, text); err != nil {
			t.Fatal(err)
		}
	}
	for _, of := range n.fleet.nodes {
		for _, name := range standingRollups {
			eventually(t, time.Minute, fmt.Sprintf("process %d has the rollup %s", of.index, name), func() (bool, string) {
				if _, err := of.groups(name); err != nil {
					return false, err.Error()
				}
				return true, ""
			})
		}
	}
}

// marks returns a watermark that covers everything acknowledged, except writes whose reply was lost.
func (c *crowd) marks() changelog.Watermark {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.marked.Union(nil)
}
