// SPDX-License-Identifier: Apache-2.0

package file_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/file"
	"github.com/locus-db/locus/sink/sinktest"
)

// trailOf reads all files of a directory by name.
func trailOf(dir string) (map[cell.ID][]sink.Change, error) {
	names, err := filepath.Glob(filepath.Join(dir, "changes-*.jsonl"))
	if err != nil {
		return nil, err
	}
	all := map[cell.ID][]sink.Change{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(text) {
			var c sink.Change
			if err := json.Unmarshal(line, &c); err != nil {
				return nil, err
			}
			all[c.Cell] = append(all[c.Cell], c)
		}
	}
	return all, nil
}

func openTrail(t *testing.T, dir string) *file.ChangeSink {
	t.Helper()
	s, err := file.OpenChanges(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestChanges_Conformance(t *testing.T) {
	t.Parallel()
	sinktest.RunChanges(t, func(t *testing.T) sinktest.ChangeTarget {
		dir := t.TempDir()
		return sinktest.ChangeTarget{ChangeSink: openTrail(t, dir), All: func(context.Context) (map[cell.ID][]sink.Change, error) { return trailOf(dir) }}
	})
}

// Owners that are killed within a line, at any position, over days whose times go back, leave every change once and in
// order.
func TestP17_ChangesAfterKilledOwners(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dice := rand.New(rand.NewPCG(1, 17)) //nolint:gosec // a test
	id := cell.ID{Gen: 1, Index: 3}
	var all []sink.Change
	for seq := changelog.Seq(1); seq <= 600; seq++ {
		c := sinktest.ChangeOf(id, seq)
		c.Time = c.Time.Add(time.Duration(int(seq)*10-dice.IntN(200)) * time.Minute)
		all = append(all, c)
	}
	for n := 0; n < len(all); {
		s := openTrail(t, dir)
		from := max(0, n-dice.IntN(50)) // the position was not saved
		until := min(len(all), n+1+dice.IntN(80))
		for _, batch := range slices.Collect(slices.Chunk(all[from:until], 1+dice.IntN(30))) {
			if delivered, err := s.DeliverChanges(t.Context(), batch); err != nil || delivered != len(batch) {
				t.Fatal(delivered, err)
			}
		}
		n = until
		names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil || len(names) == 0 {
			t.Fatal(err)
		}
		last := names[len(names)-1]
		text, err := os.ReadFile(last)
		if err != nil {
			t.Fatal(err)
		}
		if n < len(all) && dice.IntN(2) == 0 { // the process is killed while it writes
			next, _ := json.Marshal(all[n])
			if err := os.WriteFile(last, append(text, next[:dice.IntN(len(next))]...), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := trailOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[cell.ID][]sink.Change{id: all}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*.jsonl")); len(names) < 4 {
		t.Errorf("files %v, want one a day", names)
	}
}

func TestOpenChanges_Refuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := file.OpenChanges(t.Context(), dir); !errors.Is(err, sink.ErrStop) {
		t.Errorf("a directory of another program: %v", err)
	}
}
