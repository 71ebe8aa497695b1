// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/http.md names every route of the OpenAPI document, which a test of package httpapi compares with the server's, and
// every code of a failure, and no others.
func TestHTTP_NamesRoutesAndCodes(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile(filepath.Join(root, "internal", "httpapi", "testdata", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(golden, &api); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for path, methods := range api.Paths {
		for method := range methods {
			want[strings.ToUpper(method)+" "+path] = true
		}
	}
	if len(want) < 10 {
		t.Fatalf("only %d routes in the OpenAPI document", len(want))
	}
	text := pageAt(t, "docs/http.md").text()
	compare(t, "route", want, regexp.MustCompile("`((?:GET|POST|PUT|DELETE) /[^`]*)`").FindAllStringSubmatch(text, -1))

	source, err := os.ReadFile(filepath.Join(root, "internal", "httpapi", "errors.go"))
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\tCode\w+\s+Code = "(\w+)"`).FindAllSubmatch(source, -1) {
		codes[string(m[1])] = true
	}
	table := strings.Join(regexp.MustCompile(`(?m)^\| [1-5][0-9]{2}.*$`).FindAllString(text, -1), "\n")
	compare(t, "code", codes, regexp.MustCompile("`([a-z_0-9]+)`").FindAllStringSubmatch(table, -1))
}

// compare wants the first group of the matches to be exactly these words.
func compare(t *testing.T, what string, want map[string]bool, matches [][]string) {
	t.Helper()
	named := map[string]bool{}
	for _, m := range matches {
		named[m[1]] = true
		if !want[m[1]] {
			t.Errorf("docs/http.md names the %s %q, which is not there", what, m[1])
		}
	}
	for word := range want {
		if !named[word] {
			t.Errorf("docs/http.md does not name the %s %q", what, word)
		}
	}
}
