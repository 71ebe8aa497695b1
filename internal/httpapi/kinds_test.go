// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/httpapi"
)

const ship = "kind: ship\nversion: 1\nattributes:\n  name: {type: name, required: true}\n"

func TestKinds_AreCreatedOnce(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	put := func(path, text string) answer {
		return f.do(http.MethodPut, "/v1/kinds/"+path, text, "Content-Type", "application/yaml")
	}
	for _, c := range []struct {
		path, text string
		status     int
		says       string
	}{
		{"ship", "kind: ship\n", http.StatusUnprocessableEntity, "attributes"},
		{"boat", ship, http.StatusUnprocessableEntity, "the path"},
		{"ship", ship, http.StatusCreated, `"kind":"ship"`},
		{"ship", ship, http.StatusOK, `"version":1`},
		{"ship", strings.Replace(ship, "version: 1", "version: 2", 1), http.StatusConflict, "locus kind migrate"},
	} {
		if a := put(c.path, c.text); a.Code != c.status || !strings.Contains(a.Body.String(), c.says) {
			t.Errorf("put %s: %d %s, want %d and %q", c.path, a.Code, a.Body, c.status, c.says)
		}
	}
	if k := decode[httpapi.Kind](f.get("/v1/kinds/ship")); k.Schema == "" || k.Default || k.Migration != nil {
		t.Errorf("%+v", k)
	}
	if a := f.get("/v1/kinds/boat"); a.Code != http.StatusNotFound {
		t.Errorf("a kind that there is not: %d %s", a.Code, a.Body)
	}
}

func TestKinds_Migrate(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.diner("a", "1", "Springfield", "415-555-2300")
	ask := func(path, body string) answer {
		return f.do(http.MethodPost, path, body)
	}
	built := ask("/v1/term-frequencies", `{"kind":"place"}`)
	terms := decode[httpapi.TermsList](f.get("/v1/term-frequencies")).Terms
	if built.Code != http.StatusOK || len(terms) != 2 || !strings.Contains(built.Body.String(), terms[1].Hash) {
		t.Fatalf("build: %d %s, term-frequency tables %+v", built.Code, built.Body, terms)
	}
	proposal := `{"term_frequencies":"` + terms[1].Hash + `"}`
	if a := ask("/v1/kinds/place/diff", proposal); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), `"stay":1`) {
		t.Errorf("diff: %d %s", a.Code, a.Body)
	}
	if a := ask("/v1/kinds/place/migrate", proposal); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), `"term_frequencies":"`+terms[1].Hash+`"`) {
		t.Errorf("migrate: %d %s", a.Code, a.Body)
	}
	for path, body := range map[string]string{"/v1/kinds/boat/diff": `{}`, "/v1/kinds/place/migrate": `{"term_frequencies":"00"}`, "/v1/term-frequencies": `{"kind":"boat"}`} {
		if a := ask(path, body); a.Code != http.StatusNotFound {
			t.Errorf("%s %s: %d %s, want 404", path, body, a.Code, a.Body)
		}
	}
}
