// SPDX-License-Identifier: Apache-2.0

//go:build unix

package library_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
)

// A hot standby is searched and matched against, and refused for anything else. A reader can wait until it has a write.
func TestStandby_IsRead(t *testing.T) {
	t.Parallel()
	primary := pgtest.Start(t, nil)
	name := filepath.Join(t.TempDir(), "s") // leads to the current server, because the map has its URL
	must(t, os.Symlink(socket(t, primary.URL("locus")), name))
	where := "postgres:///locus?host=" + name + "&user=postgres"
	s := open(t, where, 2)
	put(t, s, record("a", "1", "Zephyr Trampolines", "415-555-2300", ""),
		record("b", "2", "Zephyr Trampolines", "415-555-2300", ""))
	tail, err := s.Changes().Tail(t.Context(), nil)
	must(t, err)
	must(t, s.Close())
	standby := primary.Standby(t)
	standby.CatchUp(t, primary)
	must(t, os.Remove(name))
	must(t, os.Symlink(socket(t, standby.URL("locus")), name))

	if s, err := locus.Open(t.Context(), where, &locus.Options{Passive: true}); !errors.Is(err, locus.ErrUnavailable) {
		t.Errorf("a standby without asking for one: %v, %v", s, err)
	}
	s, err = locus.Open(t.Context(), where,
		&locus.Options{Passive: true, Storage: storage.Options{MustExist: true, Standby: true}})
	must(t, err)
	defer s.Close()
	if page, _, err := s.Entities().Search(t.Context(), entities.Query{Limit: 10}); err != nil || len(page) != 1 || len(page[0].Members) != 2 {
		t.Errorf("search: %v, %v", page, err)
	}
	must(t, s.Changes().Await(t.Context(), tail))
	found, err := s.Entities().Match(t.Context(),
		[]entities.Probe{{Attributes: entity.Attributes{"phones": {"415 555 2300"}}}}, &entities.MatchOptions{Put: true})
	if err != nil || found[0].Err != nil || len(found[0].Candidates) != 1 {
		t.Errorf("match: %+v, %v", found, err)
	}
	if status, err := s.Cells().Status(t.Context()); err != nil || !status.Ready || len(status.Down) > 0 {
		t.Errorf("status: %+v, %v", status, err)
	}
	if _, err := s.Records().Put(t.Context(), []records.Input{record("c", "3", "Blue Door", "", "")}); !errors.Is(err, locus.ErrReadOnly) {
		t.Errorf("put: %v, want ErrReadOnly", err)
	}
	for id := range tail {
		tail[id]++
	}
	if err := s.Changes().Await(t.Context(), tail); !errors.Is(err, changes.ErrBehind) || !errors.Is(err, locus.ErrUnavailable) {
		t.Errorf("a write that the standby lacks: %v, want ErrBehind", fmt.Sprint(err))
	}
}
