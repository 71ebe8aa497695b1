// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
)

// markers returns how many records are erased; LOCUS_MARKERS overrides it.
func markers(t *testing.T) int {
	t.Helper()
	text := os.Getenv("LOCUS_MARKERS")
	if text == "" {
		return 200
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// holding counts the markers found in files below a directory, except a server's write-ahead log, for which nothing is
// promised.
func holding(t *testing.T, dir string, markers []string) (n int) {
	t.Helper()
	tails := make(map[string]bool, len(markers))
	for _, m := range markers {
		tails[m[len(m)-tail:]] = false
	}
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "pg_wal" {
			return fs.SkipDir
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		mark(tails, content)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, found := range tails {
		if found {
			n++
		}
	}
	return n
}

// tail is how much of a marker's end is searched for: a full-text index omits the prefix that a word shares with the
// previous one.
const tail = 24

// mark notes which tails are in content. A tail consists of base32 digits only and covers every 24th byte once, so
// where such a byte is no digit the next 23 are skipped: a server's files are tens of megabytes.
func mark(tails map[string]bool, content []byte) {
	digit := func(i int) bool {
		c := content[i]
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'v'
	}
	for i := tail - 1; i < len(content); i += tail {
		if !digit(i) {
			continue
		}
		from := i
		for from > 0 && digit(from-1) {
			from--
		}
		for ; i < len(content) && digit(i); i++ {
		}
		for ; from+tail <= i; from++ {
			if text := string(content[from : from+tail]); !tails[text] {
				if _, is := tails[text]; is {
					tails[text] = true
				}
			}
		}
	}
}

const sign = "marker"

// markDecisions returns decisions about two records with a marker in their texts.
func markDecisions(a, b entity.PUID, marker string) []entity.Decision {
	at := time.UnixMilli(1_700_000_000_000).UTC()
	same := entity.Decision{Verdict: entity.VerdictSame, A: a, B: b, Author: marker, Reason: marker, At: at}
	return []entity.Decision{same, same.Mirror(),
		{Verdict: entity.VerdictValue, A: a, Attribute: "hours", Value: marker, Author: marker, Reason: marker, At: at}}
}

// putDecisions writes decisions directly into the cells of their first records.
func putDecisions(t *testing.T, cells *storage.Cells, s *locus.DB, decisions []entity.Decision) {
	t.Helper()
	at := map[cell.ID][]entity.Decision{}
	for _, d := range decisions {
		id, err := s.Cells().Map().Puid(int64(d.A))
		must(t, err)
		at[id] = append(at[id], d)
	}
	for id, decisions := range at {
		home, err := cells.Cell(id)
		must(t, err)
		must(t, home.Update(t.Context(), func(tx storage.Tx) error { return tx.PutDecisions(t.Context(), decisions) }))
	}
}

// onlyPostings fails the test if the packed postings of a cell contain anything besides the current postings.
func onlyPostings(t *testing.T, tx storage.Tx) error {
	size := 0
	for _, table := range []string{"posting_state", "posting_chunk"} {
		rows, err := tx.ReadRows(t.Context(), table, nil, 1<<20)
		if err != nil {
			return err
		}
		for _, row := range rows {
			size += len(row[1].([]byte))
		}
	}
	left, err := tx.ReadRows(t.Context(), "posting", nil, 1<<20)
	if most := 60 + 17*len(left); size > most {
		t.Errorf("the %d postings that are left take %d bytes, want at most %d", len(left), size, most)
	}
	return err
}

// Before erasure, markers in every attribute, in keys and in decisions are in the files of the cells; after Vacuum
// there are none.
func TestP14_ErasedFromEveryFile(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		eraseFrom(t, dir, func() string { return dir })
	})
	t.Run("server", func(t *testing.T) {
		t.Parallel()
		server := pgtest.Start(t, nil)
		eraseFrom(t, server.URL("locus"), func() string {
			server.Exec(t, "postgres", "CHECKPOINT") // flushes memory to files
			return server.Exec(t, "postgres", "SHOW data_directory")[0][0]
		})
	})
}

// eraseFrom erases records of an installation with files below a directory.
func eraseFrom(t *testing.T, where string, dir func() string) {
	opened, err := storage.Open(t.Context(), where, &storage.Options{Cells: 2}) // not Scratch, which does not overwrite
	must(t, err)
	s, err := locus.OpenCells(t.Context(), opened, nil)
	must(t, err)
	defer s.Close()
	define(t, s, byCategory)
	kept := place("kept", "Zephyr Trampolines", "sport", "Springfield")
	put(t, s, kept)
	var all []string
	var ours []records.Input
	for range markers(t) / 2 {
		var secret [32]byte
		rand.Read(secret[:])
		marker := sign + strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(secret[:]))
		all = append(all, marker)
		attributes := entity.Attributes{}
		for _, a := range s.Kinds().Schema("place").Attributes {
			if a.Type != match.TypeGeo { // numbers only
				attributes[a.Name] = []string{marker}
			}
		}
		ours = append(ours, records.Input{Ref: entity.Ref{Source: "a", Key: marker}, Attributes: attributes},
			records.Input{Ref: entity.Ref{Source: "b", Key: marker}, Attributes: attributes})
	}
	var refs []entity.Ref
	var said []entity.Decision
	var before entity.PUID
	for i, r := range put(t, s, ours...) {
		if refs = append(refs, r.Ref); i%2 == 1 {
			said = append(said, markDecisions(before, r.PUID, r.Ref.Key)...)
		}
		before = r.PUID
	}
	putDecisions(t, opened, s, said)
	latest(t, s, "by_category")
	if n := holding(t, dir(), all); n != len(all) {
		t.Fatalf("%d markers of %d are in the files before they are erased", n, len(all))
	}
	results, err := s.Records().Erase(t.Context(), refs)
	must(t, err)
	for _, r := range results {
		if r.Err != nil || r.Pending {
			t.Fatalf("%v: pending %t, %v", r.Ref, r.Pending, r.Err)
		}
	}
	latest(t, s, "by_category")
	ctx, stop := context.WithCancel(t.Context())
	if err := s.Cells().Vacuum(ctx, func(cells.Vacuumed) { stop() }); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped after a cell: %v", err)
	}
	if err := s.Cells().Vacuum(t.Context(), func(v cells.Vacuumed) {
		if v.Behind {
			t.Errorf("cell %v is behind: %+v", v.Cell, v)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if n := holding(t, dir(), all); n > 0 {
		t.Errorf("%d markers of %d are found", n, len(all))
	}
	for _, id := range s.Cells().Map().Cells() {
		home, err := opened.Cell(id)
		must(t, err)
		must(t, home.View(t.Context(), func(tx storage.Tx) error { return onlyPostings(t, tx) }))
	}
	if _, err := s.Records().Get(t.Context(), kept.Ref); err != nil {
		t.Error(err)
	}
	if got := found(t, s, entities.Query{Text: "zephyr"}); len(got) != 1 {
		t.Errorf("what is kept is found as %q", got)
	}
	wantTrue(t, s, "by_category")
	if err := s.Cells().Vacuum(t.Context(), func(cells.Vacuumed) {}); err != nil {
		t.Errorf("again: %v", err)
	}
}
