// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
)

// Two servers are marked while records are put, and recovered from backups of different times: one to its restore
// point, the other, which makes none, to the time that was printed. The result contains everything acknowledged up to
// the mark, without gaps, and nothing after it. A server that was recovered to another moment is reported, and the
// restore is not completed.
func TestP07_AMarkIsOneMomentOfAllServers(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	var servers [2]*pgtest.Server
	var urls []string
	for i := range servers {
		s := pgtest.Start(t, &pgtest.Options{InMemory: true, Archive: true, MaxConnections: 100})
		s.Exec(t, "postgres", "CREATE ROLE locus LOGIN CREATEDB")
		servers[i] = s
		urls = append(urls, strings.Replace(s.URL("places"), "user=postgres", "user=locus", 1))
	}
	servers[0].Exec(t, "postgres", "GRANT EXECUTE ON FUNCTION pg_create_restore_point(text) TO locus")
	env := map[string]string{"LOCUS_MAP": strings.Join(urls, ",")}
	db := openMap(t, env["LOCUS_MAP"])
	put := func(key, name, phone string) error {
		results, err := db.Records().Put(t.Context(), []records.Input{{Ref: entity.Ref{Source: "s", Key: key}, Attributes: entity.Attributes{"name": {name}, "phones": {phone}}}})
		for _, r := range results {
			err = errors.Join(err, r.Err)
		}
		return err
	}
	var former []string
	for i := range 30 {
		key := fmt.Sprint("former-", i)
		former = append(former, key)
		if err := put(key, fmt.Sprint("Zephyr Trampolines ", i%7), fmt.Sprintf("415-555-%04d", i%7)); err != nil {
			t.Fatal(err)
		}
	}
	before := entitiesOf(t, db, former)
	recover0 := servers[0].Base(t)
	if err := put("between", "Quill Dental", "415-555-9999"); err != nil {
		t.Fatal(err)
	}
	recover1 := servers[1].Base(t)

	// Each writer puts one record after the other.
	type writer struct{ begun, done atomic.Int64 }
	var writers [3]writer
	stop := make(chan struct{})
	var group sync.WaitGroup
	progress := make(chan struct{}, 1)
	name := func(w int, n int64) string { return fmt.Sprintf("w%d-%d", w, n) }
	for w := range writers {
		group.Go(func() {
			for n := int64(0); ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				writers[w].begun.Store(n + 1)
				if err := put(name(w, n), fmt.Sprintf("Unique Business %d of %d", n, w), fmt.Sprintf("212-%03d-%04d", w, n)); err != nil {
					t.Error(err)
					return
				}
				writers[w].done.Store(n + 1)
				select {
				case progress <- struct{}{}:
				default:
				}
			}
		})
	}
	further := func(n int64) (done [len(writers)]int64) {
		for w := range writers {
			from := writers[w].done.Load()
			for writers[w].done.Load() < from+n && !t.Failed() {
				<-progress
			}
		}
		for w := range writers {
			done[w] = writers[w].done.Load()
		}
		return done
	}
	acknowledged := further(5)
	var mark httpapi.BackupMark
	if err := json.Unmarshal([]byte(must(t, env, "backup", "mark", "monday", "--json").stdout), &mark); err != nil || len(mark.Points) != 2 {
		t.Fatalf("%+v, %v", mark, err)
	}
	var begun [len(writers)]int64
	for w := range writers {
		begun[w] = writers[w].begun.Load()
	}
	further(5)
	close(stop)
	group.Wait()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	named, timed := mark.Points[0], mark.Points[1]
	if named.Name == "" {
		named, timed = timed, named
	}
	if named.Name != "monday" || timed.Name != "" || !strings.Contains(timed.Refused, "pg_create_restore_point") {
		t.Fatalf("%+v", mark.Points)
	}

	for _, s := range servers {
		s.Stop(t)
	}
	recover0(map[string]string{"recovery_target_name": named.Name})
	recover1(nil) // to the end of the log
	for mark, says := range map[string]string{"monday": "beyond it", "tuesday": "no mark tuesday"} {
		if got := run(t.Context(), env, "restore", "--mark", mark); got.code != 5 || !strings.Contains(got.err, says) || (mark == "monday") == strings.Contains(got.err, "cell g0-0 ") || !strings.Contains(got.err, "cell g0-1 ") {
			t.Errorf("%s: exit code %d\n%s", mark, got.code, got.err)
		}
	}
	servers[1].Stop(t)
	recover1(map[string]string{"recovery_target_time": timed.At})
	must(t, env, "restore", "--mark", "monday")

	db = openMap(t, env["LOCUS_MAP"])
	defer db.Close()
	for w := range writers {
		n := int64(0)
		there := func(n int64) bool {
			_, err := db.Records().Get(t.Context(), entity.Ref{Source: "s", Key: name(w, n)})
			if err != nil && !errors.Is(err, locus.ErrNotFound) {
				t.Fatal(err)
			}
			return err == nil
		}
		for there(n) {
			n++
		}
		if n < acknowledged[w] || n > begun[w] {
			t.Errorf("writer %d: %d records, want %d, which were acknowledged before the mark, to %d, which were begun before it was made", w, n, acknowledged[w], begun[w])
		}
		for later := n; later < writers[w].done.Load(); later++ {
			if there(later) {
				t.Errorf("writer %d: record %d is there, and %d before it is not", w, later, n)
			}
		}
	}
	if after := entitiesOf(t, db, former); !maps.Equal(before, after) {
		t.Errorf("entities at the mark were\n%v\nand are\n%v", before, after)
	}
	must(t, env, "check", "--repair") // writes that the moment has cut in two are finished
	must(t, env, "check")
}

func openMap(t *testing.T, at string) *locus.DB {
	t.Helper()
	db, err := locus.Open(t.Context(), at, &locus.Options{Storage: storage.Options{Cells: 4}})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// entitiesOf returns the entity of each key.
func entitiesOf(t *testing.T, db *locus.DB, keys []string) map[string]string {
	t.Helper()
	of := map[string]string{}
	for _, key := range keys {
		r, err := db.Records().Get(t.Context(), entity.Ref{Source: "s", Key: key})
		if err != nil {
			t.Fatal(err)
		}
		of[key] = r.Entity.String()
	}
	return of
}
