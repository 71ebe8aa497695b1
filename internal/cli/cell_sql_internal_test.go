// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cli

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/locality"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// example returns the worked example of the routing design: four generations of 3, 6, 6 and 30 cells.
func example(t *testing.T, generations int, until time.Time) *cell.Map {
	t.Helper()
	all := []cell.Generation{
		{Cells: 3, Starts: time.UnixMilli(0)},
		{Cells: 6, Starts: time.UnixMilli(1350000000000)},
		{Cells: 6, Starts: time.UnixMilli(1400000000000)},
		{Cells: 30, Starts: time.UnixMilli(1700000000000)},
	}
	return newMap(t, cell.Spec{ID: "example", Current: generations - 1, Generations: all[:generations], Until: until})
}

func TestSQL_Golden(t *testing.T) {
	t.Parallel()
	got, err := sqlOf(example(t, 4, time.UnixMilli(1800000000000).UTC()))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "cell.sql")
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the functions have changed; read the diff, then run with -rewrite (-want +got):\n%s", diff)
	}
}

func TestSQL_RefusesWhatHasNoRoom(t *testing.T) {
	t.Parallel()
	if _, err := sqlOf(oneGeneration(t, 1<<32)); err == nil {
		t.Error("2^32 cells were written as SQL, whose products do not fit")
	}
}

// TestSQL_AnswersLikeTheMap compares with a real PostgreSQL: range ends of the worked example, the vectors of hashes,
// and random addresses.
func TestSQL_AnswersLikeTheMap(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	largest := newMap(t, cell.Spec{ID: "largest",
		Generations: []cell.Generation{{Cells: 1}, {Cells: 1 << 31, Starts: time.UnixMilli(5)}}})
	maps := map[string]*cell.Map{
		"worked example":       example(t, 4, time.Time{}),
		"before generation 3":  example(t, 3, time.Time{}),
		"with a date":          example(t, 4, time.UnixMilli(1750000000000)),
		"one cell":             oneGeneration(t, 1),
		"sixteen":              oneGeneration(t, 16),
		"as many as there may": largest,
	}
	// Section 8 of the routing design: the cell of a hash among 16, 48 and 16384.
	for _, cells := range []uint64{48, 16384} {
		maps[fmt.Sprint(cells)] = oneGeneration(t, cells)
	}
	for name, m := range maps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := server.Database(t)
			functions, err := sqlOf(m)
			if err != nil {
				t.Fatal(err)
			}
			server.Exec(t, database, functions)
			server.Exec(t, database, functions) // replaces the existing ones
			puids, ids := addresses(m)
			for i, row := range server.Exec(t, database, "SELECT coalesce(locus_cell(p), 'none') FROM unnest('"+array(puids)+"'::bigint[]) WITH ORDINALITY AS a(p, n) ORDER BY n") {
				want := "none"
				if c, err := m.Puid(puids[i]); err == nil {
					want = c.String()
				}
				if row[0] != want {
					t.Errorf("locus_cell(%d) = %s, want %s", puids[i], row[0], want)
				}
			}
			for i, row := range server.Exec(t, database, "SELECT coalesce(locus_cell(u), 'none') FROM unnest('"+array(ids)+"'::uuid[]) WITH ORDINALITY AS a(u, n) ORDER BY n") {
				want := "none"
				if c, err := m.Entity(ids[i]); err == nil {
					want = c.String()
				}
				if row[0] != want {
					t.Errorf("locus_cell(%s) = %s, want %s", ids[i], row[0], want)
				}
			}
		})
	}
}

// addresses returns puids and ids at critical values, and some random ones.
func addresses(m *cell.Map) (puids []int64, ids []locality.ID) {
	puids = []int64{0, -1, 1, 17179869184, 1<<63 - 1, -1 << 63}
	for _, text := range []string{
		"20be0ffc-314a-bd53-7a50-013a65ca76d2", "c8c9cef9-7a7f-bd53-7a50-013e4e2afbde",
		"7fffffff-0001-b000-0001-0145f680afff",
		"80000000-0001-b000-0001-0145f680b000", "ffffffff-0001-b000-0001-018bcfe567ff",
		"ffffffff-0001-b000-0001-018bcfe56800",
		"08888888-0001-b000-0001-018bcfe56800", "08888889-0001-b000-0001-018bcfe56800",
		"00000000-0001-b000-0001-000000000000",
		"ffffffff-0001-b000-0001-ffffffffffff",
	} {
		ids = append(ids, locality.MustParse(text))
	}
	for _, key := range [][2]string{{"twitter", "12"}, {"twitter", "783214"}, {"osm", "node/240109189"}, {"ab", "c"}, {"a", "bc"}, {"vendor", "88231"}} {
		id := ids[0]
		binary.BigEndian.PutUint32(id[:4], uint32(cell.Hash(key[0], key[1])>>32))
		ids = append(ids, id)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		puids = append(puids, int64(random.Uint64()))
		id := ids[0]
		binary.BigEndian.PutUint32(id[:4], random.Uint32())
		binary.BigEndian.PutUint64(id[8:], uint64(random.Int64N(2e12)))
		ids = append(ids, id)
		g := random.IntN(m.Generations())
		lo, hi := m.PuidRange(cell.ID{Gen: uint16(g), Index: uint32(random.Uint64N(m.Count(g)))})
		puids = append(puids, lo, lo+1, hi)
	}
	return puids, ids
}

// array returns an SQL array literal.
func array[T int64 | locality.ID](list []T) string {
	texts := make([]string, 0, len(list))
	for _, v := range list {
		switch v := any(v).(type) {
		case int64:
			texts = append(texts, strconv.FormatInt(v, 10))
		case locality.ID:
			texts = append(texts, v.String())
		}
	}
	return "{" + strings.Join(texts, ",") + "}"
}
