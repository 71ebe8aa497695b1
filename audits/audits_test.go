// SPDX-License-Identifier: Apache-2.0

package audits_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/audits"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/sqlite"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string, opts *audits.Options) *locus.DB {
	t.Helper()
	db, err := locus.Open(t.Context(), dir, &locus.Options{Storage: storage.Options{Cells: 1, Scratch: true}, Audit: opts})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

// entries returns the log, the oldest entry first, after a check that it verifies.
func entries(t *testing.T, db *locus.DB) (all []audit.Entry) {
	t.Helper()
	report, err := db.Audit().Verify(t.Context(), nil)
	must(t, err)
	if len(report.Problems) > 0 {
		t.Errorf("problems: %+v", report.Problems)
	}
	must(t, db.Audit().Each(t.Context(), func(r audit.Row) error {
		e, err := r.Entry()
		all = append(all, e)
		return err
	}))
	return all
}

// A chain begins with a start; each action has two entries; the next process begins a chain that names the newest
// entry.
func TestHandle_WritesAChainForEachProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var copied bytes.Buffer
	for _, process := range []string{"one", "two"} {
		db := open(t, dir, &audits.Options{Copy: &copied})
		a, err := db.Audit().Begin(t.Context(), audit.Entry{Class: audit.Admin, Principal: process, Action: "grow"})
		must(t, err)
		a.End("ok", "cells=8")
		unstored, err := db.Audit().Begin(t.Context(), audit.Entry{Class: audit.Read, Principal: process, Action: "look"})
		if err != nil || unstored != nil {
			t.Errorf("an action of a class that is not stored: %v, %v", unstored, err)
		}
		unstored.End("ok")
		must(t, db.Close())
	}
	db := open(t, dir, nil)
	var got []string
	for _, e := range entries(t, db) {
		line := fmt.Sprint(e.Phase, " ", e.Principal, " ", e.Outcome, " ", e.Seq, " ", e.Newest != nil, " ", e.Of != nil)
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := "start 1 false false, begun one 2 false false, ended one ok 3 false true, start 1 true false, begun two 2 false false, ended two ok 3 false true"
	if strings.Join(got, ", ") != want {
		t.Errorf("the log is\n%s\nwant\n%s", strings.Join(got, ", "), want)
	}
	report, err := audit.Verify(nil, func(see func(audit.Row)) error {
		for line := range strings.Lines(copied.String()) {
			row, err := audit.ParseRow(strings.TrimSuffix(line, "\n"))
			if err != nil {
				return err
			}
			see(row)
		}
		return nil
	})
	if err != nil || report.Entries != 6 || len(report.Problems) > 0 {
		t.Errorf("the copy: %+v, %v", report, err)
	}
}

// Many concurrent callers share commits, and each entry "ended" names its own action.
func TestHandle_ManyAtOnce(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir(), &audits.Options{Also: []audit.Class{audit.Write}})
	const n = 100
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			a, err := db.Audit().Begin(t.Context(), audit.Entry{Class: audit.Write, Action: fmt.Sprint(i)})
			if err != nil {
				t.Error(err)
			}
			a.End("ok", fmt.Sprint("of=", i))
		})
	}
	all.Wait()
	db.Audit().Close()
	begun := map[audit.Head]string{}
	ended := 0
	for _, e := range entries(t, db) {
		switch e.Phase {
		case audit.Begun:
			begun[audit.Head{Chain: e.Chain, Seq: e.Seq}] = e.Action
		case audit.Ended:
			if was := begun[audit.Head{Chain: e.Of.Chain, Seq: e.Of.Seq}]; was != e.Action || e.Targets[0] != "of="+was {
				t.Errorf("action %s ends as %+v", was, e)
			}
			ended++
		}
	}
	if len(begun) != n || ended != n {
		t.Errorf("%d actions begun, %d ended", len(begun), ended)
	}
	if _, err := db.Audit().Begin(t.Context(), audit.Entry{Class: audit.Write}); !errors.Is(err, locus.ErrUnavailable) {
		t.Errorf("after Close: %v", err)
	}
}

