// SPDX-License-Identifier: Apache-2.0

package file_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/file"
	"github.com/locus-db/locus/sink/sinktest"
)

func open(t *testing.T, dir string, format file.Format) *file.Sink {
	t.Helper()
	s, err := file.Open(t.Context(), dir, format)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, format := range []file.Format{file.JSONL, file.Parquet} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			sinktest.Run(t, func(t *testing.T) sinktest.Target {
				dir := t.TempDir()
				return sinktest.Target{Sink: open(t, dir, format), Get: func(_ context.Context, id locality.ID) (sink.Event, error) {
					all, _, err := file.Newest(dir)
					if errors.Is(err, fs.ErrNotExist) {
						err = nil
					}
					return all[id], err
				}}
			})
		})
	}
}

func id(n int) locality.ID { return locality.ID{0: byte(n >> 8), 1: byte(n), 15: 1} }

func upsert(n int, rev int64) sink.Event {
	return sink.Event{ID: id(n), Rev: rev, Op: sink.Upsert, Kind: "place", At: "g0-1:2", Records: []string{"a:1"},
		View: map[string]any{"name": fmt.Sprint(rev)}}
}

// Batches of any sizes, with owners that change, end in the newest event of each ID, in few parts, and nothing else
// stays.
func TestDeliver_MergesParts(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for _, format := range []file.Format{file.JSONL, file.Parquet} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			dir, rng, now := t.TempDir(), rand.New(rand.NewPCG(1, 2)), time.Unix(1_000_000, 0)
			s := open(t, dir, format)
			want, model, token := map[locality.ID]sink.Event{}, &sinktest.Memory{Keeps: true}, int64(1)
			for n := range 150 {
				if rng.IntN(20) == 0 { // another process
					s, token = open(t, dir, format), token+1
				}
				s.SetNow(func() time.Time { return now })
				now = now.Add(time.Minute)
				b := sink.Batch{Token: token, Position: &sink.Position{Installation: "x", Base: int64(n)}}
				for i := range rng.IntN(30) {
					e := upsert(rng.IntN(400), sinktest.Rev(token, int64(100*n+i)))
					if b.Events = append(b.Events, e); rng.IntN(5) == 0 {
						b.Events[i] = sink.Event{ID: e.ID, Rev: e.Rev, Op: sink.Delete}
					}
				}
				b.Events = once(b.Events)
				if rng.IntN(40) == 0 {
					b.Sweep = sinktest.Rev(token, int64(100*n-500))
				}
				if err := errors.Join(s.Deliver(t.Context(), b), model.Deliver(t.Context(), b)); err != nil {
					t.Fatal(err)
				}
			}
			for _, e := range model.Events() {
				want[e.ID] = e
			}
			got, parts, err := file.Newest(dir)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Fatalf("%v; the directory has (-want +got)\n%s", err, diff)
			}
			if at, err := open(t, dir, format).Position(t.Context()); err != nil || at.Base != 149 {
				t.Errorf("%+v, %v", at, err)
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(parts) > 21 || len(entries) > len(parts)+1+22 { // three levels; a manifest; ten minutes
				t.Errorf("%d parts, %d files, %v", len(parts), len(entries), err)
			}
		})
	}
}

// once keeps the last event of each ID, because a batch has each ID at most once.
func once(events []sink.Event) (unique []sink.Event) {
	seen := map[locality.ID]bool{}
	for i := len(events) - 1; i >= 0; i-- {
		if !seen[events[i].ID] {
			seen[events[i].ID] = true
			unique = append(unique, events[i])
		}
	}
	return unique
}

// Files that a former owner writes after another one has begun are ignored, and files of a killed owner are removed.
func TestDeliver_FormerOwnersChangeNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	former := open(t, dir, file.JSONL)
	if err := former.Deliver(t.Context(), sink.Batch{Token: 1, Events: []sink.Event{upsert(1, sinktest.Rev(1, 1))}}); err != nil {
		t.Fatal(err)
	}
	owner := open(t, dir, file.JSONL)
	for _, name := range []string{"part-00000000000000000001-00000009.jsonl", ".part-00000000000000000001-00000010.jsonl.77.part"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("torn"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := owner.Deliver(t.Context(), sink.Batch{Token: 2, Position: &sink.Position{Base: 2}}); err != nil {
		t.Fatal(err)
	}
	// The former owner was suspended after it had looked for others, and renames its manifest now.
	if err := os.WriteFile(filepath.Join(dir, "manifest-00000000000000000001.json"), []byte(`{"format":"jsonl","token":"1","parts":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := former.Deliver(t.Context(), sink.Batch{Token: 1}); !errors.Is(err, sink.ErrFenced) {
		t.Error(err)
	}
	all, _, err := file.Newest(dir)
	if err != nil || all[id(1)].Rev != sinktest.Rev(1, 1) {
		t.Errorf("%v, %v", all, err)
	}
	torn, err := filepath.Glob(filepath.Join(dir, "*-0000000[19]*.*part*"))
	if matches, _ := filepath.Glob(filepath.Join(dir, "part-*-00000009.jsonl")); err != nil || len(torn)+len(matches) > 0 {
		t.Errorf("%v %v stay, %v", torn, matches, err)
	}
}

func TestOpen_LeavesTheFilesOfOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Open(t.Context(), dir, file.JSONL); !errors.Is(err, sink.ErrStop) {
		t.Error(err)
	}
	used := t.TempDir()
	if err := open(t, used, file.JSONL).Deliver(t.Context(), sink.Batch{Token: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Open(t.Context(), used, file.Parquet); !errors.Is(err, sink.ErrStop) {
		t.Error(err)
	}
}

// A definition comes over HTTP: it names no path, and nothing is written without a directory of the server.
func TestDriver_StaysBelowTheDirectoryOfTheServer(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"file:///etc/cron.d", "file:/etc", "file:..", "file:a/../../b", "file:.ssh", "file:a/", "file://h/a", "file:a%2f..", "file:a?x=1", "file:a?format=", "file:"} {
		if _, _, err := sink.ParseURL(text); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
	u, err := url.Parse("file:crm/golden")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Driver.Open(t.Context(), sink.Spec{URL: u}); err == nil || !strings.Contains(err.Error(), "--sink-files") {
		t.Error(err)
	}
	dir := t.TempDir()
	if _, err := file.Driver.Open(t.Context(), sink.Spec{URL: u, Files: dir}); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "crm", "golden")); err != nil || !info.IsDir() {
		t.Error(err)
	}
}
