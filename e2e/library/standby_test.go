// SPDX-License-Identifier: Apache-2.0

//go:build unix

package library_test

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// A lagging standby is promoted in place of a cell's server. It lacks acknowledged records that records of another cell
// were joined with. The service adopts it, finds the data derived from the lost records and repairs it; putting the
// records again works as if nothing had been lost.
func TestP09_APromotedStandbyLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	authority, primary := pgtest.Start(t, nil), pgtest.Start(t, nil)
	name := filepath.Join(t.TempDir(), "s") // symlink to the current server of the cell
	leadsTo := func(s *pgtest.Server) (url string) {
		t.Helper()
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		must(t, os.Symlink(socket(t, s.URL("locus")), name))
		return "postgres:///locus?host=" + name + "&user=postgres"
	}
	where := authority.URL("locus") + "," + leadsTo(primary)
	open := func(options *locus.Options) *locus.DB {
		t.Helper()
		cells, err := storage.Open(t.Context(), where, &storage.Options{Cells: 2})
		must(t, err)
		s, err := locus.OpenCells(t.Context(), cells, options)
		must(t, err)
		return s
	}
	twins := func(s *locus.DB, source string) {
		t.Helper()
		var puts []records.Input
		for i := range 24 {
			p := place(fmt.Sprint(i), fmt.Sprintf("Zephyr Trampolines %d", i), "sport", "Springfield")
			p.Ref.Source = source
			p.Attributes["phones"] = []string{fmt.Sprintf("415-555-23%02d", i)}
			puts = append(puts, p)
		}
		put(t, s, puts...)
	}
	s := open(nil)
	twins(s, "a")
	standby := primary.Standby(t)
	standby.CatchUp(t, primary)
	standby.Stop(t)
	twins(s, "b") // acknowledged, but not on the standby
	want := clusters(t, s)
	must(t, s.Close())

	primary.Kill(t)
	standby.Restart(t)
	standby.Promote(t)
	leadsTo(standby)

	s = open(&locus.Options{Passive: true})
	if found := differences(t, s); len(found) == 0 {
		t.Fatal("nothing of what was lost is in the other cell: the test shows nothing")
	}
	must(t, s.Close())
	s = open(nil)
	defer s.Close()
	until(t, "the cell to be settled", func() (bool, string) {
		status, err := s.Cells().Status(t.Context())
		return err == nil && status.Redo == 0, fmt.Sprint(err)
	})
	if found := differences(t, s); len(found) > 0 {
		t.Errorf("%d differences, such as %+v", len(found), found[0])
	}
	twins(s, "b")
	if found := differences(t, s); len(found) > 0 {
		t.Errorf("what was lost is put again: %d differences, such as %+v", len(found), found[0])
	}
	if got := clusters(t, s); got != want {
		t.Errorf("what was lost is put again: the entities are\n%s\nand were\n%s", got, want)
	}
}

// socket returns the directory of a server's socket.
func socket(t *testing.T, of string) string {
	t.Helper()
	u, err := url.Parse(of)
	must(t, err)
	return u.Query().Get("host")
}

// clusters returns the records of each entity, in order.
func clusters(t *testing.T, s *locus.DB) string {
	t.Helper()
	var all []string
	entities, _, err := s.Entities().Search(t.Context(), entities.Query{Limit: 1000})
	must(t, err)
	for _, e := range entities {
		var refs []string
		for _, m := range e.Members {
			refs = append(refs, m.Ref.String())
		}
		slices.Sort(refs)
		all = append(all, strings.Join(refs, " "))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}
