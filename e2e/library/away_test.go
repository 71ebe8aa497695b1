// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
	"github.com/locus-db/locus/storage/mongodb"
)

// A process that starts while the authority is down works like a process that was already running: it serves the cells
// of the other server, accepts records for them as pending, reports what is unreachable, and continues when the server
// is back.
func TestP12_AProcessStartsWhileTheServerOfTheMapIsAway(t *testing.T) {
	t.Parallel()
	away, here := pgtest.Start(t, nil), pgtest.Start(t, nil)
	where := away.URL("places") + "," + here.URL("places")
	start := func() (*locus.DB, error) {
		// to move the map again
		cells, err := storage.Open(t.Context(), where,
			&storage.Options{MustExist: true, Notice: 4 * time.Hour, Scratch: true})
		must(t, err)
		return locus.OpenCells(t.Context(), cells, nil)
	}
	running := openAt(t, where, &storage.Options{Cells: 4})
	define(t, running, bySource)

	away.Stop(t)
	s, err := start()
	if err == nil {
		must(t, s.Close())
	}
	if !errors.Is(err, locus.ErrUnavailable) || !strings.Contains(err.Error(), "start the server of cell g0-0 first") {
		t.Fatalf("no cell has a copy of the rules: %v, want ErrUnavailable that says which server to start", err)
	}
	away.Restart(t)

	shop := func(i int) records.Input {
		return record("a", fmt.Sprint(i), fmt.Sprintf("Shop %c%c", 'a'+i%26, 'a'+i/26), "", "")
	}
	isDown := func(ref entity.Ref) bool {
		m := running.Cells().Map()
		return m.Home(m.KeyOf(ref.Source, ref.Key).Position()).Index%2 == 0
	}
	until(t, "the first records", func() (bool, string) {
		for i := range 20 {
			results, err := running.Records().Put(t.Context(), []records.Input{shop(i)})
			if err = errors.Join(err, results[0].Err); err != nil {
				return false, err.Error()
			}
		}
		return true, ""
	})
	latest(t, running, "by_source")

	away.Stop(t)
	s, err = start()
	must(t, err)
	for name, p := range map[string]*locus.DB{"running": running, "new": s} {
		status, err := p.Cells().Status(t.Context())
		must(t, err)
		if !status.Ready || status.Reason != "2 of 4 cells are unavailable" || !status.Cells[0].Down || status.Cells[1].Down {
			t.Errorf("the %s process says %+v", name, status)
		}
		for i := range 20 {
			_, err := p.Records().Get(t.Context(), shop(i).Ref)
			if down := isDown(shop(i).Ref); down != errors.Is(err, locus.ErrUnavailable) || !down && err != nil {
				t.Errorf("the %s process reads %v, down is %v: %v", name, shop(i).Ref, down, err)
			}
		}
	}
	waiting := 0
	for name, p := range map[string]*locus.DB{"running": running, "new": s} {
		var puts []records.Input
		for i := range 20 {
			puts = append(puts, record(name, fmt.Sprint(i), shop(i).Attributes["name"][0], "", ""))
		}
		results, err := p.Records().Put(t.Context(), puts)
		must(t, err)
		for _, r := range results {
			switch down := isDown(r.Ref); {
			case down != errors.Is(r.Err, locus.ErrUnavailable), !down && r.Err != nil:
				t.Errorf("the %s process put %v, down is %v: %v", name, r.Ref, down, r.Err)
			case p == s && !down && !r.Pending: // the other process may hold the lease for a while
				t.Errorf("the new process resolved %v without the lease", r.Ref)
			case r.Pending:
				waiting++
			}
		}
	}
	if waiting == 0 {
		t.Error("no record had to wait: the test does not reach what it is for")
	}
	must(t, running.Close()) // the new process must continue alone

	away.Restart(t)
	until(t, "all is resolved", func() (bool, string) {
		status, err := s.Cells().Status(t.Context())
		if err != nil {
			return false, err.Error()
		}
		return status.Reason == "" && status.Redo == 0, fmt.Sprintf("%+v", status)
	})
	for i := range 20 {
		put(t, s, shop(i), record("new", fmt.Sprint(i), shop(i).Attributes["name"][0], "", ""))
	}
	latest(t, s, "by_source")
	wantTrue(t, s, "by_source")
	if found := differences(t, s); len(found) > 0 {
		t.Errorf("a check finds %+v", found)
	}
	must(t, s.Close())
}

