// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/rollups"
)

// Three processes follow the rollups of an installation. They are killed, and one is suspended for longer than its
// leases last and wakes up in the middle of its work; rollups are rebuilt, redefined and dropped. No reader
// goes back in time at any process, every write is counted for its writer, and every rollup equals its recomputation,
// by the server and by a count over the lists of stored items.
func TestP04_P05_KilledFollowers(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestP04_KilledServer does it with one server")
	f := newFleet(t, scaled(1, 2), 3, scaled(3, 6))
	standing(t, f.nodes[0])
	c := newCrowd(f, 6, 45)
	c.begin()
	w := &upheaval{crowd: c, random: rand.New(rand.NewPCG(45, 0)), done: map[string]int{}}
	rounds := scaled(4, 300)
	for round := range rounds {
		c.advance(12, 12)
		switch round % 4 {
		case 0:
			w.kill()
		case 1:
			w.rebuild()
		case 2:
			w.redefine()
		default:
			w.add(round)
		}
		if round == rounds/2 || long() && round%20 == 10 {
			w.stop()
		}
		n := f.nodes[w.random.IntN(len(f.nodes))]
		n.wantTrue(standingRollups...)
		if w.extra != "" {
			n.wantTrue(w.extra)
		}
		if round%4 == 3 {
			c.held()
		}
	}
	c.advance(12, 12)
	c.end()
	c.held()
	for _, n := range f.nodes {
		for _, name := range []string{"by_category", "by_source", w.extra} {
			n.wantTrue(name)
			n.settled(name)
		}
	}
	t.Logf("%v; %d acknowledged requests, %d answers checked; refused %v", w.done, c.acks.Load(), c.read.Load(),
		c.refusals())
}

// upheaval disturbs the processes and the rollups while the clients continue.
type upheaval struct {
	*crowd
	random *rand.Rand
	done   map[string]int // number of disturbances by name
	extra  string         // the newest rollup, read only by verifications
}

// kill kills a process while others continue, and restarts it.
func (w *upheaval) kill() {
	w.t.Helper()
	w.done["kills"]++
	n := w.fleet.nodes[w.random.IntN(len(w.fleet.nodes))]
	n.kill()
	w.advance(4, 4)
	n.start()
}

// follows returns how many cells a process follows, according to another process.
func (n *node) follows(tells *node) (cells int, err error) {
	var r httpapi.Rollup
	err = tells.get("/v1/rollups/by_source", &r)
	for _, c := range r.Cells {
		if parts := strings.Split(c.Owner, "/"); len(parts) > 1 && parts[1] == strconv.Itoa(n.server().cmd.Process.Pid) {
			cells++
		}
	}
	return cells, err
}

// stop suspends a process that follows cells until other processes have taken them over and rollups were rebuilt, then
// continues it.
func (w *upheaval) stop() {
	w.t.Helper()
	w.done["stops"]++
	var stopped, other *node
	eventually(w.t, time.Minute, "a process follows cells", func() (bool, string) {
		for i, n := range w.fleet.nodes {
			other = w.fleet.nodes[(i+1)%len(w.fleet.nodes)]
			if cells, err := n.follows(other); err == nil && cells > 0 {
				stopped = n
				return true, ""
			}
		}
		return false, "nobody does"
	})
	stopped.pause()
	other.ask(func() error { _, err := other.rebuild("by_category"); return err })
	eventually(w.t, 2*time.Minute, "others follow the cells of a process that stands still", func() (bool, string) {
		cells, err := stopped.follows(other)
		return err == nil && cells == 0, fmt.Sprintf("it follows %d cells, %v", cells, err)
	})
	other.settled("by_category")
	w.advance(4, 4)
	stopped.resume()
	w.done["rebuilds"]++
}

// rebuild rebuilds both rollups and kills a process during the rebuild.
func (w *upheaval) rebuild() {
	w.t.Helper()
	n := w.fleet.nodes[w.random.IntN(len(w.fleet.nodes))]
	for _, name := range standingRollups {
		n.ask(func() error { _, err := n.rebuild(name); return err })
		w.done["rebuilds"]++
	}
	w.kill()
	for _, name := range standingRollups {
		n.settled(name)
	}
}

// redefine changes the dimension of the rollup by category.
func (w *upheaval) redefine() {
	w.t.Helper()
	n := w.fleet.nodes[w.random.IntN(len(w.fleet.nodes))]
	dimension := []string{"region", "city"}[w.done["definitions"]%2]
	n.ask(func() error { _, err := n.define("by_category", fmt.Sprintf(byCategory, dimension)); return err })
	w.done["definitions"]++
	n.settled("by_category")
}

// add defines a new rollup, and drops the one added before.
func (w *upheaval) add(round int) {
	w.t.Helper()
	n := w.fleet.nodes[w.random.IntN(len(w.fleet.nodes))]
	name := fmt.Sprint("added_", round)
	n.ask(func() error { _, err := n.define(name, byPostcode); return err })
	w.done["added"]++
	if w.extra != "" {
		w.done["dropped"]++
		n.ask(func() error {
			err := send("DELETE", n.url()+"/v1/rollups/"+w.extra, "", nil)
			if p, ok := errors.AsType[*httpapi.Problem](err); ok && p.Code == httpapi.CodeNotFound { // the time before
				return nil
			}
			return err
		})
	}
	w.extra = name
}

// settled waits until the newest definition of a rollup is active in all cells.
func (n *node) settled(name string) {
	n.fleet.t.Helper()
	eventually(n.fleet.t, 2*time.Minute, fmt.Sprintf("rollup %s serves", name), func() (bool, string) {
		var r httpapi.Rollup
		if err := n.get("/v1/rollups/"+name, &r); err != nil {
			return false, err.Error()
		}
		here := !slices.ContainsFunc(r.Cells, func(c httpapi.RollupCell) bool { return c.Owner == "" })
		return r.State == rollups.Following && r.Building == 0 && here, fmt.Sprintf("%+v", r)
	})
}
