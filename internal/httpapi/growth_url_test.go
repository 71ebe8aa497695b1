// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/httpapi"
)

// notPlaces returns URLs that are invalid for a cell, with the expected text of the refusal.
func notPlaces(t *testing.T) map[string]string {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.csv")
	if err := os.WriteFile(text, []byte(strings.Repeat("id,name\n1,Joe\n", 300)), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"":                                     "no scheme",
		"x":                                    "no scheme",
		"/srv/g0-1.db":                         "no scheme",
		"%":                                    "no scheme",
		"SQLITE:g0-1.db":                       `"SQLITE" is no kind`,
		"file:/srv/g0-1.db":                    `"file" is no kind`,
		"mysql://db1/locus":                    `"mysql" is no kind`,
		"mongodb://db1/locus":                  `"mongodb" is no kind`,
		"http://db1/locus":                     `"http" is no kind`,
		"sqlite:":                              "names no file",
		"sqlite:../g0-1.db":                    "leave .. out",
		"sqlite:cells/../../g0-1.db":           "leave .. out",
		"sqlite:..":                            "leave .. out",
		"sqlite:.":                             "is a directory",
		"sqlite:cells":                         "is a directory",
		"sqlite:/":                             "is a directory",
		"sqlite:" + dir:                        "is a directory",
		"sqlite:/dev/null":                     "no regular file",
		"sqlite:/dev/null/g0-1.db":             "not a directory",
		"sqlite:" + text:                       "is no database",
		"sqlite:" + text + "/g0-1.db":          "not a directory",
		"sqlite://host/g0-1.db":                "has no host",
		"sqlite:///srv/g0-1.db":                "has no host",
		"sqlite:g0-1.db?mode=ro":               "without parameters",
		"sqlite:%zz.db":                        "without parameters",
		"sqlite:moved-{x}.db":                  "brace",
		"sqlite:a\x00b.db":                     "U+0000",
		"sqlite:a\nb.db":                       "U+000A",
		"sqlite:\u202edb.g0-1":                 "U+202E",
		"sqlite:" + strings.Repeat("x", 300):   "file name too long",
		"sqlite:" + strings.Repeat("x/", 2000): "at most 2048",
		"postgres://":                          "names no database",
		"postgres://db1":                       "names no database",
		"postgres://db1/a/b":                   "names no database",
		"postgres://db1/a,postgres://db2/a":    "names no database",
		"postgres:a":                           "does not begin with postgres://",
		"postgres:/a":                          "does not begin with postgres://",
		"postgres://db 1/a":                    "host or its port",
		"postgres://db1:x/a":                   "host or its port",
		"postgres://[::1/a":                    "host or its port",
		"postgres://::1/a":                     "invalid port",
		"postgres://db1:0/a":                   "invalid port",
		"postgres://db1:99999/a":               "invalid port",
		"postgres://db1/a%zz":                  "two hex digits",
		"postgres://db1/a%00":                  "does not print",
		"postgres://db1/a#b":                   "has a #",
		"postgres://db1/" + strings.Repeat("a", 64): "cuts it after 63",
		"postgres://db1/a?%zz":                      "cannot be read",
		"postgres://db1/a?sslmode=nope":             "sslmode is invalid",
		"postgres://db1/a?sslmode=disable":          "verify-full",
		"postgres://db1/a?pooler=2":                 "pooler=2",
		"postgres://db1/a?connect_timeout=x":        "connect_timeout",
		"postgres://db1/a?sslrootcert=/no/ca.pem":   "/no/ca.pem",
		"postgres://u:canary@db1/a":                 "PGPASSWORD",
		"postgres://u:@db1/a":                       "PGPASSWORD",
		"postgres://db1/a?password=canary":          "PGPASSWORD",
	}
}

// An invalid URL for a cell is rejected as a client error that names the wrong part, neither as an internal error nor
// as an unavailable cell.
func TestMove_URLs(t *testing.T) {
	t.Parallel()
	f := setup(t, &httpapi.Options{Local: true}) // the operator may name any place
	body := func(value any) string {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	// The map without its epoch, which rises every half minute when its end moves.
	places := func() (all []any) {
		list := decode[httpapi.CellList](f.do(http.MethodGet, "/v1/cells", ""))
		all = append(all, list.Generations)
		for _, c := range list.Cells {
			all = append(all, c.Cell, c.URL)
		}
		return all
	}
	before := places()
	for url, says := range notPlaces(t) {
		p := f.do(http.MethodPost, "/v1/cells/g0-1/move", body(httpapi.MoveRequest{URL: url})).refused(422,
			httpapi.CodeInvalid)
		if !strings.Contains(p.Detail, says) || strings.Contains(p.Detail, "canary") || strings.Contains(p.Detail, "cell: ") {
			t.Errorf("%.80q: %s, want %q", url, p.Detail, says)
		}
		if p.Pointer != "/url" && !strings.HasPrefix(p.Detail, "move cell g0-1: ") {
			t.Errorf("%.80q: pointer %q", url, p.Pointer)
		}
		if strings.Contains(says, "is no database") || strings.Contains(says, "too long") {
			continue // the content of a place shows when it is made
		}
		growth := body(httpapi.GrowRequest{Cells: 6, URLs: []string{url, "sqlite:g{g}-{i}.db"}})
		for _, route := range []string{"/v1/cells/plan", "/v1/cells/grow"} {
			f.do(http.MethodPost, route, growth).refused(422, httpapi.CodeInvalid)
		}
	}
	if diff := cmp.Diff(before, places()); diff != "" {
		t.Errorf("the map has changed (-before +after):\n%s", diff)
	}
}
