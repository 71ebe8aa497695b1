// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
)

// ledger records the puid that was reported for each key, by any process.
type ledger struct {
	t     *testing.T
	puids map[entity.Ref]entity.PUID
	owner map[entity.PUID]entity.Ref
	next  int
}

func newLedger(t *testing.T) *ledger {
	return &ledger{t: t, puids: map[entity.Ref]entity.PUID{}, owner: map[entity.PUID]entity.Ref{}}
}

// fresh returns keys that were never put, at wanted positions on the ring.
func (l *ledger) fresh(m *cell.Map, n int, wanted func(position uint32) bool) (refs []entity.Ref) {
	for len(refs) < n {
		l.next++
		ref := entity.Ref{Source: "ledger", Key: fmt.Sprint(l.next)}
		if wanted(m.KeyOf(ref.Source, ref.Key).Position()) {
			refs = append(refs, ref)
		}
	}
	return refs
}

// unique returns a record that is similar to no other.
func unique(ref entity.Ref) httpapi.RecordInput {
	h := fnv.New64a()
	_, _ = h.Write([]byte(ref.Key)) // never fails
	w := words(h.Sum64())
	return httpapi.RecordInput{Source: ref.Source, Key: ref.Key, ObservedAt: observed.Format(time.RFC3339),
		Attributes: httpapi.Attributes{"name": {w[0] + " " + w[1] + " " + w[2]}}}
}

// unless stands for keys that may be refused as unavailable, or answered.
const unless httpapi.Code = "unless unavailable"

// put puts keys, and checks that each gets its one puid or is refused with this code. Without a code none may be
// refused.
func (l *ledger) put(n *node, refs []entity.Ref, code httpapi.Code) {
	l.t.Helper()
	var batch []httpapi.RecordInput
	for _, ref := range refs {
		batch = append(batch, unique(ref))
	}
	answer, err := post(n.url(), batch)
	if err != nil {
		l.t.Fatalf("process %d: %v", n.index, err)
	}
	unconfirmed := func(r httpapi.PutResult) bool { return r.Error != nil && r.Error.Code == httpapi.CodeCommitUnknown }
	// while a server hangs a write may outlast its time
	if code != httpapi.CodeCommitUnknown && slices.ContainsFunc(answer.Results, unconfirmed) {
		if answer, err = post(n.url(), batch); err != nil {
			l.t.Fatalf("process %d, again: %v", n.index, err)
		}
	}
	for i, r := range answer.Results {
		switch {
		case code == unless && r.Error != nil && r.Error.Code == httpapi.CodeUnavailable:
		case r.Error == nil && code != "" && code != unless:
			l.t.Errorf("process %d gave %v the puid %v, want %s", n.index, refs[i], r.PUID, code)
		case r.Error == nil:
			l.enter(refs[i], r.PUID)
		case r.Error.Code != code:
			l.t.Errorf("process %d refused %v with %s, want %q: %s", n.index, refs[i], r.Error.Code, code, r.Error.Detail)
		}
	}
}

func (l *ledger) enter(ref entity.Ref, p entity.PUID) {
	l.t.Helper()
	if known, ok := l.puids[ref]; ok && known != p {
		l.t.Errorf("key %v has the puids %v and %v", ref, known, p)
	}
	if other, ok := l.owner[p]; ok && other != ref {
		l.t.Errorf("puid %v was given to %v and to %v", p, other, ref)
	}
	l.puids[ref], l.owner[p] = p, ref
}

// read looks keys up, and checks that each returns its puid, or is refused with this code.
func (l *ledger) read(n *node, refs []entity.Ref, code httpapi.Code) {
	l.t.Helper()
	for _, ref := range refs {
		var r httpapi.Record
		err := n.get(httpapi.RecordPath(ref.Source, ref.Key), &r)
		p, refused := errors.AsType[*httpapi.Problem](err)
		switch {
		case err != nil && !refused:
			l.t.Errorf("process %d, key %v: %v", n.index, ref, err)
		case refused && p.Code != code, !refused && code != "":
			l.t.Errorf("process %d answers the key %v with puid %v, %v; want code %q", n.index, ref, r.PUID, err, code)
		case !refused:
			l.enter(ref, r.PUID)
		}
	}
}

