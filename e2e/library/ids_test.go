// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// Ids are minted with the node in Options, and events of their generator are logged only by the logger of the
// installation.
func TestOpen_ItsIdsAndTheirLog(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		node locality.Node
	}{
		{"random", locality.Node{}},
		{"fixed(815)", locality.FixedNode(815)},
	} {
		cells, err := storage.Open(t.Context(), t.TempDir(), &storage.Options{Cells: 1, Scratch: true})
		if err != nil {
			t.Fatal(err)
		}
		var logs bytes.Buffer
		s, err := locus.OpenCells(t.Context(), cells,
			&locus.Options{Logger: slog.New(slog.NewTextHandler(&logs, nil)), Node: c.node})
		if err != nil {
			t.Fatal(err)
		}
		id := put(t, s, record("a", "1", "Zephyr Trampolines", "", ""))[0].Entity
		locality.Reseed()
		again := put(t, s, record("a", "2", "Quill Dental", "", ""))[0].Entity
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		was, _ := id.Node()
		is, _ := again.Node()
		if fixed := c.name != "random"; fixed && (was != 815|1<<27 || is != was) || !fixed && was == is {
			t.Errorf("%s: nodes %d, then %d", c.name, was, is)
		}
		line := "level=WARN msg=\"id generator\" event.kind=\"identity changed\" event.why=\"it was asked for\" event.node=" + c.name + "\n"
		if got := logs.String(); strings.Count(got, line) != 1 {
			t.Errorf("%s: the log is\n%swant once\n%s", c.name, got, line)
		}
	}
}
