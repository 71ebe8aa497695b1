// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/httpapi"
)

var rewrite = flag.Bool("rewrite", false, "write the golden file of the OpenAPI document anew")

// document is the part of the OpenAPI document that the tests read.
type document struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		OperationID string
		Summary     string
		Parameters  []struct {
			Name, In string
			Required bool
		}
		Responses map[string]struct {
			Content map[string]struct{ Schema map[string]any }
		}
	}
	Components struct{ Schemas map[string]map[string]any }
}

func openAPI(f *fixture) (doc document, raw []byte) {
	f.Helper()
	a := f.get("/openapi.json")
	if a.Code != http.StatusOK || a.Header().Get("Content-Type") != "application/json" {
		f.Fatalf("%d %v", a.Code, a.Header())
	}
	if err := json.Unmarshal(a.Body.Bytes(), &doc); err != nil {
		f.Fatal(err)
	}
	return doc, a.Body.Bytes()
}

// TestOpenAPI_IsTheRouter sends every method to every path of the document: documented ones are served, all others are
// refused.
func TestOpenAPI_IsTheRouter(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	doc, _ := openAPI(f)
	if doc.OpenAPI != "3.1.0" || len(doc.Paths) < 15 {
		t.Fatalf("openapi %q, %d paths", doc.OpenAPI, len(doc.Paths))
	}
	param := regexp.MustCompile(`\{\w+\}`)
	// taken reports whether some documented path matches a target: /v1/cells/plan also matches /v1/cells/{id}.
	taken := func(method, target string) bool {
		for path, operations := range doc.Paths {
			_, has := operations[strings.ToLower(method)]
			if has && regexp.MustCompile("^"+param.ReplaceAllString(path, `[^/]+`)+"$").MatchString(target) {
				return true
			}
		}
		return false
	}
	ids := map[string]bool{}
	for path, operations := range doc.Paths {
		target := param.ReplaceAllString(path, "x")
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			op, documented := operations[strings.ToLower(method)]
			a := f.do(method, target, "")
			if served, want := a.Code != http.StatusMethodNotAllowed, taken(method, target); served != want {
				t.Errorf("%s %s: documented %v, answered %d", method, path, want, a.Code)
			}
			if !documented {
				continue
			}
			if ids[op.OperationID] || op.OperationID == "" || op.Summary == "" {
				t.Errorf("%s %s: operation %q, summary %q", method, path, op.OperationID, op.Summary)
			}
			ids[op.OperationID] = true
			for _, p := range op.Parameters {
				if p.In == "path" != strings.Contains(path, "{"+p.Name+"}") {
					t.Errorf("%s %s: parameter %s in %s", method, path, p.Name, p.In)
				}
				if p.In == "query" {
					a := f.do(method, target+"?"+p.Name+"=x", "")
					var problem httpapi.Problem
					if json.Unmarshal(a.Body.Bytes(), &problem) == nil && problem.Code == httpapi.CodeUnknownField {
						t.Errorf("%s %s does not know its parameter %s", method, path, p.Name)
					}
				}
			}
			if !slices.ContainsFunc(slices.Collect(maps.Keys(op.Responses)), func(status string) bool { return strings.HasPrefix(status, "2") }) {
				t.Errorf("%s %s: no answer that is not a failure", method, path)
			}
		}
	}
	for _, path := range []string{
		"/v1/records", "/v1/records/{source}/{key}", "/v1/records/delete", "/v1/sources", "/v1/sources/{source}",
		"/v1/entities", "/v1/entities/{id}", "/v1/entities/{id}/why", "/v1/why-not", "/v1/find",
		"/v1/route", "/v1/status", "/v1/cells", "/v1/cells/{id}", "/v1/cells/plan", "/v1/cells/grow", "/v1/cells/compact",
		"/v1/cells/{id}/move",
		"/v1/map", "/v1/map/history", "/v1/schema", "/v1/rollups", "/v1/rollups/{name}", "/v1/rollups/{name}/rebuild",
		"/v1/rollups/{name}/verify", "/v1/rollups/{name}/groups", "/v1/rollups/{name}/groups/{group}",
		"/v1/rollups/{name}/explain/{group}",
		"/v1/sinks/{name}/dead/drop", "/v1/changes", "/v1/quality", "/v1/quality/profile", "/v1/backup", "/v1/backup/mark",
		"/v1/dump", "/v1/match", "/v1/hits", "/v1/series", "/v1/series/query", "/v1/series/explain", "/v1/metrics", "/v1/top",
		"/livez", "/readyz", "/metrics", "/version", "/openapi.json",
		"/v1/sinks", "/v1/sinks/{name}", "/v1/sinks/{name}/pause", "/v1/sinks/{name}/resume", "/v1/sinks/{name}/adopt",
		"/v1/sinks/{name}/verify", "/v1/sinks/{name}/dead", "/v1/sinks/{name}/dead/retry",
	} {
		if doc.Paths[path] == nil {
			t.Errorf("%s is not documented", path)
		}
	}
}

