// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
)

// watchedServer is a server that calls before ahead of each writing request, which may refuse it.
type watchedServer struct {
	svc    *locus.DB
	server *httptest.Server
	url    string
	busy   sync.RWMutex // held for reading by each request
	mu     sync.Mutex
	before func(w http.ResponseWriter, path string) (refused bool)
}

func newWatchedServer(t *testing.T) *watchedServer {
	t.Helper()
	cells, err := storage.Open(t.Context(), t.TempDir(), &storage.Options{Cells: 2, UnsafeDurability: true})
	if err != nil {
		t.Fatal(err)
	}
	svc, err := locus.OpenCells(t.Context(), cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &watchedServer{svc: svc}
	handler := httpapi.New(svc, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.busy.RLock()
		defer s.busy.RUnlock()
		if r.Method != http.MethodGet {
			s.mu.Lock()
			refused := s.before != nil && s.before(w, r.URL.Path)
			s.mu.Unlock()
			if refused {
				return
			}
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.Close()
		if err := svc.Close(); err != nil {
			t.Error(err)
		}
	})
	s.server, s.url = server, server.URL
	return s
}

// settle waits for the requests that a stopped run has left behind.
func (s *watchedServer) settle() {
	s.server.CloseClientConnections()
	s.busy.Lock()
	defer s.busy.Unlock()
}

func (s *watchedServer) watch(before func(w http.ResponseWriter, path string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = before
}

// state returns the names of the records of a source by key.
func (s *watchedServer) state(t fataler, source string) map[string]string {
	state := map[string]string{}
	for rec, err := range s.svc.Records().All(context.Background(), &records.AllOptions{Source: source}) {
		if err != nil {
			t.Fatalf("list %s: %v", source, err)
		}
		state[rec.Key] = rec.Attributes["name"][0]
	}
	return state
}

type fataler interface {
	Fatalf(format string, args ...any)
}

func (s *watchedServer) put(t fataler, source, key, name string) {
	results, err := s.svc.Records().Put(context.Background(),
		[]records.Input{{Ref: entity.Ref{Source: source, Key: key}, Attributes: entity.Attributes{"name": {name}}}})
	if err != nil || results[0].Err != nil {
		t.Fatalf("put %s: %v %v", key, err, results)
	}
}

func (s *watchedServer) remove(t fataler, source, key string) {
	if _, err := s.svc.Records().Delete(context.Background(), []entity.Ref{{Source: source, Key: key}}); err != nil {
		t.Fatalf("delete %s: %v", key, err)
	}
}

// csvOf returns a CSV file of names by key.
func csvOf(of map[string]string) string {
	var b strings.Builder
	b.WriteString("key,name\n")
	for _, key := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(&b, "%s,%s\n", key, of[key])
	}
	return b.String()
}

// Whatever a source contains, whatever others write during a run and wherever runs are stopped, after a completed run
// the source contains the records of the file and those that others wrote during the run. If more are missing than may
// be deleted, nothing is deleted.
func TestSnapshot_AgainstSets(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := newWatchedServer(t)
	dir := t.TempDir()
	number := 0
	rapid.Check(t, func(t *rapid.T) {
		number++
		source := fmt.Sprintf("s%d", number)
		key := rapid.Map(rapid.IntRange(0, 11), func(i int) string { return fmt.Sprintf("k/%d", i) })
		names := 0
		name := func() string { names++; return fmt.Sprintf("Thing %d of %s", names, source) }
		for _, k := range rapid.SliceOfDistinct(key, rapid.ID).Draw(t, "stored") {
			s.put(t, source, k, name())
		}
		file := map[string]string{}
		before := s.state(t, source)
		for _, k := range rapid.SliceOfNDistinct(key, 1, 12, rapid.ID).Draw(t, "file") {
			if file[k] = name(); before[k] != "" && rapid.Bool().Draw(t, "unchanged") {
				file[k] = before[k]
			}
		}
		path := filepath.Join(dir, source+".csv")
		if err := os.WriteFile(path, []byte(csvOf(file)), 0o600); err != nil {
			t.Fatal(err)
		}
		most := rapid.IntRange(0, 12).Draw(t, "max-delete")
		args := []string{"ingest", "--url", s.url, "--source", source, "--snapshot", "--max-delete", fmt.Sprint(most),
			"--batch", fmt.Sprint(rapid.IntRange(1, 4).Draw(t, "batch")), path}

		for range rapid.IntRange(0, 2).Draw(t, "stopped runs") {
			ctx, stop := context.WithCancel(context.Background())
			at, failing, n := rapid.IntRange(1, 6).Draw(t, "at"), rapid.Bool().Draw(t, "failing"), 0
			s.watch(func(w http.ResponseWriter, _ string) bool {
				if n++; n < at {
					return false
				}
				if failing {
					problem(w, http.StatusInternalServerError, httpapi.CodeInternal)
				} else {
					stop()
				}
				return failing
			})
			had := s.state(t, source)
			run(ctx, nil, args...)
			stop()
			s.settle()
			for k := range s.state(t, source) {
				delete(had, k)
			}
			for k := range had {
				if file[k] != "" {
					t.Fatalf("a run that was stopped deleted %s, which the file has", k)
				}
			}
		}

		// The writers act before a request: at most once, and on a key of the file only after all of the file is put.
		stored := s.state(t, source)
		wrote, removed := map[string]string{}, map[string]bool{}
		type act struct {
			At     int
			Key    string
			Remove bool
		}
		acts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) act {
			return act{rapid.IntRange(0, 3).Draw(t, "request"), key.Draw(t, "key"), rapid.Bool().Draw(t, "remove")}
		}), 0, 4).Draw(t, "acts")
		n := 0
		s.watch(func(_ http.ResponseWriter, path string) bool {
			for _, a := range acts {
				deleting := path == "/v1/records/delete"
				if file[a.Key] != "" && !deleting || a.At != n && !deleting || wrote[a.Key] != "" || removed[a.Key] {
					continue
				}
				if a.Remove {
					removed[a.Key] = true
					s.remove(t, source, a.Key)
				} else {
					wrote[a.Key] = name()
					s.put(t, source, a.Key, wrote[a.Key])
				}
			}
			n++
			return false
		})
		got := run(context.Background(), nil, append(args, "--json")...)
		s.watch(nil)

		missing := 0
		want := maps.Clone(file)
		for k, was := range stored {
			if file[k] == "" {
				missing++
				if want[k] = was; missing > most {
					continue
				}
			}
		}
		for k := range stored {
			if file[k] == "" && missing <= most {
				delete(want, k)
			}
		}
		maps.Copy(want, wrote)
		for k := range removed {
			delete(want, k)
		}
		if diff := cmp.Diff(want, s.state(t, source)); diff != "" {
			t.Fatalf("stored %v, file %v, written %v, removed %v, max-delete %d (-want +got):\n%s\n%s%s", stored, file, wrote,
				removed, most, diff, got.stdout, got.err)
		}
		if limited := missing > most; limited != (got.code == 3) || !limited && got.code != 0 || limited != strings.Contains(got.stdout, `"code":"delete_limit"`) {
			t.Fatalf("%d missing of at most %d: exit %d\n%s%s", missing, most, got.code, got.stdout, got.err)
		}
	})
}

