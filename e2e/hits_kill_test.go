// SPDX-License-Identifier: Apache-2.0

//go:build unix

package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/mongotest"
)

// A process on a data directory is killed repeatedly while clients count over connections that lose answers. Nothing
// acknowledged is lost, nothing is counted twice, and in every answer the days are the sums of their hours and of their
// minutes.
func TestP01_P02_P03_KilledServerCounts(t *testing.T) {
	t.Parallel()
	f := newDirectory(t, 3)
	h := newHitters(f, 4, 61)
	h.begin()
	for range rounds(t) {
		h.advance(10, 2)
		f.nodes[0].kill()
		f.nodes[0].start()
	}
	h.advance(10, 2)
	h.end()
	h.exact()
}

// Three processes share the cells on a PostgreSQL server, and clients repeat an unanswered batch at the next process.
// Processes and the server are killed, cells are added and one is moved.
func TestP01_P02_P03_KilledServersCount(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestP01_P02_P03_KilledServerCounts does it with one server")
	f := newFleet(t, 1, 3, 2)
	h := newHitters(f, 6, 62)
	h.begin()
	random := rand.New(rand.NewPCG(62, 1))
	for round := range scaled(4, 200) {
		h.advance(12, 3)
		n := f.nodes[random.IntN(len(f.nodes))]
		n.kill()
		h.advance(6, 0)
		n.start()
		switch round % 4 {
		case 1:
			f.crash(0)
			f.revive(0)
			f.whole()
		case 2:
			if round < 4 {
				f.nodes[0].grow(4, nil)
			}
		case 3:
			if _, err := f.nodes[1].run(nil, "move", "g0-1", "--to", f.pg[0].URL(fmt.Sprint("moved_", round))); err != nil {
				t.Fatal(err)
			}
		}
	}
	h.advance(12, 3)
	h.end()
	h.exact()
}

// Two processes count in one MongoDB. They are killed between the documents of a batch, before its summary, or
// anywhere. Several clients repeat unanswered batches at either process.
func TestP01_P02_P03_KilledServersCountInMongoDB(t *testing.T) {
	t.Parallel()
	flags := []string{"--mongodb", mongotest.URI(t)}
	if !mongotest.On(t).Durable {
		flags = append(flags, "--unsafe-durability")
	}
	f := newFleet(t, 1, 2, 1, flags...)
	h := newHitters(f, 3, 63)
	h.begin()
	random := rand.New(rand.NewPCG(63, 1))
	for range scaled(4, 200) {
		h.advance(4, 1)
		n := f.nodes[random.IntN(len(f.nodes))]
		n.kill()
		h.advance(2, 0)
		n.start()
	}
	h.advance(4, 1)
	h.end()
	h.exact()
}

// The database of a cell is restored from a backup while processes run that have cached newer state: hits on metrics
// that the backup lacks start from zero, and metrics that it has continue from the backup's counts.
func TestP02_RestoredBackupCounts(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestP02_ARestoredCellIsNotTrusted does it in memory")
	f := newFleet(t, 1, 2, 3)
	lost := cell.ID{Index: 2}
	add := func(n *node, metrics ...string) {
		t.Helper()
		var batch httpapi.HitRequest
		for _, m := range metrics {
			batch.Hits = append(batch.Hits, httpapi.HitInput{Metric: m})
		}
		if _, err := hit(n.url(), batch, nil); err != nil {
			t.Fatalf("process %d: %v", n.index, err)
		}
	}
	// in returns the metrics of the lost cell with this prefix.
	in := func(prefix string) (found []string) {
		t.Helper()
		var names []string
		for i := range 20 {
			names = append(names, fmt.Sprint(prefix, i))
		}
		add(f.nodes[0], names...)
		add(f.nodes[1], names...)
		var list httpapi.MetricList
		if err := f.nodes[0].get("/v1/metrics", &list, "prefix", prefix); err != nil {
			t.Fatal(err)
		}
		for _, m := range list.Metrics {
			if m.Cell == lost.String() {
				found = append(found, m.Metric)
			}
		}
		if len(list.Metrics) != len(names) || len(found) == 0 || len(found) == len(names) {
			t.Fatalf("%d of %d metrics are in cell %v", len(found), len(list.Metrics), lost)
		}
		return found
	}
	kept := in("kept ")
	m := f.nodes[0].cellMap()
	server, db := f.pg[0], database(m, lost)
	backup := server.Copy(t, db)
	forgotten := in("forgotten ")
	add(f.nodes[0], kept...) // not in the backup either
	server.Exec(t, "postgres", fmt.Sprintf("DROP DATABASE %s WITH (FORCE)", db))
	server.Exec(t, "postgres", fmt.Sprintf("ALTER DATABASE %s RENAME TO %s", backup, db))
	f.whole()
	for _, n := range f.nodes {
		add(n, forgotten...)
		add(n, kept...)
	}
	day := time.Now().UTC()
	total := func(n *node, metric string) int64 {
		t.Helper()
		var s httpapi.Series
		if err := n.get("/v1/series", &s, "metric", metric, "from", day.AddDate(0, 0, -1).Format(time.DateOnly), "to", day.AddDate(0, 0, 2).Format(time.DateOnly), "step", string(counter.ByHour)); err != nil {
			t.Fatalf("process %d: %s: %v", n.index, metric, err)
		}
		if len(s.Lines) != 1 || s.Lines[0].Total == nil {
			t.Fatalf("process %d: %s: %+v", n.index, metric, s)
		}
		return *s.Lines[0].Total
	}
	for _, n := range f.nodes {
		for _, metric := range forgotten {
			if got := total(n, metric); got != 2 {
				t.Errorf("process %d: %s: %d hits, want the 2 since the backup came back", n.index, metric, got)
			}
		}
		for _, metric := range kept {
			if got := total(n, metric); got != 4 {
				t.Errorf("process %d: %s: %d hits, want 2 of the backup and 2 since", n.index, metric, got)
			}
		}
	}
}