// TestOpenAPI_IsTidy checks the properties that generated clients rely on: names that are methods in any language,
// typed parameters, codes and security of each operation, and one schema for each shape.
func TestOpenAPI_IsTidy(t *testing.T) {
	t.Parallel()
	_, raw := openAPI(setup(t, nil))
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string
			Permission  string `json:"x-locus-permission"`
			Repeatable  *bool  `json:"x-locus-repeatable"`
			Security    []any
			Parameters  []struct {
				Name, In string
				Schema   struct {
					Type  string
					Items *struct{ Type string }
				}
			}
			Responses map[string]struct {
				Content map[string]any
				Codes   []string `json:"x-locus-codes"`
			}
		}
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`^[a-z]+([A-Z][a-z]*)*$`)
	seen := map[string]bool{}
	for path, operations := range doc.Paths {
		for method, op := range operations {
			if !name.MatchString(op.OperationID) || seen[op.OperationID] {
				t.Errorf("%s %s: operationId %q is not in camelCase, or is another's", method, path, op.OperationID)
			}
			seen[op.OperationID] = true
			if (op.Permission == "public") != (op.Security == nil) || op.Repeatable == nil {
				t.Errorf("%s: permission %s, security %v, repeatable %v", op.OperationID, op.Permission, op.Security, op.Repeatable)
			}
			for _, p := range op.Parameters {
				s := p.Schema
				if !slices.Contains([]string{"string", "integer", "boolean", "array"}, s.Type) ||
					(s.Type == "array") != (s.Items != nil) {
					t.Errorf("%s: parameter %s has the type %q", op.OperationID, p.Name, s.Type)
				}
				if (p.Name == "limit" || p.Name == "Request-Timeout") && s.Type != "integer" {
					t.Errorf("%s: %s is %s", op.OperationID, p.Name, s.Type)
				}
			}
			for status, r := range op.Responses {
				if (status >= "300") != (len(r.Codes) > 0) || r.Content == nil && status != "204" {
					t.Errorf("%s: %s has the codes %v, and content %v", op.OperationID, status, r.Codes, r.Content)
				}
			}
		}
	}
	shapes := map[string]string{}
	for _, schema := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		text, err := json.Marshal(undescribed(doc.Components.Schemas[schema]))
		if err != nil {
			t.Fatal(err)
		}
		if other := shapes[string(text)]; other != "" {
			t.Errorf("%s has the shape of %s: make them one", schema, other)
		}
		shapes[string(text)] = schema
	}
}

// undescribed returns a schema without its words.
func undescribed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if k != "description" {
				out[k] = undescribed(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = undescribed(v[i])
		}
		return out
	}
	return v
}

// TestOpenAPI_ReferencesLead checks that each referenced schema exists, and that 64-bit ids are strings.
func TestOpenAPI_ReferencesLead(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	doc, raw := openAPI(f)
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`"#/components/schemas/(\w+)"`).FindAllSubmatch(raw, -1) {
		used[string(m[1])] = true
		if doc.Components.Schemas[string(m[1])] == nil {
			t.Errorf("schema %s is not there", m[1])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		if !used[name] {
			t.Errorf("schema %s is not used", name)
		}
		properties, _ := doc.Components.Schemas[name]["properties"].(map[string]any)
		for _, id := range []string{"puid", "entity", "id", "stamp"} {
			if p, ok := properties[id].(map[string]any); ok && p["type"] != "string" && p["$ref"] == nil {
				t.Errorf("%s.%s is %v", name, id, p)
			}
		}
	}
}

func TestOpenAPI_Golden(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	_, raw := openAPI(f)
	var got bytes.Buffer
	if err := json.Indent(&got, raw, "", " "); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "openapi.json")
	if *rewrite {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("the interface has changed; see that nothing was renamed or removed, then run with -rewrite (-want +got):\n%s", diff)
	}
}