// summaryOf returns the line of a type that a command printed.
func summaryOf(t *testing.T, got result, kind string) map[string]any {
	t.Helper()
	for line := range strings.Lines(got.stdout) {
		var of map[string]any
		if json.Unmarshal([]byte(line), &of) == nil && of["type"] == kind {
			return of
		}
	}
	t.Fatalf("no line of type %s:\n%s%s", kind, got.stdout, got.err)
	return nil
}

// Each reason forbids every deletion, and the rows stay.
func TestSnapshot_ReasonsNotToDelete(t *testing.T) {
	t.Parallel()
	s := newWatchedServer(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for i, c := range []struct {
		name, text string
		args       []string
		code       int
		reason     string
		left       int // of three records 1, 2 and 3
		says       string
	}{
		{"a file without rows", "key,name\n", nil, 3, "empty_snapshot", 3, "no row of"},
		{"an empty file", "", nil, 3, "empty_snapshot", 3, "no row of"},
		{"only refused rows", "key,name\n1,\n2,\n", nil, 1, "empty_snapshot", 3, "no row of"},
		{"a row without a key", "key,name\n1,One\n,Two\n", nil, 3, "unknown_key", 3, "line 3"},
		{"a row of another width", "key,name\n1,One\n2,Two,2\n", nil, 3, "unknown_key", 3, "line 3"},
		{"a quote that is never closed", "key,name\n1,One\n2,\"Two\n", nil, 3, "unknown_key", 3, "line 3"},
		{"a refused row with a key", "key,name\n1,One\n2,\n", nil, 3, "", 2, "1 row was refused"},
		{"a refused row of a new key", "key,name,latitude\n1,One,\n7,Seven,north\n", nil, 3, "", 1, "1 row was refused"},
		{"too many", "key,name\n1,One\n", []string{"--max-delete", "1"}, 3, "delete_limit", 3, "--max-delete 2"},
		{"too large a share", "key,name\n1,One\n2,Two\n", []string{"--max-delete", "33%"}, 3, "delete_limit", 3,
			"(33 %) allows 0"},
		{"a share that suffices", "key,name\n1,One\n2,Two\n", []string{"--max-delete", "33.4%"}, 0, "", 2, ""},
		{"none may go", "key,name\n1,One\n2,Two\n", []string{"--max-delete", "0"}, 3, "delete_limit", 3, "allows 0"},
		{"none has to go", "key,name\n1,One\n2,Two\n3,Three\n", []string{"--max-delete", "0"}, 0, "", 3, ""},
		{"other kinds", "key,name\n1,One\n", []string{"--kind", "person"}, 3, "other_kinds", 3, "2 of kind place"},
		{"a row of another source", "source,key,name\nSOURCE,1,One\nSOURCE,2,Two\n" + strings.Repeat("SOURCE,2,Two\n",
			30) + "elsewhere,3,Three\n", nil, 3, "several_sources", 3, "is of elsewhere"},
		{"two sources in the first rows", "source,key,name\nSOURCE,1,One\nelsewhere,3,Three\n", nil, 2, "", 3,
			"one file for each source"},
		{"no source in the file", "source,key,name\n", nil, 2, "", 3, "--source NAME"},
	} {
		source := fmt.Sprintf("r%d", i)
		for j, name := range []string{"One", "Two", "Three"} {
			s.put(t, source, fmt.Sprint(j+1), name)
		}
		args := append([]string{"ingest", "--url", s.url, "--snapshot", "--json"}, c.args...)
		if !strings.HasPrefix(c.text, "source,") {
			args = append(args, "--source", source)
		}
		got := run(t.Context(), nil, append(args, write(source+".csv", strings.ReplaceAll(c.text, "SOURCE", source)))...)
		if got.code != c.code || !strings.Contains(got.err, c.says) {
			t.Errorf("%s: exit %d, want %d and %q\n%s%s", c.name, got.code, c.code, c.says, got.stdout, got.err)
		}
		if n := len(s.state(t, source)); n != c.left {
			t.Errorf("%s: %d records are left, want %d", c.name, n, c.left)
		}
		if c.code == 2 {
			continue
		}
		if reason, _ := summaryOf(t, got, "snapshot")["code"].(string); reason != c.reason {
			t.Errorf("%s: code %q, want %q", c.name, reason, c.reason)
		}
	}
}

// Flags that read a part of a file, or mean nothing without the other one, are refused before anything is read.
func TestSnapshot_Flags(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--snapshot", "--limit", "5"}, {"--max-delete", "5"}, {"--snapshot", "--max-delete", "-1"},
		{"--snapshot", "--max-delete", "101%"},
		{"--snapshot", "--max-delete", "NaN%"}, {"--snapshot", "--max-delete", "many"}, {"--snapshot", "--max-delete", "1.5"},
	} {
		got := run(t.Context(), nil, append(append([]string{"ingest", "--data", t.TempDir()}, args...), "none.csv")...)
		if got.code != 2 || strings.Contains(got.err, "none.csv") {
			t.Errorf("%q: exit %d\n%s", args, got.code, got.err)
		}
	}
}

