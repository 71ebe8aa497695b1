// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/audits"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/blank"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/sinks"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/tokens"
)

// canary is a part of every value of a hidden attribute, and ghost of the values in records of a kind that is not seen.
const (
	canary = "canaryvalue"
	ghost  = "ghostvalue"
)

// hiding is the restriction of the principals of these tests.
var hiding = tokens.Restriction{Kinds: []string{"place"}, Hide: []string{"websites", "city"}}

// secretive is an installation with hidden values wherever a value can be: records, entities, a possible match,
// decisions, the groups of a rollup and the dead letters of a sink.
type secretive struct {
	*fixture
	log *safeBuffer
	// place has hidden values, person is of a kind that is not seen.
	place, person string
}

func setupSecretive(t *testing.T) *secretive {
	t.Helper()
	log := &safeBuffer{}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	svc, err := locus.Open(t.Context(), blank.Dir(t, 2), &locus.Options{
		Storage: storage.Options{Scratch: true}, Logger: logger, Sinks: &sinks.Options{},
		Audit: &audits.Options{Also: []audit.Class{audit.Write, audit.Read}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = svc.Close() })
	f := &secretive{fixture: &fixture{t, svc, httpapi.New(svc, &httpapi.Options{Logger: logger})}, log: log}
	// rejects each request and repeats its content
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.Copy(w, r.Body)
	}))
	t.Cleanup(target.Close)
	with[httpapi.Sink](f.do(http.MethodPut, "/v1/sinks/hook", `{"to": "`+target.URL+`"}`, "Content-Type",
		"application/json"), http.StatusCreated)
	put := func(source, key, kind, attributes string) string {
		t.Helper()
		r := f.item(fmt.Sprintf(`{"source":%q,"key":%q,"kind":%q,"attributes":{%s}}`, source, key, kind, attributes))
		if r.Error != nil {
			t.Fatal(r.Error)
		}
		return r.Entity.String()
	}
	secret := `"city":"` + canary + ` springs","websites":"https://` + canary + `.example"`
	f.place = put("shop", "1", "place", `"name":"Joes Pizza",`+secret)
	put("shop", "2", "place", `"name":"Joes Pizza",`+secret)
	f.person = put("crm", "1", "person", `"name":"Ann `+ghost+`","emails":"`+ghost+`@mail.example"`)
	put("crm", "2", "person", `"name":"Ann `+ghost+`"`)
	put("a", "oak", "place", `"name":"Brass Heron Antiques","city":"`+canary+` field","phones":"212-555-0101","address":"12 Oak Ave"`)
	put("b", "mill", "place", `"name":"Brass Heron Antiques","city":"`+canary+` field","phones":"646-555-7878","address":"99 Mill Lane"`)
	decode[httpapi.DecideResponse](f.post("/v1/decisions", `{"decisions":[{"verdict":"value","a":"shop:1","attribute":"city","value":"`+canary+` hills"},
		{"verdict":"value","a":"crm:1","attribute":"name","value":"`+ghost+`"}]}`))
	f.define("cities", "kind: place\ngroup: city\nmeasures:\n  places: count\n")
	f.define("people", "kind: person\ngroup: name\nmeasures:\n  people: count\n")
	f.define("names", "kind: place\ngroup: name\nmeasures:\n  places: count\n")
	// the changes have the attributes that the rollups count by
	put("shop", "2", "place", `"name":"Joes Pizza","phones":"212-555-0199",`+secret)
	put("crm", "2", "person", `"name":"Ann `+ghost+`","phones":"212-555-0177"`)
	for deadline := time.Now().Add(patience); !strings.Contains(f.get("/v1/sinks/hook/dead").Body.String(), canary); {
		if time.Now().After(deadline) {
			t.Fatal("no dead letter")
		}
		<-time.After(5 * time.Millisecond)
	}
	return f
}

// bodiesOf are bodies with which routes that read respond with values.
func (f *secretive) bodies() map[string]string {
	return map[string]string{
		"POST /v1/match":   `{"probes":[{"kind":"place","attributes":{"name":"Joes Pizza"}},{"kind":"person","attributes":{"name":"Ann ` + ghost[:4] + `"}}],"why":true,"fuzzy":true,"min_match_weight":-50}`,
		"POST /v1/what-if": `{"of":"shop:1","delete":["shop:2"]}`,
		"POST /v1/ids":     `{"ids":["` + f.place + `"]}`,
		"POST /mcp":        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get","arguments":{"address":"shop:1"}}}`,
	}
}

