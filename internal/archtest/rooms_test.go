// SPDX-License-Identifier: Apache-2.0

package archtest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/archtest"
)

func TestRooms_ReferencesPointDown(t *testing.T) {
	t.Parallel()
	rooms, arrows := 0, 0
	for _, name := range archtest.House {
		refers, err := archtest.Arrows(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range refers {
			rooms, arrows = rooms+1, arrows+len(to)
		}
		for _, circle := range archtest.Circles(refers) {
			t.Errorf("%s: %s: these files refer to each other in a circle; move a type below all that use it, or a function above all that it uses",
				name, strings.Join(circle, " "))
		}
	}
	t.Logf("%d files refer to others of their package, in %d arrows", rooms, arrows)
}

func TestRooms_RefersToFewOthers(t *testing.T) {
	t.Parallel()
	rooms, references := slices.Concat(archtest.House, archtest.Ground), 0
	for _, from := range rooms {
		for _, to := range archtest.Picture[from].Imports {
			if slices.Contains(rooms, to) {
				references++
			}
		}
	}
	t.Logf("%d references among %d packages", references, len(rooms))
	if references != archtest.MaxReferences {
		t.Errorf("%d references among %d packages, not %d: if there are more, find a lower room for what is shared; if there are fewer, lower MaxReferences",
			references, len(rooms), archtest.MaxReferences)
	}
}

func TestArrows_AndCircles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"top.go":     "package p\n\nimport \"example.com/other\"\n\nfunc New(o other.Options) *Handle { return &Handle{opts: o} }\n",
		"handle.go":  "package p\n\ntype Handle struct{ opts any }\n\nfunc (h *Handle) Get() { h.list() }\n",
		"list.go":    "package p\n\nfunc (h *Handle) list() { page := limit; _ = page }\n",
		"limit.go":   "package p\n\nconst limit = 3\n",
		"local.go":   "package p\n\nfunc local() int { limit := 4; return limit }\n",
		"up_test.go": "package p\n\nvar _ = New\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	arrows, err := archtest.Arrows(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"top.go": {"handle.go"}, "handle.go": {"list.go"}, "list.go": {"handle.go", "limit.go"}}
	// The field opts and the method list are reached through a value, the type Handle by its name.
	if diff := cmp.Diff(want, arrows); diff != "" {
		t.Errorf("arrows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]string{{"handle.go", "list.go"}}, archtest.Circles(arrows)); diff != "" {
		t.Errorf("circles (-want +got):\n%s", diff)
	}
}
