// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
)

// handler serves the answers that a client must be able to read.
func handler(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/good":
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"method":"`+r.Method+`","query":"`+r.URL.RawQuery+`","type":"`+r.Header.Get("Content-Type")+`","body":"`+string(body)+`"}`)
	case "/v1/records/s/" + "a/b":
		_, _ = io.WriteString(w, `{"raw":"`+r.URL.EscapedPath()+`"}`)
	case "/problem":
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"code":"not_found","detail":"nothing here","outcome":"not_applied","request_id":"R"}`)
	case "/foreign":
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
	case "/html":
		_, _ = io.WriteString(w, "<html>")
	case "/panic":
		panic(http.ErrAbortHandler)
	case "/stream":
		stream(w, r)
	}
}

// stream writes the requested lines, and waits for the client to leave where a line says so.
func stream(w http.ResponseWriter, r *http.Request) {
	var lines []json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&lines); err != nil {
		panic(err)
	}
	for _, line := range lines {
		if string(line) == `"wait"` {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		_, _ = w.Write(append(line, '\n'))
	}
}

// clients returns a client of a server, and one of the handler in this process.
func clients(t *testing.T) (network, local *client) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(handler))
	t.Cleanup(server.Close)
	network, err := dial(server.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.close() })
	return network, &client{base: &url.URL{Scheme: "http", Host: "localhost"},
		http: &http.Client{Transport: &inProcess{http.HandlerFunc(handler)}}}
}

// A server and the in-process handler give the same answers.
func TestClient(t *testing.T) {
	t.Parallel()
	network, local := clients(t)
	for name, cl := range map[string]*client{"network": network, "in process": local} {
		var got struct{ Method, Query, Type, Body, Raw string }
		if _, err := cl.do(t.Context(), http.MethodPost, "/good", url.Values{"q": {"a b"}}, []byte("x"), &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Method != "POST" || got.Query != "q=a+b" || got.Type != "application/json" || got.Body != "x" {
			t.Errorf("%s: %+v", name, got)
		}
		if _, err := cl.get(t.Context(), httpapi.RecordPath("s", "a/b"), nil, &got); err != nil || got.Raw != "/v1/records/s/a%2Fb" {
			t.Errorf("%s: an escaped key arrives as %q, %v", name, got.Raw, err)
		}
		var problem *httpapi.Problem
		if _, err := cl.get(t.Context(), "/problem", nil, nil); !errors.As(err, &problem) || problem.Code != httpapi.CodeNotFound || problem.RequestID != "R" {
			t.Errorf("%s: %v", name, err)
		}
		var foreign *failure
		if _, err := cl.get(t.Context(), "/foreign", nil, nil); !errors.As(err, &foreign) || foreign.Exit != exitUnavailable {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := cl.get(t.Context(), "/html", nil, &got); err == nil || !strings.Contains(err.Error(), "is it a Locus server?") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := cl.get(t.Context(), "/panic", nil, nil); err == nil {
			t.Errorf("%s: an answer that was cut off is one", name)
		} else if f := explainFailure(t.Context(), err); name == "network" && (f.Exit != exitUnavailable || f.Outcome != httpapi.Unknown) {
			t.Errorf("a server ended before it answered: exit %d, outcome %s, %q", f.Exit, f.Outcome, f.Message)
		}
	}
}

// An invalid server address is rejected before anything is sent, and the error names the wrong part.
func TestDial_Refuses(t *testing.T) {
	t.Parallel()
	for address, says := range map[string]string{
		"": "http://", "127.0.0.1:7070": "parsed", "x": "http://", "ftp://h": "http://", "http://": "host",
		"http://:7070":           "host",
		"http://127.0.0.1:99999": "port", "http://127.0.0.1:0": "port", "http://h:x": "parsed", "http://::1": "parsed",
		"http://[::1": "parsed",
		"http://a b":  "parsed", "http://h\x01": "parsed", "http://\xff": "host", "http://u:canary@h": "a user",
		"http://h/?a=b": "?", "http://h/#a": "#",
		"http://h/prefix": "a path", "http://h/%zz": "parsed",
	} {
		_, err := dial(address)
		f := explainFailure(t.Context(), err)
		if f.Exit != exitInvalid || !strings.Contains(f.Message, says) ||
			!strings.Contains(f.Hint, "http://127.0.0.1:7070") || strings.Contains(f.Message, "canary") {
			t.Errorf("%q: exit %d, %q, want %q", address, f.Exit, f.Message, says)
		}
	}
	for _, address := range []string{"http://h", "https://h:443/", "http://[::1]:7070", "http://127.0.0.1:7070"} {
		if _, err := dial(address); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestRepeatable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&httpapi.Problem{Fault: httpapi.Fault{Code: httpapi.CodeOverloaded}}, true},
		{&httpapi.Problem{Fault: httpapi.Fault{Code: httpapi.CodeCommitUnknown}}, true},
		{&httpapi.Problem{Fault: httpapi.Fault{Code: httpapi.CodeInvalid}}, false},
		{&httpapi.Problem{Fault: httpapi.Fault{Code: httpapi.CodeNoRoom}}, false},
		{&url.Error{Op: "Post", Err: errors.New("refused")}, true},
		{errCut, true},
		{errors.New("what"), false},
	} {
		if got := repeatable(c.err); got != c.want {
			t.Errorf("%v: %t", c.err, got)
		}
	}
}

func TestClient_Stream(t *testing.T) {
	t.Parallel()
	network, local := clients(t)
	network.http.Timeout = time.Nanosecond // must not limit a stream
	for name, cl := range map[string]*client{"network": network, "in process": local} {
		steps := 0
		ask := func(leave error, lines ...string) (string, error) {
			steps = 0
			body := json.RawMessage("[" + strings.Join(lines, ",") + "]")
			raw, err := cl.stream(t.Context(), "/stream", body, func(json.RawMessage) error { steps++; return leave })
			return string(raw), err
		}
		const progress, result = `{"type":"progress","step":"a"}`, `{"type":"result","epoch":7}`
		if raw, err := ask(nil, progress, `{"type":"of a later release"}`, progress, result, progress); err != nil || raw != result || steps != 2 {
			t.Errorf("%s: %s, %v, %d steps", name, raw, err, steps)
		}
		var problem *httpapi.Problem
		if _, err := ask(nil, progress, `{"type":"error","code":"conflict","detail":"d","outcome":"not_applied"}`); !errors.As(err, &problem) || problem.Code != httpapi.CodeConflict {
			t.Errorf("%s: an error is %v", name, err)
		}
		if _, err := ask(nil, progress); !errors.Is(err, errCut) {
			t.Errorf("%s: no last line is %v", name, err)
		}
		if _, err := ask(errEnough, progress, `"wait"`); !errors.Is(err, errEnough) || steps != 1 {
			t.Errorf("%s: leaving is %v", name, err)
		}
		if _, err := ask(nil, `7`); err == nil || !strings.Contains(err.Error(), "is it a Locus server?") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := cl.stream(t.Context(), "/problem", nil, nil); !errors.As(err, &problem) || problem.Code != httpapi.CodeNotFound {
			t.Errorf("%s: a refusal is %v", name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, err := cl.stream(ctx, "/stream", json.RawMessage("["+progress+`,"wait"]`), func(json.RawMessage) error { cancel(); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: an interrupt is %v", name, err)
		}
	}
}
