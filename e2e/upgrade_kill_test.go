// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/porttest"
	"github.com/locus-db/locus/storage"
)

// outdate makes an installation look as if another matcher had made it.
func outdate(t *testing.T, dir, program string) {
	t.Helper()
	cells, err := storage.Open(t.Context(), dir, &storage.Options{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	defer cells.Close()
	authority, err := cells.Cell(cells.Map().Authority())
	if err != nil {
		t.Fatal(err)
	}
	if err := authority.Exclusive(t.Context(), func(tx storage.Tx) error {
		text, err := tx.Definition(t.Context(), "rules")
		if err != nil {
			return err
		}
		return tx.PutDefinition(t.Context(), "rules", bytes.ReplaceAll(text, []byte(program), []byte("matcher 5")))
	}); err != nil {
		t.Fatal(err)
	}
}

// A server is killed at each step of an upgrade that a caller has asked for once. The servers that follow finish it:
// every entity has the id and the records that it had, and a check finds nothing.
func TestP09_KilledUpgrade(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestP09_AnUpgradeThatStopsAnywhereGoesOn does it in memory")
	dir, addr := t.TempDir(), "127.0.0.1:"+porttest.Port(t)
	s := serve(t, dir, addr, "--cells", "2")
	g := demo.New(22, 800)
	var batch []httpapi.RecordInput
	for i := range int64(800) {
		batch = append(batch, input(g, i, 0))
	}
	if answer, err := post(s.url, batch); err != nil || !accepted(t, answer) {
		t.Fatal(err)
	}
	before := partition(t, s.url)
	ids := func() (list []string) {
		entities, err := allEntities(s.url)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entities {
			list = append(list, e.ID.String())
		}
		slices.Sort(list)
		return list
	}
	had := ids()
	state := func() (u httpapi.Upgrade) {
		if err := get(s.url, "/v1/upgrade", nil, &u); err != nil {
			t.Fatal(err)
		}
		return u
	}
	program := state().Program
	s.kill()
	outdate(t, dir, program)

	s = serve(t, dir, addr)
	if u := state(); !u.Needed {
		t.Fatalf("the installation needs no upgrade: %+v", u)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/v1/upgrade", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = response.Body.Read(make([]byte, 1)) // the first line belongs to the first step
	s.kill()
	_ = response.Body.Close()

	unfinished := 0
	for range longtest.Times(2, 8) {
		s = serve(t, dir, addr)
		u := state()
		if u.Needed || u.Running == nil {
			break
		}
		unfinished++
		eventually(t, patience, "the upgrade goes on", func() (bool, string) {
			now := state()
			return now.Running == nil || *now.Running != *u.Running, u.Running.Step
		})
		s.kill()
	}
	if unfinished == 0 {
		t.Error("no kill hit the upgrade")
	}
	t.Logf("%d kills in the upgrade", unfinished)
	s.kill()
	s = serve(t, dir, addr)
	eventually(t, patience, "the servers finish the upgrade", func() (bool, string) {
		u := state()
		return !u.Needed && u.Running == nil && u.Matcher == program, u.Matcher
	})
	if diff := cmp.Diff(before, partition(t, s.url)); diff != "" {
		t.Errorf("entities have other records (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(had, ids()); diff != "" {
		t.Errorf("entities have other ids (-before +after):\n%s", diff)
	}
	if out, err := run(t, "check", "--url", s.url); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
