// SPDX-License-Identifier: Apache-2.0

package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/mcp"
	"github.com/locus-db/locus/tokens"
)

// web is a server with POST /mcp.
type web struct {
	*testing.T
	db   *locus.DB
	url  string
	root string // secret of an administrator
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func serveWeb(t *testing.T) *web {
	t.Helper()
	db := opened(t)
	server := httptest.NewServer(httpapi.New(db, &httpapi.Options{Agents: mcp.Web("1")}))
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		server.Close()
	})
	w := &web{T: t, db: db, url: server.URL}
	w.root = w.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	return w
}

func (w *web) token(r tokens.Request) string {
	w.Helper()
	secret, _, err := w.db.Tokens().Create(w.Context(), tokens.Operator(), r)
	if err != nil {
		w.Fatal(err)
	}
	return secret
}

// call sends requests to the API with a token.
func (w *web) call(secret string) mcp.Call {
	return func(ctx context.Context, method, path string, query url.Values, body []byte, out any) error {
		r, err := http.NewRequestWithContext(ctx, method, w.url+path+"?"+query.Encode(), bytes.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		answer, err := bearer(secret).RoundTrip(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode/100 != 2 {
			out = &httpapi.Problem{}
		}
		if err := json.NewDecoder(answer.Body).Decode(out); err != nil {
			return err
		}
		if p, refused := out.(*httpapi.Problem); refused {
			return p
		}
		return nil
	}
}

// connect connects an agent that has a token.
func (w *web) connect(secret, query string) (*session, error) {
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(w.Context(), &sdk.StreamableClientTransport{
		Endpoint: w.url + "/mcp" + query, HTTPClient: &http.Client{Transport: bearer(secret)}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return nil, err
	}
	w.Cleanup(func() { _ = client.Close() })
	return &session{w.T, client, w.call(w.root)}, nil
}

func (w *web) must(secret, query string) *session {
	w.Helper()
	s, err := w.connect(secret, query)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// TestP10_AgentsHaveThePermissionsOfTheirToken connects agents over HTTP that may do different things.
func TestP10_AgentsHaveThePermissionsOfTheirToken(t *testing.T) {
	t.Parallel()
	w := serveWeb(t)
	put(t, w.call(w.root), "crm:1|Maria Gonzalez|maria@example.org", "crm:2|Wei Zhang|wei@example.org|+1 510 555 0101",
		"crm:3|Rosa Parker|rosa@example.org")
	reader := w.token(tokens.Request{Name: "eyes", Roles: []string{"reader"}})
	reviewer := w.token(tokens.Request{Name: "helpdesk", Roles: []string{"reviewer"}})
	limited := w.token(tokens.Request{Name: "memory", Allow: []string{"schema", "read", "write"},
		WriteSources: []string{"agent.memory"}})

	eyes := w.must(reader, "")
	if text := eyes.InitializeResult().Instructions; !strings.Contains(text, "person: name, ") {
		t.Errorf("the instructions do not name the kinds: %s", text)
	}
	tools := func(s *session) (names []string) {
		list, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		return names
	}
	if names := tools(eyes); len(names) != 5 || slices.Contains(names, "remember") || slices.Contains(names, "decide") {
		t.Errorf("an agent that reads has %v", names)
	}
	if a := eyes.use("get", object{"address": "crm:1"}); a.Error != nil || a.Records != 1 {
		t.Errorf("get: %s", a.raw)
	}
	for query, secret := range map[string]string{
		"?agent=eyes&allow=remember": reader, "?agent=eyes&allow=decide": reader, "?agent=helpdesk&allow=remember": reviewer,
		"?agent=memory&allow=decide": limited, "?agent=helpdesk&allow=decide,remember": reviewer,
		"?allow=decide": reviewer, "?agent=A+B&allow=decide": reviewer, "?agent=helpdesk&allow=erase": w.root,
		"?agent=a": "locus_tok_x", "?agent=A": reader,
	} {
		if _, err := w.connect(secret, query); err == nil {
			t.Errorf("%s is connected", query)
		}
	}

	helpdesk := w.must(reviewer, "?agent=helpdesk&allow=decide")
	if a := helpdesk.use("decide", object{"verdict": "same", "a": "crm:1", "b": "crm:2", "reason": "one desk"}); a.Error != nil || a.Author != "agent:helpdesk" {
		t.Errorf("decide: %s", a.raw)
	}
	other := w.must(reviewer, "?agent=sales&allow=decide")
	if a := other.use("decide", object{"verdict": "same", "a": "crm:1", "b": "crm:3", "reason": "one desk"}); a.Error == nil || a.Error.Code != string(httpapi.CodeInvalid) {
		t.Errorf("the token of helpdesk decided as the agent sales: %s", a.raw)
	}

	memory := w.must(limited, "?agent=memory&allow=remember")
	if a := memory.use("remember", object{"kind": "person", "attributes": object{"name": "Ida Wells", "emails": "ida@example.org"}}); a.Error != nil || !strings.HasPrefix(a.Record, "agent.memory:") {
		t.Errorf("remember: %s", a.raw)
	}
	stray := w.must(limited, "?agent=sales&allow=remember")
	if a := stray.use("remember", object{"kind": "person", "attributes": object{"name": "Ida Wells"}}); a.Error == nil || a.Error.Code != string(httpapi.CodeForbidden) {
		t.Errorf("a token for agent.memory wrote as the agent sales: %s", a.raw)
	}

	if _, err := w.db.Tokens().Revoke(t.Context(), tokens.Operator(), "eyes"); err != nil {
		t.Fatal(err)
	}
	if _, err := eyes.CallTool(t.Context(), &sdk.CallToolParams{Name: "get", Arguments: object{"address": "crm:1"}}); err == nil {
		t.Error("an agent reads with a revoked token")
	}
}

// TestP10_AgentsSeeWhatTheirTokenSees connects agents whose tokens do not see everything.
func TestP10_AgentsSeeWhatTheirTokenSees(t *testing.T) {
	t.Parallel()
	w := serveWeb(t)
	put(t, w.call(w.root), "crm:1|Maria Gonzalez|canary@example.org", "crm:2|Maria Gonzalez|canary@example.org")
	hide := w.must(w.token(tokens.Request{Name: "hide", Roles: []string{"reader"}, Restriction: tokens.Restriction{Kinds: []string{"person"}, Hide: []string{"emails"}}}), "")
	places := w.must(w.token(tokens.Request{Name: "places", Roles: []string{"reader", "writer"}, Restriction: tokens.Restriction{Kinds: []string{"place"}}}), "?agent=places&allow=remember")
	if text := places.InitializeResult().Instructions; strings.Contains(text, "person: ") || !strings.Contains(text, "place: ") {
		t.Errorf("the instructions name other kinds: %s", text)
	}
	for tool, arguments := range map[string]object{
		"get": {"address": "crm:1"}, "why": {"a": "crm:1", "b": "crm:2"},
		"match":  {"probes": []object{{"kind": "person", "attributes": object{"name": "Maria Gonzalez"}}}},
		"search": {"text": "Maria"}, "review_suggest": {},
	} {
		if a := hide.use(tool, arguments); strings.Contains(string(a.raw), "canary") {
			t.Errorf("%s shows what is hidden: %s", tool, a.raw)
		}
		if a := places.use(tool, arguments); strings.Contains(string(a.raw), "canary") || strings.Contains(string(a.raw), `"records":2`) {
			t.Errorf("%s shows another kind: %s", tool, a.raw)
		}
	}
	if a := hide.use("get", object{"address": "crm:1"}); a.Error != nil || a.Records != 2 {
		t.Errorf("get: %s", a.raw)
	}
	if a := places.use("get", object{"address": "crm:1"}); a.Error == nil || a.Error.Code != string(httpapi.CodeNotFound) {
		t.Errorf("get: %s", a.raw)
	}
	if a := places.use("remember", object{"kind": "person", "attributes": object{"name": "Ida Wells"}}); a.Error == nil {
		t.Errorf("remember: %s", a.raw)
	}
	if a := places.use("remember", object{"kind": "place", "attributes": object{"name": "Joes Pizza"}}); a.Error != nil {
		t.Errorf("remember: %s", a.raw)
	}
}

// TestWeb_IsHTTP sends requests that are not messages, and requests that a page of another site must not send.
func TestWeb_IsHTTP(t *testing.T) {
	t.Parallel()
	w := serveWeb(t)
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, c := range []struct {
		name, method, body string
		headers            []string
		status             int
	}{
		{"a call", "POST", list, nil, http.StatusOK},
		{"a notification", "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, http.StatusAccepted},
		{"no JSON", "POST", `{`, nil, http.StatusBadRequest},
		{"an event stream", "GET", "", nil, http.StatusMethodNotAllowed},
		{"the end of a session", "DELETE", "", nil, http.StatusMethodNotAllowed},
		{"another site", "POST", list, []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"},
			http.StatusForbidden},
		{"a form", "POST", list, []string{"Content-Type", "text/plain"}, http.StatusUnsupportedMediaType},
		{"no token", "POST", list, []string{"Authorization", "Bearer x"}, http.StatusUnauthorized},
		{"another host", "POST", list, []string{"Host", "evil.example"}, http.StatusMisdirectedRequest},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, w.url+"/mcp", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+w.root)
		for i := 0; i+1 < len(c.headers); i += 2 {
			r.Header.Set(c.headers[i], c.headers[i+1])
			if c.headers[i] == "Host" {
				r.Host = c.headers[i+1]
			}
		}
		a, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if _ = a.Body.Close(); a.StatusCode != c.status {
			t.Errorf("%s: status %d, want %d", c.name, a.StatusCode, c.status)
		}
	}
}

// BenchmarkWeb compares a call of a tool with the request that the tool sends.
func BenchmarkWeb(b *testing.B) {
	server := httpapi.New(opened(b), &httpapi.Options{Agents: mcp.Web("1"), Local: true})
	send := func(path, body string) {
		r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "http://localhost"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		if server.ServeHTTP(w, r); w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
	probe := `"probes":[{"kind":"person","attributes":{"name":"Maria Gonzalez"}}]`
	b.Run("tool", func(b *testing.B) {
		for b.Loop() {
			send("/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"match","arguments":{`+probe+`}}}`)
		}
	})
	b.Run("route", func(b *testing.B) {
		for b.Loop() {
			send("/v1/match", `{"top":3,"put":true,"why":true,`+probe+`}`)
		}
	})
}
