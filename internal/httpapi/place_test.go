// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
)

// TestP10_PlacesAreAllowed sends URLs of cells that nothing allows, and checks that the server neither connects nor
// reveals what is there.
func TestP10_PlacesAreAllowed(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	connected := make(chan struct{}, 1)
	go func() {
		if conn, err := listener.Accept(); err == nil {
			conn.Close()
			connected <- struct{}{}
		}
	}()
	dir := t.TempDir()
	f := setup(t, &httpapi.Options{Places: []string{"postgres://db2", "postgres://u@db3?pooler=1", "sqlite:" + filepath.ToSlash(dir)}})
	send := func(to string) (httpapi.Problem, bool) {
		t.Helper()
		var p httpapi.Problem
		move, _ := json.Marshal(httpapi.MoveRequest{URL: to})
		a := f.do("POST", "/v1/cells/g9-9/move", string(move)) // no such cell: an allowed place is never used
		if err := json.Unmarshal(a.Body.Bytes(), &p); err != nil {
			t.Fatalf("%s: %v", a.Body, err)
		}
		grow, _ := json.Marshal(httpapi.GrowRequest{Cells: 6, URLs: []string{"sqlite:g{g}-{i}.db", to}})
		if refused := p.Code == httpapi.CodeForbidden; refused {
			if q := f.do("POST", "/v1/cells/plan", string(grow)).refused(403, httpapi.CodeForbidden); q.Pointer != "/urls/1" {
				t.Errorf("%s: pointer %q", to, q.Pointer)
			}
		}
		return p, p.Code != httpapi.CodeForbidden
	}
	for to, want := range map[string]bool{
		"sqlite:cells/x.db": true, "sqlite:" + filepath.ToSlash(dir) + "/x.db": true,
		"postgres://db2/x": true, "postgresql://db2/x": true, "postgres://u@db3/x?pooler=1": true,
		"postgres://" + listener.Addr().String() + "/x": false,
		"postgres:///x": false, "postgres:///x?host=/var/run/postgresql": false, "postgres://db2,evil.example/x": false,
		"postgres://u@db2/x": false, "postgres://db2:5433/x": false, "postgres://db3/x?pooler=1": false,
		"postgres://db2/x?sslrootcert=/etc/passwd": false, "postgres://db2/x?host=evil.example": false,
		"postgres://db2/x?sslmode=disable": false,
		"postgres://u@db3/x":               false, "postgres://u@db3/x?pooler=1&service=other": false,
		"sqlite:/etc/passwd": false, "sqlite:" + filepath.ToSlash(dir) + "x/y.db": false,
		"sqlite:" + filepath.ToSlash(dir) + "/../y.db": false, "sqlite:" + filepath.ToSlash(dir) + "?mode=ro": false,
	} {
		p, allowed := send(to)
		if allowed != want || strings.Contains(p.Detail, "passwd") && !want {
			t.Errorf("%s: %s %s", to, p.Code, p.Detail)
		}
	}
	select {
	case <-connected:
		t.Error("the server connected to a host that a request named")
	case <-time.After(10 * time.Millisecond):
	}
}

// TestP10_PlacesHaveNoLinksOut puts links below a place that lead out of it, or stay inside.
func TestP10_PlacesHaveNoLinksOut(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	for _, dir := range []string{"place/inner", "elsewhere"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"place/out": at("elsewhere"), "place/in": at("place/inner"), "place/file.db": at("elsewhere/x.db"), "place/up": "..",
		"way":        at("place"),
		"place/loop": "loop",
	} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Skip("no links here:", err)
		}
	}
	f := setup(t, &httpapi.Options{Places: []string{"sqlite:" + filepath.ToSlash(at("way"))}})
	for name, want := range map[string]bool{
		"way/x.db": true, "way/inner/x.db": true, "way/new/dir/x.db": true, "way/in/x.db": true,
		"way/out/x.db": false, "way/out/new/x.db": false, "way/file.db": false, "way/up/x.db": false,
		"way/up/elsewhere/x.db": false, "way/loop/x.db": false,
		"place/x.db": false, // the same directory, under a name that is not allowed
	} {
		body, _ := json.Marshal(httpapi.MoveRequest{URL: "sqlite:" + filepath.ToSlash(at(name))})
		a := f.do("POST", "/v1/cells/g9-9/move", string(body))
		if got := a.Code != 403; got != want {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
	}
}

func TestCheckPlace(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]bool{
		"postgres://db2": true, "postgres://u@db2:5433/": true, "postgres://db2?pooler=1": true, "sqlite:/srv/locus": true,
		"": false, "db2": false, "postgres://db2/locus": false, "postgres://u:p@db2": false, "sqlite:cells": false,
		"http://db2": false, "%": false,
	} {
		if err := httpapi.CheckPlace(at); (err == nil) != want {
			t.Errorf("%q: %v", at, err)
		}
	}
}
