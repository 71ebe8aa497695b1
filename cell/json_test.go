// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/cell"
)

func grownSpec() cell.Spec {
	return cell.Spec{
		ID: "7c0e31", Epoch: 9, Current: 1, Until: ms(1795186800000).UTC(), MinFormat: 2,
		Authority: cell.ID{Gen: 1, Index: 5}, Salt: [16]byte{1, 2, 15: 255},
		Generations: []cell.Generation{
			{Cells: 16, Starts: ms(1793523600000).UTC(), URLs: []string{"sqlite:cells/g0-{i}.db"}},
			{Cells: 48, Starts: ms(1795183200000).UTC(),
				URLs: []string{"postgres://db1/locus_g1_{i}", "postgres://db2/locus_g1_{i}"}},
		},
		Moved: map[cell.ID]cell.Home{
			{Index: 3}:  {URL: "postgres://db2/locus_g0_3", Incarnation: 2},
			{Index: 12}: {URL: "postgres://db3/locus_g0_12?sslmode=verify-full&a=<b>", Incarnation: 3},
		},
	}
}

func TestMap_JSONGolden(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]cell.Spec{
		"testdata/grown.json": grownSpec(),
		"testdata/first.json": {ID: "first",
			Generations: []cell.Generation{{Cells: 16, URLs: []string{"sqlite:cells/g0-{i}.db"}}}},
	} {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m := newMap(t, spec)
		line, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := json.Indent(&got, line, "", "  "); err != nil {
			t.Fatal(err)
		}
		got.WriteByte('\n')
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		// The indented form is the same map.
		back, err := cell.ParseMap(want)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(m.Spec(), back.Spec()); diff != "" {
			t.Errorf("%s read back (-want +got):\n%s", name, diff)
		}
	}
}

func TestMap_JSONRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec := chains().Draw(t, "map")
		spec.Epoch = rapid.Uint64Min(1).Draw(t, "epoch")
		spec.Floor = rapid.IntRange(0, spec.Current).Draw(t, "floor")
		if rapid.Bool().Draw(t, "dated") {
			spec.Until = spec.Generations[spec.Current].Starts.Add(1e9)
		}
		m, err := cell.NewMap(spec)
		if err != nil {
			t.Fatal(err)
		}
		text, err := m.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		back, err := cell.ParseMap(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, err := back.MarshalJSON()
		if err != nil || !bytes.Equal(text, again) {
			t.Fatalf("read back: %s, %v, was %s", again, err, text)
		}
		if diff := cmp.Diff(m.Spec(), back.Spec()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestParseMap_Refuses(t *testing.T) {
	t.Parallel()
	grown, err := os.ReadFile("testdata/grown.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, old, new, says string }{
		{"nothing", string(grown), "", "EOF"},
		{"an array", string(grown), "[]", "cannot unmarshal"},
		{"cut off", "\n}\n", "", "unexpected EOF"},
		{"two maps", "\n}\n", "\n}\n{}", "follows"},
		{"format", "locus-cellmap/1", "locus-cellmap/2", "newer program"},
		{"hash", `"xxh64"`, `"siphash24"`, "siphash24"},
		{"seed", `"seed": "0"`, `"seed": "7"`, `"7"`},
		{"puid_bits", `"puid_bits": 32`, `"puid_bits": 40`, "puid_bits"},
		{"unknown field", `"epoch"`, `"era"`, "era"},
		{"epoch 0", `"epoch": 9`, `"epoch": 0`, "epoch"},
		{"min_format 0", `"min_format": 2`, `"min_format": 0`, "min_format"},
		{"no id", `"id": "7c0e31"`, `"id": ""`, "id"},
		{"salt not hex", `"salt": "0102`, `"salt": "zz02`, "salt"},
		{"salt short", `"salt": "0102`, `"salt": "02`, "salt"},
		{"authority", `"g1-5"`, `"cell 5"`, "malformed cell name"},
		{"moved name", `"g0-3"`, `"g0-03"`, "malformed cell name"},
		{"until", "2026-11-20T15:00:00.000Z\",\n  \"auth", "soon\",\n  \"auth", "until"},
		{"start", "2026-11-01", "2026-13-01", "start of generation 0"},
		{"sum", `"sum": "`, `"sum": "0`, "edited or damaged"},
		{"content", `"cells": 48`, `"cells": 64`, "edited or damaged"},
		{"content that is no map", `"cells": 48`, `"cells": 47`, "47 cells"},
		{"ranges too few", `"cells": 16,`, `"cells": 16, "puids": [["0", "1"]],`, "1 ranges"},
		{"ranges differ", `"cells": 16,`,
			`"cells": 16, "puids": [` + strings.Repeat(`["0","4294967295"],`, 15) + `["0","4294967295"]],`,
			"cell g0-0 has puids 0"},
	} {
		text := strings.Replace(string(grown), c.old, c.new, 1)
		if text == string(grown) {
			t.Errorf("%s: nothing was changed", c.name)
			continue
		}
		if _, err := cell.ParseMap([]byte(text)); !errors.Is(err, cell.ErrMap) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want ErrMap that says %q", c.name, err, c.says)
		}
	}
}

func TestParseMap_SpeltOutRanges(t *testing.T) {
	t.Parallel()
	m := newMap(t, cell.Spec{ID: "spelt", Generations: []cell.Generation{{Cells: 2}}})
	text, err := m.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	spelt := strings.Replace(string(text), `"cells":2`,
		`"cells":2,"puids":[["-9223372036854775808","-9223372032559808513"],["0","4294967295"]]`, 1)
	if _, err := cell.ParseMap([]byte(spelt)); err != nil {
		t.Errorf("ranges as the formula gives them: %v", err)
	}
}

func FuzzParseMap(f *testing.F) {
	for _, name := range []string{"testdata/grown.json", "testdata/first.json"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"format":"locus-cellmap/1","generations":[{"cells":4294967296,"starts":"9999-12-31T23:59:59.999Z","urls":["x{i}"]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := cell.ParseMap(text)
		if err != nil {
			if !errors.Is(err, cell.ErrMap) {
				t.Fatalf("%v is not ErrMap", err)
			}
			return
		}
		out, err := m.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cell.ParseMap(out); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
	})
}