// targets returns requests of a path of the table, with an address of each thing that is not to be seen.
func (f *secretive) targets(path string) []string {
	group := url.PathEscape(canary + " springs")
	fill := strings.NewReplacer("{group...}", group, "{kind}", "place", "{$}", "", "{file}", "console.js",
		"{source}/{key...}", "shop/1", "{id}", f.place, "{source}", "shop")
	other := strings.NewReplacer("{source}/{key...}", "crm/1", "{id}", f.person, "{source}", "crm", "{kind}", "person")
	if strings.Contains(path, "/sinks/") {
		path = strings.ReplaceAll(path, "{name}", "hook")
	}
	if strings.Contains(path, "/rollups/{name}") {
		var all []string
		for name, group := range map[string]string{"cities": canary + " springs", "people": "Ann " + ghost, "names": "Joes Pizza", "nothing": "x"} {
			all = append(all, strings.NewReplacer("{name}", name, "{group...}", url.PathEscape(group)).Replace(path))
		}
		return all
	}
	path = strings.ReplaceAll(path, "{name}", "hook")
	switch path {
	case "/v1/find":
		return []string{path + "?address=shop:1", path + "?address=crm:1", path + "?address=" + f.person}
	case "/v1/ids":
		return []string{path, path + "?cell=g0-0", path + "?cell=g0-1"} // the first for POST
	case "/v1/route":
		return []string{path + "?address=shop:1"}
	case "/v1/why-not":
		return []string{path + "?a=shop:1&b=shop:2", path + "?a=crm:1&b=crm:2", path + "?a=shop:1&b=crm:2"}
	case "/v1/decisions":
		return []string{path, path + "?of=shop:1", path + "?of=crm:1"}
	case "/review":
		return []string{path, path + "?a=shop:1&b=shop:2", path + "?a=crm:1&b=crm:2"}
	case "/v1/entities":
		return []string{path, path + "?kind=place", path + "?kind=person", path + "?q=joes",
			path + "?filter=city:" + url.QueryEscape(canary+" springs")}
	case "/entities":
		return []string{path, path + "?kind=place", path + "?kind=person", path + "?q=joes", path + "?q=crm:1",
			path + "?q=" + f.person}
	case "/entities/{id}/what-if":
		path = fill.Replace(path)
		return []string{path + "?without=shop:2", path + "?apart=shop:2", path + "?merge=crm:1", path + "?merge=a:oak"}
	case "/v1/export/{what}":
		return []string{
			"/v1/export/records", "/v1/export/entities", "/v1/export/links", "/v1/export/decisions",
			"/v1/export/records?format=csv", "/v1/export/records?kind=person",
			"/v1/export/entities?columns=city", "/v1/export/entities?since=g0-0:0,g0-1:0",
			"/v1/export/records?since=g0-0:0,g0-1:0",
		}
	}
	return slices.Compact([]string{fill.Replace(path), fill.Replace(other.Replace(path))})
}

// read sends a request, and ends it after the first part of a stream. Everything that comes back is returned in lower
// case.
func (f *secretive) read(method, target, body string, headers ...string) string {
	f.Helper()
	f.server.Forget()
	ctx, end := context.WithCancel(f.Context())
	defer end()
	r := httptest.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	r.Host = "localhost:7070"
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := &firstPart{ResponseRecorder: httptest.NewRecorder(), end: end}
	f.server.ServeHTTP(w, r)
	return strings.ToLower(w.Body.String() + fmt.Sprint(w.Header()))
}

// safeBuffer is a buffer for several writers.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// firstPart ends a request when a part of its answer is sent on.
type firstPart struct {
	*httptest.ResponseRecorder
	end func()
}

func (p *firstPart) Flush() { p.end() }

