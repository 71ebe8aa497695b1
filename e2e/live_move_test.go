// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
)

// A cell moves to another server and back while it is written to, through its old address and its new one; then the
// installation grows and is compacted. No request is refused, nothing is lost, no puid is assigned twice, and in the
// end a key is found with one lookup.
func TestP06_P08_LiveMoveAndCompaction(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestP06_P08_LiveMoveOutOfDirectory does it with SQLite")
	f := newFleet(t, 2, 2, 4)
	tr := newTraffic(f, 2)
	tr.begin()
	tr.advance(20)
	maps := []*cell.Map{f.nodes[0].cellMap()}
	for _, move := range []struct {
		cell string
		by   int
		to   int
	}{{"g0-3", 0, 0}, {"g0-2", 1, 1}, {"g0-0", 1, 1}} { // the last one keeps the map
		id, err := cell.ParseID(move.cell)
		if err != nil {
			t.Fatal(err)
		}
		if from := f.on(f.nodes[move.by].cellMap(), id); from == move.to {
			t.Fatalf("cell %v is on server %d already", id, from)
		}
		summary, err := f.nodes[move.by].run(nil, "move", move.cell, "--to", f.pg[move.to].URL("moved_"+move.cell))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("cell %v moved: %v rows, %v changes followed, writers paused %v", id, summary["rows"], summary["followed"],
			pause(t, summary))
		tr.advance(20)
		maps = append(maps, f.nodes[0].cellMap())
	}
	f.nodes[0].grow(scaled(8, 16), nil, "--urls", f.template(1)+","+f.template(0))
	tr.advance(20)
	maps = append(maps, f.nodes[0].cellMap())
	begin := tr.now()
	if _, err := f.nodes[1].run(nil, "compact", "--to", "1"); err != nil {
		t.Fatal(err)
	}
	compacted := tr.now() - begin
	tr.advance(20)
	s := tr.judge()
	cells := f.witness()
	rows := tr.checkRows(s, cells, maps...)
	for _, n := range f.nodes {
		tr.oneProbe(n, s)
	}
	t.Logf("%d keys, %d rows of keys, %d acknowledged puts, %d keys raced for; 3 moves, 1 activation, a compaction of %v; %.0f s of load",
		len(s.puids), rows, s.acks, s.contended, compacted.Round(time.Millisecond), s.loaded.Seconds())
}

// A cell of a data directory moves to a PostgreSQL server while it is written to. The process finds it there after it
// was killed and restarted.
func TestP06_P08_LiveMoveOutOfDirectory(t *testing.T) {
	t.Parallel()
	postgres := pgtest.Start(t, &pgtest.Options{InMemory: true})
	f := newDirectory(t, 4, "--place", postgres.URL(""))
	n := f.nodes[0]
	tr := newTraffic(f, 4)
	tr.begin()
	tr.advance(30)
	before := n.cellMap()
	summary, err := n.run(nil, "move", "g0-1", "--to", postgres.URL("moved"))
	if err != nil {
		t.Fatal(err)
	}
	tr.advance(30)
	killed := tr.during("the process was killed", 0, killing, func() {
		n.kill()
		n.start()
	})
	tr.advance(20)
	s := tr.judge(killed)
	n.drain()
	rows := tr.checkRows(s, f.witness(), before)
	t.Logf("%d keys, %d rows of keys, %d acknowledged puts; a move out of SQLite of %v rows, %v changes followed, writers paused %v",
		len(s.puids), rows, s.acks, summary["rows"], summary["followed"], pause(t, summary))
}

// pause returns how long writers waited for a moved cell, according to its summary.
func pause(t *testing.T, summary map[string]any) time.Duration {
	t.Helper()
	ns, ok := summary["pause_ns"].(float64)
	if !ok || ns <= 0 || time.Duration(ns) > time.Minute {
		t.Errorf("the pause of the writers is %v", summary["pause_ns"])
	}
	return time.Duration(ns)
}

// oneProbe checks that keys are found with one lookup, according to `locus route`.
func (tr *traffic) oneProbe(n *node, s *summary) {
	tr.t.Helper()
	tried := 0
	for i := range s.puids {
		if s.deleted[i] { // nothing is stored there any more, perhaps
			continue
		}
		if tried++; tried > 20 {
			return
		}
		out, err := run(tr.t, "route", "--explain", "--json", "--url", n.url(), tr.ref(i).String())
		var r explain.Route
		if err != nil || json.Unmarshal([]byte(out), &r) != nil || r.Key == nil {
			tr.t.Fatalf("locus route: %v\n%s", err, out)
		}
		if r.Key.Cost != 1 || !r.Found || *r.Record != s.puids[i] {
			tr.t.Errorf("key %v takes %d look-ups, puid %v: %s", tr.ref(i), r.Key.Cost, r.Record, out)
		}
	}
}
