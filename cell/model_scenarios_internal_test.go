// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"fmt"
	"hash/maphash"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/longtest"
)

// begun are the initial rows: none, or a puid in generation 0.
var begun = []int8{0, 1}

var scenarios = []scenario{
	{name: "put", procs: calls("pp", "pp", "pp"), begin: begun, grow: grow(1, 2), restarts: true},
	{name: "put_lookup", procs: calls("pl", "pl", "lp"), begin: begun, grow: grow(1, 2), restarts: true},
	{name: "lookup", procs: calls("p", "ll", "l"), begin: begun, grow: grow(1, 2), restarts: true},
	{name: "announce", procs: calls("p", "p", "l"), grow: grow(0, 1, 2), restarts: true},
	{name: "compact", procs: calls("p", "p", "l"), begin: begun, grow: grow(1, 2), compact: floors(2)},
	{name: "compact_restarts", procs: calls("p", "l"), begin: begun, grow: grow(1, 2), compact: floors(2), restarts: true},
	{name: "compact_partly", procs: calls("p", "p", "l"), begin: begun, grow: grow(1, 2), compact: floors(1)},
	{name: "compact_partly_restarts", procs: calls("pl", "l"), begin: begun, grow: grow(1, 2), compact: floors(1),
		restarts: true},
	{name: "compact_twice", procs: calls("l", "p"), begin: begun, grow: grow(1, 2), compact: floors(2, 2)},
	{name: "compact_twice_partly", procs: calls("p"), begin: begun, grow: grow(1, 2), compact: floors(1, 2)},
	{name: "promote", procs: calls("p", "p", "l"), begin: begun, grow: grow(1, 2), promote: true},
	{name: "filters", procs: calls("p", "p", "l"), begin: begun, grow: grow(1, 2), filters: true, restarts: true},
	{name: "filters_compact", procs: calls("pl", "l"), begin: begun, grow: grow(1, 2), compact: floors(1), filters: true},
	{name: "ahead", procs: calls("p", "p", "l"), begin: begun, grow: grow(1, 2), ahead: true},
	{name: "ahead_compact", procs: calls("p", "l"), begin: begun, grow: grow(1, 2), compact: floors(1), ahead: true},
	{name: "down", procs: calls("p", "p", "l"), begin: begun, grow: grow(1, 2), down: true, restarts: true},
	{name: "postings", procs: calls("o", "o", "o"), grow: grow(1, 2)},
	{name: "all", procs: calls("p", "p", "l"), begin: begun, grow: grow(1, 2), compact: floors(1), restarts: true,
		filters: true, long: true},
}

func calls(procs ...string) (of [modelProcs]string) {
	copy(of[:], procs)
	return of
}

func floors(gens ...uint8) []uint8 { return gens }

func grow(gens ...uint8) []uint8 { return gens }

// sampled returns how many states of a scenario are explored: those reached in the fewest steps, or all in a long run.
// With the race detector, which finds nothing here, exploring takes ten times as long.
func sampled() int { return longtest.Sample(3_000, 10_000, 30_000, math.MaxInt) }

// explore explores a scenario breadth first. It returns the number of states, and the shortest trace to an error, if
// there is one.
func (m *model) explore() (states int, story []string) {
	m.seed = maphash.MakeSeed()
	var level, next []state
	seen := map[uint64]bool{}
	most, wrong, moves := sampled(), false, 0
	m.emit = func(n *state, _ event, err error) {
		wrong = wrong || err != nil
		moves++
		m.canonical(n)
		if h := maphash.Comparable(m.seed, *n); !seen[h] {
			seen[h] = true
			next = append(next, *n)
		}
	}
	begins := m.begins()
	for i := range begins {
		m.emit(&begins[i], event{}, nil)
	}
	for len(next) > 0 && len(seen) < most {
		level, next = next, level[:0]
		for i := range level {
			moves = 0
			if m.successors(&level[i]); wrong {
				return len(seen), m.story()
			}
			if moves == 0 && !m.over(&level[i]) {
				return len(seen), []string{fmt.Sprintf("nothing can happen any more, and not all is done: %+v", level[i])}
			}
		}
	}
	return len(seen), nil
}

// over reports whether all calls and operators have finished.
func (m *model) over(s *state) bool {
	for i := range s.procs {
		if p := &s.procs[i]; p.phase != failed && int(p.call) < len(m.procs[i]) {
			return false
		}
	}
	for i := range m.compact {
		if !s.compactors[i].over {
			return false
		}
	}
	return int(s.grows) == len(m.grow)
}

// story explores again and records how each state was reached.
func (m *model) story() (steps []string) {
	type moment struct {
		from  int
		event event
	}
	var states []state
	var moments []moment
	seen, from := map[state]bool{}, -1
	m.emit = func(n *state, e event, wrong error) {
		if wrong != nil && steps == nil {
			steps = []string{e.String(), wrong.Error()}
			for i := from; i >= 0; i = moments[i].from {
				if moments[i].from >= 0 {
					steps = append([]string{moments[i].event.String()}, steps...)
				}
			}
		}
		if !seen[*n] {
			seen[*n] = true
			states, moments = append(states, *n), append(moments, moment{from, e})
		}
	}
	begins := m.begins()
	for i := range begins {
		m.emit(&begins[i], event{}, nil)
	}
	for from = 0; steps == nil; from++ {
		s := states[from]
		m.successors(&s)
	}
	return steps
}

func TestP06_Model(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if s.long && os.Getenv("LOCUS_MODEL") == "" {
				t.Skip("takes minutes: LOCUS_MODEL=1")
			}
			began := time.Now()
			m := &model{scenario: s}
			states, story := m.explore()
			if story != nil {
				t.Fatalf("after %d states, %d steps:\n%s", states, len(story)-1, strings.Join(story, "\n"))
			}
			t.Logf("%d states in %v", states, time.Since(began))
		})
	}
}
