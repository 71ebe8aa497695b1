// SPDX-License-Identifier: Apache-2.0

package running_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/running"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/sqlite"
)

type definition struct {
	Name     string `json:"name"`
	Paused   bool   `json:"paused,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Revision int64  `json:"revision"`
}

var (
	errNotFound = errors.New("no such thing")
	errStop     = errors.New("stop")
	rows        = &running.Row[definition]{Name: "things", NotFound: errNotFound, Stop: errStop,
		Common: func(d *definition) running.Common {
			return running.Common{Name: d.Name, Revision: &d.Revision, Paused: &d.Paused, Reason: &d.Reason}
		}}
)

func TestCatalog_KeepsDefinitions(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	opened, err := storage.Open(ctx, t.TempDir(), &storage.Options{Cells: 1, Scratch: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	c := running.NewCatalog(rows, &engine.Engine{Cells: opened, Logger: slog.New(slog.DiscardHandler), Now: time.Now}, "")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"b", "a", "c"} {
		must(c.Alter(ctx, func(_ storage.Tx, all *running.Definitions[definition]) error {
			all.Add(definition{Name: name, Revision: all.Revision})
			return nil
		}))
	}
	must(c.Change(ctx, "b", func(_ storage.Tx, d *definition) error { d.Paused = true; return nil }))
	must(c.Pause(ctx, running.Wanted[definition]{Name: "a", Revision: 1}, "stale")) // a has revision 2: nothing changes
	must(c.Pause(ctx, running.Wanted[definition]{Name: "c", Revision: 3}, "full"))
	wanted, err := c.Wanted(ctx)
	must(err)
	a := definition{Name: "a", Revision: 2}
	if diff := cmp.Diff([]running.Wanted[definition]{{Name: "a", Revision: 2, Definition: a}}, wanted); diff != "" {
		t.Errorf("wanted (-want +got):\n%s", diff)
	}
	must(c.Alter(ctx, func(_ storage.Tx, all *running.Definitions[definition]) error { return all.Delete("b") }))
	must(c.View(ctx, func(tx storage.Tx) error {
		row, err := tx.Definition(ctx, "things")
		want := `{"revision":7,"things":[{"name":"a","revision":2},` +
			`{"name":"c","paused":true,"reason":"full","revision":6}]}`
		if string(row) != want {
			t.Errorf("the row is\n%s, want\n%s", row, want)
		}
		for name, revision := range map[string]int64{"a": 1, "b": 2, "c": 6} {
			if err := rows.Check(ctx, tx, name, revision); !errors.Is(err, errStop) || !errors.Is(err, running.ErrChanged) {
				t.Errorf("Check of %s at %d: %v", name, revision, err)
			}
		}
		return errors.Join(err, rows.Check(ctx, tx, "a", 2))
	}))
	for what, err := range map[string]error{
		"Change": c.Change(ctx, "b", nil),
		"Get":    get(ctx, c, "b"),
		"Delete": c.Alter(ctx, func(_ storage.Tx, all *running.Definitions[definition]) error { return all.Delete("b") }),
	} {
		if !errors.Is(err, errNotFound) {
			t.Errorf("%s of a missing name: %v", what, err)
		}
	}
}

func get(ctx context.Context, c *running.Catalog[definition], name string) error {
	_, err := running.Get(ctx, c, name, func(_ context.Context, _ storage.Tx, d definition) (*definition, error) {
		return &d, nil
	})
	return err
}
