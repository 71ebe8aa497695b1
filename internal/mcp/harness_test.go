// SPDX-License-Identifier: Apache-2.0

package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/blank"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/mcp"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// opened returns an installation that is closed after the test.
func opened(t testing.TB) *locus.DB {
	t.Helper()
	cells, err := storage.Open(t.Context(), blank.Dir(t, 2), &storage.Options{Scratch: true})
	if err != nil {
		t.Fatal(err)
	}
	db, err := locus.OpenCells(t.Context(), cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// caller opens an installation and returns a way to its API.
func caller(t *testing.T) mcp.Call {
	t.Helper()
	server := httpapi.New(opened(t), nil)
	return func(ctx context.Context, method, path string, query url.Values, body []byte, out any) error {
		r := httptest.NewRequestWithContext(ctx, method, "http://localhost"+path+"?"+query.Encode(), bytes.NewReader(body))
		if body != nil {
			r.Header.Set("Content-Type", "application/json")
		}
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		if w.Code/100 != 2 {
			p := &httpapi.Problem{}
			if err := json.Unmarshal(w.Body.Bytes(), p); err != nil {
				return err
			}
			return p
		}
		return json.Unmarshal(w.Body.Bytes(), out)
	}
}

// session is an agent that uses the tools.
type session struct {
	*testing.T
	*sdk.ClientSession
	call mcp.Call
}

// all allows every tool.
var all = &mcp.Options{Agent: "bot", Allow: mcp.Writing}

func connect(t *testing.T, call mcp.Call, o *mcp.Options) *session {
	t.Helper()
	server, err := mcp.New(t.Context(), call, o)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := sdk.NewInMemoryTransports()
	served, err := server.Connect(t.Context(), ours)
	if err != nil {
		t.Fatal(err)
	}
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		_ = served.Wait()
	})
	return &session{t, client, call}
}

// answer is the part of results that the tests read.
type answer struct {
	raw      []byte
	Error    *struct{ Code, Detail string }
	Cursor   string
	ID       string
	Records  int
	Entities []struct{ ID string }
	Redirect *struct {
		From, Cause string
		Decided     []struct{ Author, Reason string }
	}
	Values  []struct{ Attribute, Value string }
	Results []struct {
		Advice, ID, Reason string
		Missing, Error     *struct{ Code string }
		Entities           []struct {
			ID, Level    string
			For, Against []struct {
				Attribute string
				Weight    float64 `json:"match_weight"`
			}
		}
	}
	Pairs []struct {
		A, B         string
		For, Against []struct {
			Weight float64 `json:"match_weight"`
			A, B   []string
		}
	}
	SameEntity bool    `json:"same_entity"`
	Weight     float64 `json:"match_weight"`
	Evidence   []struct {
		Weight float64 `json:"match_weight"`
	}
	Record, Entity, Outcome, Author string
	EntityA                         string `json:"entity_a"`
	EntityB                         string `json:"entity_b"`
	Unchanged, Overruled            bool
	Decided                         *struct{ Author string }
}

// object is JSON.
type object = map[string]any

// use calls a tool, and checks the properties of every result.
func (s *session) use(tool string, arguments object) *answer {
	s.Helper()
	got, err := s.CallTool(s.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		s.Fatalf("%s: %v", tool, err)
	}
	text := got.Content[0].(*sdk.TextContent).Text
	a := &answer{raw: []byte(text)}
	if err := json.Unmarshal(a.raw, a); err != nil {
		s.Fatalf("%s: %v in %s", tool, err, text)
	}
	if len(text) > mcp.MaxResult {
		s.Errorf("%s: %d bytes", tool, len(text))
	}
	structured, _ := json.Marshal(got.StructuredContent)
	var x, y any
	_, _ = json.Unmarshal(structured, &x), json.Unmarshal(a.raw, &y)
	if again, _ := json.Marshal(y); !bytes.Equal(structured, again) {
		s.Errorf("%s: text and structure differ: %s and %s", tool, text, structured)
	}
	if got.IsError != (a.Error != nil) {
		s.Errorf("%s: isError %v of %s", tool, got.IsError, text)
	}
	return a
}

// put stores people: lines of SOURCE:KEY|name|email|phone|city.
func put(t *testing.T, call mcp.Call, lines ...string) {
	t.Helper()
	var list []object
	for _, line := range lines {
		parts := strings.Split(line, "|")
		source, key, _ := strings.Cut(parts[0], ":")
		attributes := object{}
		for i, name := range []string{"name", "emails", "phones", "city"} {
			if i+1 < len(parts) && parts[i+1] != "" {
				attributes[name] = parts[i+1]
			}
		}
		list = append(list, object{"source": source, "key": key, "kind": "person", "attributes": attributes})
	}
	body, _ := json.Marshal(object{"records": list})
	var results httpapi.PutResponse
	if err := call(t.Context(), "POST", "/v1/records", nil, body, &results); err != nil {
		t.Fatal(err)
	}
	for _, r := range results.Results {
		if r.Error != nil {
			t.Fatalf("%s:%s: %s", r.Source, r.Key, r.Error.Detail)
		}
	}
}

// decides makes or withdraws decisions: verdict, a, b, author.
func decides(t *testing.T, call mcp.Call, withdraw bool, list ...[4]string) {
	t.Helper()
	var in []httpapi.DecisionInput
	for _, d := range list {
		in = append(in, httpapi.DecisionInput{Verdict: entity.Verdict(d[0]), A: d[1], B: d[2], Author: d[3],
			Withdraw: withdraw})
	}
	body, _ := json.Marshal(httpapi.DecideRequest{Decisions: in})
	var results httpapi.DecideResponse
	if err := call(t.Context(), "POST", "/v1/decisions", nil, body, &results); err != nil {
		t.Fatal(err)
	}
	for i, r := range results.Results {
		if r.Error != nil {
			t.Fatalf("%v: %s", list[i], r.Error.Detail)
		}
	}
}