// A cell whose database is down refuses its own keys, never with "not found", and everything else works. A key that may
// be in it gets no second puid: it must wait until the cell is sealed and has a filter, which proves which keys are
// absent while the cell is down.
func TestP06_CellDown(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestP06_Simulation does it in memory")
	// A server is paused between the announcement of a generation and its start, on a slow machine too.
	f := newFleet(t, 2, 2, 4, "--notice", "15s")
	l := newLedger(t)
	m := f.nodes[0].cellMap()
	// here returns keys whose cells in these generations, the newest first, are on these servers.
	here := func(m *cell.Map, n int, servers ...int) []entity.Ref {
		return l.fresh(m, n, func(position uint32) bool {
			for i, s := range servers {
				if f.on(m, m.Key(m.Current()-i, position)) != s {
					return false
				}
			}
			return true
		})
	}
	up, down := here(m, 20, 0), here(m, 20, 1)
	l.put(f.nodes[0], append(up[:10:10], down[:10]...), "")
	f.crash(1)
	for _, n := range f.nodes {
		l.read(n, up[:10], "")
		l.read(n, up[10:], httpapi.CodeNotFound)
		l.read(n, down[:3], httpapi.CodeUnavailable)
		l.read(n, down[10:13], httpapi.CodeUnavailable)
		l.put(n, up[:3], "")
		l.put(n, down, httpapi.CodeUnavailable)
	}
	l.put(f.nodes[1], up, "")
	f.revive(1)
	f.whole()
	l.put(f.nodes[1], down, "")

	// A generation becomes current while half of the older cells are down: these cannot be sealed.
	stopped := false
	_, err := f.nodes[0].run(func(step string) {
		if step == cell.StepAnnounced && !stopped {
			stopped = true
			f.pg[1].Pause(t)
		}
	}, "grow", "--to", "8", "--wait")
	if exitCode(err) != 6 || !strings.Contains(err.Error(), "run it again") {
		t.Fatalf("growth without half of the cells: %v", err)
	}
	for _, n := range f.nodes { // who still works with the older map may allocate in its cells, until they are sealed
		n.until(1)
	}
	m = f.nodes[1].cellMap()
	at := func(server int, refs []entity.Ref) (found []entity.Ref) {
		for _, ref := range refs {
			if f.on(m, m.Home(m.KeyOf(ref.Source, ref.Key).Position())) == server {
				found = append(found, ref)
			}
		}
		return found
	}
	both, newer, older, neither := here(m, 8, 0, 0), here(m, 8, 0, 1), here(m, 8, 1, 0), here(m, 8, 1, 1)
	l.put(f.nodes[0], older[:4], httpapi.CodeUnavailable)
	l.put(f.nodes[0], both[:2], "")
	f.crash(1)
	for _, n := range f.nodes {
		l.put(n, append(newer[:4:4], append(older[:4], neither[:4]...)...), httpapi.CodeUnavailable)
		l.put(n, both[:4], "")
		l.put(n, at(0, up), "")
		l.put(n, at(1, up), unless) // a process that has looked up the puid may use it
		l.put(n, down, httpapi.CodeUnavailable)
		l.read(n, newer[4:6], httpapi.CodeUnavailable)
		l.read(n, both[4:], httpapi.CodeNotFound)
	}
	f.revive(1)
	f.whole()
	f.nodes[0].grow(8, nil)
	for _, n := range f.nodes {
		l.put(n, append(newer[:4:4], append(older[:4], neither[:4]...)...), "")
		l.put(n, down, "")
	}

	// With filters, absence is proven while a cell is down, also to a process that has just started.
	f.nodes[1].drain()
	f.nodes[1].start()
	proven := map[*node][]entity.Ref{}
	for _, n := range f.nodes {
		proven[n] = f.provenAbsent(n, here(m, 12, 0, 1))
	}
	f.crash(1)
	for _, n := range f.nodes {
		l.read(n, proven[n][:4], httpapi.CodeNotFound)
		l.put(n, proven[n], "")
		l.put(n, both, "")
		l.put(n, append(older[4:], neither[4:]...), httpapi.CodeUnavailable)
		l.put(n, down, httpapi.CodeUnavailable)
		l.read(n, down[:3], httpapi.CodeUnavailable)
	}
	f.revive(1)
	f.whole()
	f.drained()
	var all []entity.Ref
	for ref := range l.puids {
		all = append(all, ref)
	}
	for _, n := range f.nodes {
		l.put(n, all, "")
		l.read(n, all, "")
	}
	t.Logf("%d keys, each with one puid", len(all))
}

// until waits until the process uses a map with this current generation.
func (n *node) until(gen int) {
	n.fleet.t.Helper()
	eventually(n.fleet.t, time.Minute, fmt.Sprintf("process %d knows of generation %d", n.index, gen), func() (bool, string) {
		m := n.cellMap()
		return m.Current() >= gen, fmt.Sprintf("its map has epoch %d", m.Epoch())
	})
}

// provenAbsent waits until filters prove to the process that the older cells lack the keys. A filter can be wrong about
// some: they are left out.
func (f *fleet) provenAbsent(n *node, refs []entity.Ref) (proven []entity.Ref) {
	f.t.Helper()
	eventually(f.t, time.Minute, "filters are in memory", func() (bool, string) {
		proven = nil
		for _, ref := range refs {
			var r explain.Route
			if err := n.get("/v1/route", &r, "address", ref.String()); err != nil {
				return false, err.Error()
			}
			absent := true
			for _, p := range r.Key.Probes[1:] {
				absent = absent && p.Answer == cell.AnswerFilterNo
			}
			if absent {
				proven = append(proven, ref)
			}
		}
		return len(proven) >= len(refs)-4, fmt.Sprintf("%d of %d keys are proven to be absent", len(proven), len(refs))
	})
	return proven
}