// TestP10_Hidden calls every route of the router, pages with a cookie too, as a principal with every permission that
// may not see two attributes and a kind. No response and no line of the log contains the values, while the responses to
// an administrator show that the routes return them.
func TestP10_Hidden(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	f := setupSecretive(t)
	f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	all := bearer(f.token(tokens.Request{Name: "all", Roles: []string{"reader", "operator"}, Allow: []string{"audit"}}))
	token := f.token(tokens.Request{Name: "narrow", Allow: access.Permissions(), Restriction: hiding})
	narrow, session := bearer(token), []string{"Cookie", f.signIn(token), "Accept", "text/html"}
	others := map[string][]string{} // see one of the two, and are looked at for the other
	for name, r := range map[string]tokens.Restriction{"hide": {Hide: hiding.Hide}, "kinds": {Kinds: hiding.Kinds}} {
		others[name] = bearer(f.token(tokens.Request{Name: name, Allow: access.Permissions(), Restriction: r}))
	}
	feed := []string{"Accept", "text/event-stream", "Last-Event-ID", "g0-0:0,g0-1:0"}

	table, err := os.ReadFile(filepath.Join("testdata", "permissions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	shows := func(text string) bool { return strings.Contains(text, canary) || strings.Contains(text, ghost) }
	asked, shown, open := 0, map[string]bool{}, 0
	bodies := f.bodies()
	for line := range strings.Lines(string(table)) {
		pattern, rule, _ := strings.Cut(line, "  ")
		method, path, found := strings.Cut(pattern, " ")
		if _, reads := bodies[pattern]; !found || method != http.MethodGet && !reads {
			continue
		}
		for _, target := range f.targets(path) {
			as := map[string][]string{"bearer": narrow, "hide": others["hide"], "kinds": others["kinds"]}
			if !strings.HasPrefix(path, "/v1/") && path != "/mcp" {
				as["cookie"] = session
			}
			if path == "/v1/changes" {
				as["feed"], as["hide feed"] = append(slices.Clone(feed), narrow...), append(slices.Clone(feed), others["hide"]...)
			}
			if asked++; shows(f.read(method, target, bodies[pattern], all...)) {
				shown[pattern] = true
			}
			for name, headers := range as {
				text := f.read(method, target, bodies[pattern], headers...)
				// the answer may repeat values of the request
				for _, value := range []string{target, strings.ToLower(url.PathEscape(target)), url.QueryEscape(canary + " springs")} {
					text = strings.ReplaceAll(text, value, "")
				}
				switch {
				case strings.HasPrefix(name, "hide"):
					text = strings.ReplaceAll(text, ghost, "")
				case name == "kinds":
					text = strings.ReplaceAll(text, canary, "")
				}
				if shows(text) {
					t.Errorf("%s, whose rule is %s, shows what is hidden to a %s: %s: %.600s", pattern, strings.TrimSpace(rule), name,
						target, text)
				}
				if !strings.Contains(text, `"forbidden"`) && !strings.Contains(text, "forbidden") {
					open++
				}
			}
		}
	}
	t.Logf("%d requests; %d routes have values: %v; %d requests of the others were not refused", asked, len(shown),
		slices.Sorted(maps.Keys(shown)), open)
	for _, pattern := range []string{"GET /v1/changes", "GET /v1/rollups/{name}/groups", "GET /v1/rollups/{name}/explain/{group...}", "POST /v1/ids", "GET /v1/ids"} {
		if !shown[pattern] {
			t.Errorf("%s shows no value to others either, so that it proves nothing", pattern)
		}
	}
	if asked < 130 || len(shown) < 25 || open < 200 {
		t.Errorf("%d requests, %d routes with values, %d not refused: the others prove nothing", asked, len(shown), open)
	}
	if log := f.log.String(); shows(strings.ToLower(log)) || len(log) < 1000 {
		t.Errorf("the log has hidden values, or nothing at all: %d bytes", len(log))
	}
}

// TestP10_HiddenIsSaid checks the visible parts of a record and an entity, and that no hidden value can be found by
// trying.
func TestP10_HiddenIsSaid(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	id := decode[httpapi.PutResponse](f.do(http.MethodPost, "/v1/records", `{"records":[{"source":"shop","key":"1","attributes":{"name":"Joes Pizza","websites":"https://joes.example"}}]}`)).Results[0].Entity.String()
	person := decode[httpapi.PutResponse](f.do(http.MethodPost, "/v1/records", `{"records":[{"source":"crm","key":"1","kind":"person","attributes":{"name":"Ann Miller"}}]}`)).Results[0].Entity.String()
	root := bearer(f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}}))
	made := f.do(http.MethodPost, "/v1/tokens",
		`{"name":"ann","roles":["administrator"],"kinds":["place"],"hide":["websites"]}`, root...)
	var token httpapi.TokenMade
	if err := json.Unmarshal(made.Body.Bytes(), &token); err != nil || made.Code != http.StatusCreated || len(token.Hide) != 1 {
		t.Fatalf("%d %s", made.Code, made.Body)
	}
	ann := bearer(token.Secret)

	r := decode[httpapi.Record](f.do(http.MethodGet, "/v1/records/shop/1", "", ann...))
	if len(r.Attributes) != 1 || strings.Join(r.Hidden, " ") != "websites" {
		t.Errorf("record: %+v", r)
	}
	e := decode[httpapi.Entity](f.do(http.MethodGet, "/v1/entities/"+id, "", ann...))
	if e.View.Get("name") == nil || e.View.Get("websites") != nil || strings.Join(e.Hidden, " ") != "websites" ||
		e.Stamp != "" {
		t.Errorf("entity: %+v", e)
	}
	if l := decode[httpapi.RecordList](f.do(http.MethodGet, "/v1/records", "", ann...)); len(l.Records) != 1 || l.Records[0].Hidden == nil {
		t.Errorf("records: %+v", l)
	}
	if l := decode[httpapi.EntityList](f.do(http.MethodGet, "/v1/entities", "", ann...)); len(l.Entities) != 1 || l.Entities[0].Hidden == nil {
		t.Errorf("entities: %+v", l)
	}
	for _, query := range []string{"q=joes", "filter=websites:https://joes.example", "has=websites", "without=websites", "order=best"} {
		f.do(http.MethodGet, "/v1/entities?"+query, "", ann...).refused(http.StatusForbidden, httpapi.CodeForbidden)
	}
	alike := func(hidden, missing string) {
		t.Helper()
		a := f.do(http.MethodGet, hidden, "", ann...)
		b := f.do(http.MethodGet, missing, "", ann...)
		p, q := a.refused(b.Code, httpapi.Code(decodeCode(b))), b.refused(b.Code, httpapi.Code(decodeCode(b)))
		if p.RequestID, q.RequestID = "", ""; p.Detail != q.Detail || p.Title != q.Title || a.Header().Get("Content-Location") != "" {
			t.Errorf("%s: %+v, but %s: %+v", hidden, p, missing, q)
		}
	}
	alike("/v1/records/crm/1", "/v1/records/crm/2")
	alike("/v1/find?address=crm:1", "/v1/find?address=crm:2")
	alike("/v1/records?kind=person", "/v1/records?kind=nothing")
	alike("/v1/entities?kind=person", "/v1/entities?kind=nothing")
	none := "20be0ffc-314a-bd53-7a50-013a65ca76d2"
	for _, path := range []string{"", "/why", "/how", "/history", "/relations"} {
		alike("/v1/entities/"+person+path, "/v1/entities/"+none+path)
	}
	alike("/v1/why-not?a=shop:1&b=crm:1", "/v1/why-not?a=shop:1&b=crm:2")
	alike("/v1/why-not?a=crm:1&b=shop:1", "/v1/why-not?a=crm:2&b=shop:1")
	alike("/v1/decisions?of=crm:1", "/v1/decisions?of=crm:2")
	alike("/v1/kinds/person", "/v1/kinds/nothing")
	if text := f.do(http.MethodGet, "/v1/schema?kind=person", "", ann...).Body.String() + f.do(http.MethodGet, "/v1/kinds", "", ann...).Body.String(); strings.Contains(text, `"person"`) {
		t.Errorf("the kind is named: %s", text)
	}
	if a := f.do(http.MethodGet, "/v1/entities/"+person, "", ann...); a.Code != http.StatusNotFound {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	for _, mistyped := range []string{`"hide":["website"]`, `"kinds":["places"]`, `"hide":[]`} {
		f.do(http.MethodPost, "/v1/tokens", `{"name":"x","roles":["reader"],`+mistyped+`}`,
			root...).refused(http.StatusUnprocessableEntity, httpapi.CodeInvalid)
	}
	// The principal can create no token and define nothing.
	f.do(http.MethodPut, "/v1/rollups/x", `{}`, ann...).refused(http.StatusForbidden, httpapi.CodeForbidden)
	f.do(http.MethodPost, "/v1/tokens", `{"name":"x","roles":["reader"]}`, ann...).refused(http.StatusForbidden,
		httpapi.CodeForbidden)
	if who := decode[httpapi.Whoami](f.do(http.MethodGet, "/v1/whoami", "", ann...)); len(who.Kinds) != 1 || len(who.Hide) != 1 {
		t.Errorf("%+v", who)
	}
}

func decodeCode(a answer) string {
	var p struct{ Code string }
	_ = json.Unmarshal(a.Body.Bytes(), &p)
	return p.Code
}
