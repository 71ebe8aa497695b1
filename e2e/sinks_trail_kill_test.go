// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/internal/porttest"
	"github.com/locus-db/locus/sink"
)

// trail has the changes of each cell in the order in which a target received them.
type trail map[cell.ID][]sink.Change

func (t trail) add(text []byte) error {
	var c sink.Change
	if err := json.Unmarshal(text, &c); err != nil {
		return fmt.Errorf("a change is torn: %w: %.200s", err, text)
	}
	t[c.Cell] = append(t[c.Cell], c)
	return nil
}

func (t trail) len() (n int) {
	for _, changes := range t {
		n += len(changes)
	}
	return n
}

// logOf reads the logs of all cells from their beginning.
func logOf(t *testing.T, base string) trail {
	t.Helper()
	all := trail{}
	for after := ""; ; {
		var page httpapi.ChangeList
		if err := get(base, "/v1/changes", url.Values{"after": {after}, "limit": {"1000"}}, &page); err != nil {
			t.Fatal(err)
		}
		if len(page.Changes) == 0 {
			return all
		}
		for _, c := range page.Changes {
			all[c.Cell] = append(all[c.Cell], sink.Change(c))
		}
		after = page.Next.String()
	}
}

// trailOfTable reads a table of changes, and compares seq and cell with the values in the change.
func trailOfTable(t *testing.T, database string) trail {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck // read only
	rows, err := conn.Query(t.Context(), "SELECT change::text, cell, seq FROM trail ORDER BY cell, seq")
	if err != nil {
		t.Fatal(err)
	}
	all := trail{}
	var text, id string
	var seq int64
	if _, err := pgx.ForEachRow(rows, []any{&text, &id, &seq}, func() error {
		if err := all.add([]byte(text)); err != nil {
			return err
		}
		var c sink.Change
		if err := json.Unmarshal([]byte(text), &c); err != nil || c.Cell.String() != id || int64(c.Seq) != seq {
			return fmt.Errorf("cell %s, seq %d: %.200s %w", id, seq, text, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// trailOfFiles reads files of changes in their order. The last line may be on its way; every other one is whole.
func trailOfFiles(t *testing.T, dir string) trail {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "changes-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := trail{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			if !bytes.HasSuffix(line, []byte("\n")) {
				break
			}
			if err := all.add(line); err != nil {
				t.Fatal(name, err)
			}
		}
	}
	return all
}

// A table and a directory have every change of every cell once, in order and as the log has it, however often the
// server is killed while it delivers.
func TestP17_KilledServerDeliversChanges(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestP17_KilledServerDelivers does it with states")
	longtest.Slow(t)
	postgres := pgtest.Start(t, &pgtest.Options{InMemory: true})
	database := postgres.Remote(t, postgres.Database(t))
	dir, files, addr := t.TempDir(), t.TempDir(), "127.0.0.1:"+porttest.Port(t)
	again := func() *server { return serve(t, dir, addr, "--sink-files", files) }
	s := again()
	for name, to := range map[string]string{"table": database + "&table=trail", "files": "file:trail"} {
		if out, err := run(t, "sink", "create", name, "--url", s.url, "--to", to, "--feed", "changes"); err != nil {
			t.Fatal(err, out)
		}
	}
	// A server takes the sink of a killed one over after some seconds. Then it is killed while others write: it has
	// delivered changes that its stored position does not cover, and the next one delivers them again.
	g, next, seen := demo.New(6, 1e6), int64(0), 0
	var writing sync.WaitGroup
	defer writing.Wait()
	ready := func(s *server) {
		more := func(was int) (delivered int) {
			eventually(t, 20*time.Second, "more changes are delivered", func() (bool, string) {
				delivered = trailOfFiles(t, filepath.Join(files, "trail")).len()
				return delivered > was, fmt.Sprintf("%d changes, as before", was)
			})
			return delivered
		}
		delivered := more(seen)
		writing.Wait()
		writing.Go(func() {
			for err := error(nil); err == nil; next += 20 {
				var batch []httpapi.RecordInput
				for i := range int64(20) {
					batch = append(batch, input(g, next+i, 0))
				}
				_, err = post(s.url, batch) // until the server is killed
			}
		})
		for range 5 {
			delivered = more(delivered)
		}
		seen = delivered
	}
	s = killedWhileWriting(t, s, int64(longtest.Times(100, 500)), longtest.Times(5, 15), ready, again)
	eventually(t, 20*time.Second, "the targets have all changes", func() (bool, string) {
		if _, settled := statesOf(t, s.url); !settled {
			return false, "some ids are being resolved"
		}
		want := logOf(t, s.url)
		if len(want) < 2 {
			t.Fatalf("there are changes of %d cells", len(want))
		}
		var late []string
		for name, got := range map[string]trail{"table": trailOfTable(t, database), "files": trailOfFiles(t, filepath.Join(files, "trail"))} {
			for id, changes := range want {
				n := min(len(got[id]), len(changes))
				if diff := cmp.Diff(changes[:n], got[id][:n]); diff != "" || n < len(got[id]) {
					t.Fatalf("%s, cell %v, %d changes, want %d (-want +got):\n%.2000s", name, id, len(got[id]), len(changes), diff)
				}
				if n < len(changes) {
					late = append(late, fmt.Sprintf("%s has %d of %d changes of cell %v", name, n, len(changes), id))
				}
			}
		}
		return len(late) == 0, strings.Join(late, ", ")
	})
}
