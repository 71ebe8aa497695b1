// SPDX-License-Identifier: Apache-2.0

package storage_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// installation is one on disk, with a function that damages rows directly while it is closed.
type installation struct {
	url    string
	damage func(t *testing.T, id cell.ID, statement string)
}

func installations(t *testing.T) map[string]installation {
	dir := t.TempDir()
	server := pgtest.Start(t, nil)
	return map[string]installation{
		"SQLite": {dir, func(t *testing.T, id cell.ID, statement string) {
			db, err := sql.Open("sqlite", filepath.Join(dir, "cells", id.String()+".db"))
			if err == nil {
				_, err = db.ExecContext(t.Context(), strings.NewReplacer("{text}", "?1", "{blob}", "x'0109'").Replace(statement), `{"name":7}`)
				err = errors.Join(err, db.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}},
		"PostgreSQL": {server.URL("locus"), func(t *testing.T, id cell.ID, statement string) {
			name := fmt.Sprintf("locus_g%d_%d", id.Gen, id.Index)
			if id == (cell.ID{}) {
				name = "locus"
			}
			db, err := pgx.Connect(t.Context(), server.URL(name))
			if err == nil {
				_, err = db.Exec(t.Context(), strings.NewReplacer("{text}", `'{"name":7}'`, "{blob}", `'\x0109'`).Replace(statement))
				err = errors.Join(err, db.Close(t.Context()))
			}
			if err != nil {
				t.Fatal(err)
			}
		}},
	}
}

// A row with invalid contents yields an error that names it, each time it is read; all other rows can still be
// read, written and resolved.
func TestP09_ADamagedRowIsNamed(t *testing.T) {
	t.Parallel()
	for name, at := range installations(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svc := serve(t, at.url)
			written := map[string]records.Result{}
			for _, key := range []string{"record", "entity", "whole"} {
				written[key] = put(t, svc, "a", key, key+" house", "415-555-230"+fmt.Sprint(len(written)))
			}
			if err := svc.Close(); err != nil {
				t.Fatal(err)
			}
			home := func(r records.Result) cell.ID {
				id, err := svc.Cells().Map().Puid(int64(r.PUID))
				if err != nil {
					t.Fatal(err)
				}
				return id
			}
			at.damage(t, home(written["record"]), fmt.Sprintf("UPDATE record SET body = {text} WHERE puid = %d", int64(written["record"].PUID)))
			at.damage(t, home(written["entity"]), fmt.Sprintf("UPDATE entity SET body = {blob} WHERE anchor = %d", int64(written["entity"].PUID)))

			svc = serve(t, at.url)
			defer func() {
				if err := svc.Close(); err != nil {
					t.Error(err)
				}
			}()
			for range 2 {
				_, err := svc.Records().Get(t.Context(), entity.Ref{Source: "a", Key: "record"})
				named(t, err, home(written["record"]), "record", written["record"].PUID)
				_, err = svc.Entities().Get(t.Context(), written["entity"].Entity)
				named(t, err, home(written["entity"]), "entity", written["entity"].PUID)
				results, err := svc.Records().Put(t.Context(), []records.Input{
					{Ref: entity.Ref{Source: "a", Key: "record"}, Attributes: entity.Attributes{"name": {"record house"}}},
					{Ref: entity.Ref{Source: "b", Key: "beside"}, Attributes: entity.Attributes{"name": {"beside house"}}},
				})
				if err != nil || results[1].Err != nil || results[1].Pending {
					t.Fatalf("a record beside a damaged one: %+v, %v", results, err)
				}
				named(t, results[0].Err, home(written["record"]), "record", written["record"].PUID)
			}
			if r, err := svc.Records().Get(t.Context(), entity.Ref{Source: "a", Key: "whole"}); err != nil || r.Entity != written["whole"].Entity {
				t.Errorf("a whole record: %+v, %v", r, err)
			}
			listsTheOthers(t, svc, home(written["record"]), written["record"].PUID)
			if e, err := svc.Entities().Get(t.Context(), written["whole"].Entity); err != nil || len(e.Members) != 1 {
				t.Errorf("a whole entity: %+v, %v", e, err)
			}
			// A record that must be compared with the damaged one waits; all others are resolved at once.
			if r := put(t, svc, "b", "meets", "record house", "415-555-2300"); !r.Pending {
				t.Errorf("a record that has to be compared with a damaged one: %+v", r)
			}
			if r := put(t, svc, "b", "joins", "whole house", "415-555-2302"); r.Pending || r.Entity != written["whole"].Entity {
				t.Errorf("a record that has not: %+v, want entity %v", r, written["whole"].Entity)
			}
		})
	}
}