// A dry run sends no writes, leaves no file, and prints what would be put and deleted.
func TestSnapshot_DryRunWritesNothing(t *testing.T) {
	t.Parallel()
	s := newWatchedServer(t)
	for i := range 5 {
		s.put(t, "dry", fmt.Sprint(i), fmt.Sprintf("Thing %d", i))
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "dry.csv")
	if err := os.WriteFile(path, []byte("key,name\n0,Thing 0\n1,Renamed\n9,New\n8,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.watch(func(w http.ResponseWriter, path string) bool {
		t.Errorf("a dry run wrote: %s", path)
		problem(w, http.StatusInternalServerError, httpapi.CodeInternal)
		return true
	})
	got := run(t.Context(), nil, "ingest", "--url", s.url, "--source", "dry", "--snapshot", "--dry-run", "--json", path)
	var gone []string
	for line := range strings.Lines(got.stdout) {
		var of struct{ Type, Source, Key, Version string }
		if _ = json.Unmarshal([]byte(line), &of); of.Type == "delete" {
			gone = append(gone, of.Source+":"+of.Key)
		}
	}
	if diff := cmp.Diff([]string{"dry:2", "dry:3", "dry:4"}, gone); diff != "" || got.code != 3 {
		t.Errorf("exit %d, would delete %s\n%s%s", got.code, diff, got.stdout, got.err)
	}
	of := summaryOf(t, got, "snapshot")
	for name, want := range map[string]any{"before": 5.0, "new": 1.0, "in_both": 2.0, "missing": 3.0, "deleted": 0.0, "dry_run": true} {
		if of[name] != want {
			t.Errorf("%s is %v, want %v", name, of[name], want)
		}
	}
	text := run(t.Context(), nil, "ingest", "--url", s.url, "--source", "dry", "--snapshot", "--dry-run",
		"--max-delete", "2", path)
	if !strings.Contains(text.stdout, "missing\tdry:2\n") ||
		!strings.Contains(text.err, "nothing would be deleted: 3 of 5") {
		t.Errorf("%s%s", text.stdout, text.err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("files beside the one that was read: %v %v", files, err)
	}
	missing := filepath.Join(dir, "none")
	if got := run(t.Context(), nil, "ingest", "--data", missing, "--source", "dry", "--snapshot", "--dry-run", path); got.code != 3 || !strings.Contains(got.stdout, "dry\t0\t3\t0\t0\t") {
		t.Errorf("without a data directory: %d\n%s%s", got.code, got.stdout, got.err)
	}
}