// A map covers about a minute ahead, and is not extended while the authority is down. Records put after its end get ids
// dated before the end, so every map locates them, also after cells are added.
func TestP12_RecordsArePutAfterTheEndOfTheMap(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	opts, muted := mutedAt(t.TempDir(), "g0-0", false)
	opts.Notice = time.Second
	opts.Now = func() time.Time { return time.Now().Add(-time.Hour) } // the map ended an hour ago by the real clock
	cells, err := cell.OpenCells(t.Context(), opts)
	must(t, err)
	s, err := locus.OpenCells(t.Context(), cells, nil)
	must(t, err)
	defer s.Close()
	shop := func(i int) records.Input {
		return record("a", fmt.Sprint(i), fmt.Sprintf("Shop %c%c", 'a'+i%26, 'a'+i/26), "", "")
	}
	ids := map[int]locality.ID{}
	for i := range 5 {
		ids[i] = put(t, s, shop(i))[0].Entity
	}
	muted.mute.Store(true)
	for i := 5; i < 20; i++ {
		results, err := s.Records().Put(t.Context(), []records.Input{shop(i)})
		must(t, err)
		down := s.Cells().Map().Home(s.Cells().Map().KeyOf(shop(i).Source, shop(i).Key).Position()).Index == 0
		if err := results[0].Err; down != errors.Is(err, locus.ErrUnavailable) || !down && err != nil {
			t.Errorf("shop %d, down is %v: %v", i, down, err)
		}
		if !down {
			ids[i] = results[0].Entity
		}
	}
	muted.mute.Store(false)
	must(t, s.Cells().Grow(t.Context(), cell.Growth{Cells: 6}, nil))
	for i, id := range ids {
		if early, late := time.UnixMilli(id.Millis()), s.Cells().Map().Starts(1); !early.Before(late) || late.Sub(early) > time.Minute {
			t.Errorf("shop %d is dated %v, the next generation starts at %v", i, early, late)
		}
	}
	until(t, "what waited is resolved", func() (bool, string) {
		status, err := s.Cells().Status(t.Context())
		return err == nil && status.Redo == 0, fmt.Sprintf("%+v, %v", status, err)
	})
	for i, id := range ids {
		if e, err := s.Entities().Get(t.Context(), id); err != nil || len(e.Members) != 1 || e.Members[0].Key != fmt.Sprint(i) {
			t.Errorf("the id of shop %d leads to %+v, %v", i, e, err)
		}
	}
	if found := differences(t, s); len(ids) < 10 || len(found) > 0 {
		t.Errorf("%d ids; a check finds %+v", len(ids), found)
	}
}

// A process that starts while the authority is down learns the document database from the other cells: without it, or
// with another one, hits would be counted in two places.
func TestP12_DocumentsAreKnownWhileTheAuthorityIsAway(t *testing.T) {
	t.Parallel()
	dir, uri, other := t.TempDir(), mongotest.URI(t), mongotest.URI(t)
	start := func(away bool, uri string) (*locus.DB, error) {
		t.Helper()
		cells, muted := openMutedAt(t, dir, "g0-0", false)
		var docs locus.Documents
		if uri != "" {
			d, err := mongodb.Open(t.Context(), uri, &mongodb.Options{UnsafeDurability: true, Timeout: patience(t)})
			must(t, err)
			docs, err = d.Documents(t.Context())
			must(t, err)
		}
		muted.mute.Store(away)
		return locus.OpenCells(t.Context(), cells, &locus.Options{Documents: docs})
	}
	s, err := start(false, "")
	must(t, err)
	put(t, s, record("a", "1", "Velvet Books", "", "")) // copies the rules to the cells
	must(t, s.Close())
	if _, err := start(true, uri); !errors.Is(err, locus.ErrUnavailable) || !strings.Contains(err.Error(), "read the identity of the MongoDB database") {
		t.Errorf("a database of documents that no cell knows: %v, want ErrUnavailable", err)
	}
	s, err = start(true, "")
	must(t, err)
	must(t, s.Close())
	s, err = start(false, uri)
	must(t, err)
	must(t, s.Close())
	for _, away := range []bool{false, true} {
		for _, wrong := range []string{"", other} {
			if _, err := start(away, wrong); !errors.Is(err, locus.ErrDocuments) {
				t.Errorf("away %v, %q instead of %q: %v, want ErrDocuments", away, wrong, uri, err)
			}
		}
		s, err := start(away, uri)
		must(t, err)
		must(t, s.Close())
	}
}