// A record whose anchor cannot be read is listed with the id of its stored entity.
func TestP09_AMemberOfADamagedAnchorIsListed(t *testing.T) {
	t.Parallel()
	at := installations(t)["SQLite"]
	svc := serve(t, at.url)
	for _, source := range []string{"a", "b"} {
		put(t, svc, source, "joes", "Joes Pizza", "415-555-2300")
	}
	e, err := svc.Entities().Find(t.Context(), "b:joes")
	if err != nil || len(e.Members) != 2 {
		t.Fatalf("%+v, %v", e, err)
	}
	anchor, other := e.Members[0].PUID, e.Members[1].PUID
	home, err := svc.Cells().Map().Puid(int64(anchor))
	if err := errors.Join(err, svc.Close()); err != nil {
		t.Fatal(err)
	}
	at.damage(t, home, fmt.Sprintf("UPDATE record SET body = {text} WHERE puid = %d", int64(anchor)))

	svc = serve(t, at.url)
	defer svc.Close()
	damaged := 0
	list, _, err := svc.Records().List(t.Context(), records.Query{Damaged: func(*cell.DamagedError) { damaged++ }})
	if err != nil || len(list) != 1 || list[0].PUID != other || list[0].Entity != e.ID || damaged != 1 {
		t.Errorf("%d damaged rows, and the list has %+v, %v; want record %v of entity %v", damaged, list, err, other, e.ID)
	}
}

// listsTheOthers reads all records in pages: each row except the damaged one occurs once, and the error names the
// damaged one.
func listsTheOthers(t *testing.T, svc *locus.DB, home cell.ID, damaged entity.PUID) {
	t.Helper()
	if _, _, err := svc.Records().List(t.Context(), records.Query{}); !errors.Is(err, cell.ErrDamaged) {
		t.Errorf("a list of all without a place for damaged rows: %v", err)
	}
	for _, limit := range []int{1, 2, 100} {
		var keys []string
		named := map[cell.DamagedError]bool{}
		for q := (records.Query{Limit: limit, Damaged: func(d *cell.DamagedError) { named[cell.DamagedError{Cell: d.Cell, Table: d.Table, Key: d.Key}] = true }}); ; {
			page, next, err := svc.Records().List(t.Context(), q)
			if err != nil {
				t.Fatalf("pages of %d: %v", limit, err)
			}
			for _, r := range page {
				keys = append(keys, r.Key)
			}
			if q.After = next; next == 0 {
				break
			}
		}
		slices.Sort(keys)
		if want := []string{"beside", "entity", "whole"}; !slices.Equal(keys, want) {
			t.Errorf("pages of %d list %v, want %v", limit, keys, want)
		}
		if len(named) != 1 || !named[cell.DamagedError{Cell: home.String(), Table: "record", Key: damaged.String()}] {
			t.Errorf("pages of %d name %v as damaged", limit, named)
		}
	}
}

func serve(t *testing.T, url string) *locus.DB {
	t.Helper()
	cells, err := storage.Open(t.Context(), url, &storage.Options{Cells: 4})
	if err != nil {
		t.Fatal(err)
	}
	svc, err := locus.OpenCells(context.WithoutCancel(t.Context()), cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	return svc
}

func put(t *testing.T, svc *locus.DB, source, key, name, phone string) records.Result {
	t.Helper()
	results, err := svc.Records().Put(t.Context(), []records.Input{{Ref: entity.Ref{Source: source, Key: key}, Attributes: entity.Attributes{"name": {name}, "phones": {phone}}}})
	if err == nil {
		err = results[0].Err
	}
	if err != nil || results[0].Entity == (locality.ID{}) {
		t.Fatalf("put %s: %+v, %v", key, results, err)
	}
	return results[0]
}

func named(t *testing.T, err error, id cell.ID, table string, key entity.PUID) {
	t.Helper()
	damaged, ok := errors.AsType[*cell.DamagedError](err)
	if !ok || !errors.Is(err, cell.ErrDamaged) || damaged.Cell != id.String() || damaged.Table != table || damaged.Key != key.String() || damaged.Err == nil {
		t.Errorf("%v, want one that names row %v of table %s in cell %v", err, key, table, id)
	}
	if errors.Is(err, cell.ErrUnavailable) {
		t.Errorf("%v: trying again does not help", err)
	}
}