// An action whose entry "begun" cannot be written does not begin. One that had begun gets its entry "ended" in another
// chain once the log can be written again.
func TestP10_AuditFails(t *testing.T) {
	t.Parallel()
	longtest.Slow(t) // the writer has five seconds
	dir := t.TempDir()
	db := open(t, dir, nil)
	before, err := db.Audit().Begin(t.Context(), audit.Entry{Class: audit.Admin, Action: "before"})
	must(t, err)

	files, err := filepath.Glob(filepath.Join(dir, "cells", "*.db"))
	must(t, err)
	other, err := sql.Open("sqlite", "file:"+files[0]+"?_pragma=busy_timeout(30000)")
	must(t, err)
	defer other.Close()
	other.SetMaxOpenConns(1)
	_, err = other.ExecContext(t.Context(), "BEGIN EXCLUSIVE")
	must(t, err)
	if _, err := db.Audit().Begin(t.Context(), audit.Entry{Class: audit.Admin, Action: "during"}); !errors.Is(err, locus.ErrUnavailable) {
		t.Errorf("with the database locked: %v", err)
	}
	if db.Audit().Failures() == 0 {
		t.Error("the failure is not counted")
	}
	before.End("ok")
	_, err = other.ExecContext(context.Background(), "ROLLBACK")
	must(t, err)

	for err := errors.New("not yet"); err != nil; { // the breaker of the cell may need a moment
		var after *audits.Action
		after, err = db.Audit().Begin(t.Context(), audit.Entry{Class: audit.Admin, Action: "after"})
		if err != nil && !errors.Is(err, locus.ErrUnavailable) {
			t.Fatal(err)
		}
		after.End("ok")
	}
	db.Audit().Close()
	ends := map[string]int{}
	for _, e := range entries(t, db) {
		if e.Phase == audit.Ended {
			ends[e.Action]++
		}
	}
	if ends["before"] != 1 || ends["during"] != 0 || ends["after"] == 0 {
		t.Errorf("ended: %v", ends)
	}
}

// The same key has the same hash in every process of an installation, and another one elsewhere.
func TestHandle_KeysAreHashedWithASecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target := func(dir string) string {
		db := open(t, dir, nil)
		defer db.Close()
		text, err := db.Audit().RecordTarget(t.Context(), "crm", "ann@example.com")
		must(t, err)
		return text
	}
	one, again, elsewhere := target(dir), target(dir), target(t.TempDir())
	if one != again || one == elsewhere || strings.Contains(one, "ann") || !strings.HasPrefix(one, "record=crm/") {
		t.Errorf("%s, %s, %s", one, again, elsewhere)
	}
}

func TestHandle_SumsRefusals(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir(), nil)
	for range 3 {
		db.Audit().Refused("unauthenticated")
	}
	db.Audit().Refused("forbidden")
	db.Audit().Close()
	sums := map[string]bool{}
	for _, e := range entries(t, db) {
		if e.Phase == audit.Sum {
			for _, text := range e.Targets {
				sums[text] = true
			}
		}
	}
	if !sums["unauthenticated=1"] || !sums["unauthenticated=2"] || !sums["forbidden=1"] {
		t.Errorf("sums %v", sums) // the first refusal is stored at once, the others with the next minute or the end
	}
}

// Entries older than audit.Keep are removed by a later process, and the log verifies without them.
func TestHandle_RemovesWhatIsOld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	then := time.Now().Add(-audit.Keep - 24*time.Hour)
	for _, now := range []func() time.Time{func() time.Time { return then }, time.Now} {
		db, err := locus.Open(t.Context(), dir, &locus.Options{Storage: storage.Options{Cells: 1, Scratch: true}, Now: now})
		must(t, err)
		a, err := db.Audit().Begin(t.Context(), audit.Entry{Class: audit.Admin, Action: "grow"})
		must(t, err)
		a.End("ok")
		must(t, db.Close())
	}
	removed := false
	for _, e := range entries(t, open(t, dir, nil)) {
		removed = removed || e.Action == "trim" && len(e.Trimmed) == 1
		if time.Since(e.At) > audit.Keep {
			t.Errorf("there is still %+v", e)
		}
	}
	if !removed {
		t.Error("no entry says that others were removed")
	}
}

func TestHandle_ReadOnlyStoresNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, open(t, dir, nil).Close())
	db, err := locus.Open(t.Context(), dir, &locus.Options{ReadOnly: true})
	must(t, err)
	defer db.Close()
	a, err := db.Audit().Begin(t.Context(), audit.Entry{Class: audit.Admin})
	if err != nil || a != nil {
		t.Errorf("%v, %v", a, err)
	}
	db.Audit().Note(audit.Entry{Class: audit.Admin}).End("ok")
	db.Audit().Refused("forbidden")
	if all := entries(t, db); len(all) > 0 {
		t.Errorf("%+v", all)
	}
}
