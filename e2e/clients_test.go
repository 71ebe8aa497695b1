// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	locus "github.com/locus-db/locus/client"
	"github.com/locus-db/locus/internal/apigen"
	"github.com/locus-db/locus/internal/longtest"
)

// apiCall is a call of testdata/calls.json.
type apiCall struct {
	Op     string         `json:"op"`
	Python string         `json:"python"` // its name in Python
	Path   []any          `json:"path,omitempty"`
	Query  map[string]any `json:"query,omitempty"`
	Header map[string]any `json:"header,omitempty"`
	Body   any            `json:"body,omitempty"`
}

// apiResult is the result of a call.
type apiResult struct {
	OK    any `json:"ok,omitempty"`
	Error any `json:"error,omitempty"`
}

// TestClients_Agree makes the same calls over plain HTTP and with every client, and compares what they return.
func TestClients_Agree(t *testing.T) {
	t.Parallel()
	server := serve(t, t.TempDir(), "127.0.0.1:0")
	document, err := os.ReadFile(filepath.Join("..", "internal", "httpapi", "testdata", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	api, err := apigen.Read(document)
	if err != nil {
		t.Fatal(err)
	}
	operations := map[string]*apigen.Operation{}
	for _, op := range api.Operations {
		operations[op.Name] = op
	}
	list, err := os.ReadFile(filepath.Join("testdata", "calls.json"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	list = bytes.ReplaceAll(list, []byte("{now}"), []byte(now.Format(time.RFC3339)))
	list = bytes.ReplaceAll(list, []byte("{day}"), []byte(now.Format(time.DateOnly)))
	list = bytes.ReplaceAll(list, []byte("{next}"), []byte(now.AddDate(0, 0, 1).Format(time.DateOnly)))
	var calls []apiCall
	read(t, list, &calls)
	plain := func() []apiResult {
		var results []apiResult
		for i := range calls {
			results = append(results, plainCall(t, server.url, operations[calls[i].Op], &calls[i]))
		}
		return results
	}
	plain() // writes; the calls change nothing if they are repeated
	var found struct{ ID string }
	if err := get(server.url, "/v1/find", url.Values{"address": {"crm:a/1 ü%"}}, &found); err != nil {
		t.Fatal(err)
	}
	for i, c := range calls {
		calls[i].Python = snake(c.Op)
		if len(c.Path) > 0 && c.Path[0] == "{id}" {
			calls[i].Path[0] = found.ID
		}
	}
	want := plain()
	failed := 0
	for _, r := range want {
		if r.Error != nil {
			failed++
		}
	}
	for _, c := range calls {
		delete(operations, c.Op)
	}
	delete(operations, "callAgentTools") // a protocol of its own, which the clients lack
	if len(operations) > 0 {
		t.Errorf("not called: %v", slices.Sorted(maps.Keys(operations)))
	}
	if failed < 30 || failed > 65 {
		t.Errorf("%d calls, %d of which fail: %v", len(calls), failed, want)
	}
	t.Run("Go", func(t *testing.T) {
		c, err := locus.New(server.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(t.Context())
		var got []apiResult
		for i := range calls {
			got = append(got, goCall(t, c, &calls[i]))
		}
		agree(t, calls, want, got)
	})
	t.Run("Python", func(t *testing.T) {
		agree(t, calls, want, program(t, calls, "python3", filepath.Join("..", "clients", "python", "tests", "calls.py"),
			server.url))
	})
	t.Run("TypeScript", func(t *testing.T) {
		var some []apiCall
		var wanted []apiResult
		for i, c := range calls {
			if len(c.Path) < 2 || c.Path[1] != ".." { // which fetch cannot send
				some, wanted = append(some, c), append(wanted, want[i])
			}
		}
		agree(t, some, wanted, program(t, some, "node", filepath.Join("..", "clients", "typescript", "tests", "calls.js"),
			server.url))
	})
}

// TestClients_Python runs the tests of the Python client.
func TestClients_Python(t *testing.T) {
	t.Parallel()
	longtest.Needs(t, "Python")
	path := interpreter(t, "python3")
	cmd := exec.CommandContext(t.Context(), path, filepath.Join("..", "clients", "python", "tests", "test_core.py"))
	cmd.Env = append(clean(), "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestClients_TypeScript runs the tests of the TypeScript client.
func TestClients_TypeScript(t *testing.T) {
	t.Parallel()
	longtest.Needs(t, "Node.js")
	path := interpreter(t, "node")
	cmd := exec.CommandContext(t.Context(), path, "--test",
		filepath.Join("..", "clients", "typescript", "tests", "core.test.js"))
	cmd.Env = clean()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// interpreter returns the path of a program, without which a test is skipped, or fails in CI.
func interpreter(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if ci := os.Getenv("CI"); ci == "1" || ci == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return path
}

// snake is the name of an operation in Python.
func snake(name string) string {
	var out strings.Builder
	for _, r := range strings.NewReplacer("IDs", "Ids", "API", "Api").Replace(name) {
		if unicode.IsUpper(r) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

func read(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
}

// agree compares results, ignoring differences between any two calls.
func agree(t *testing.T, calls []apiCall, want, got []apiResult) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d results of %d calls", len(got), len(want))
	}
	for i := range want {
		compared := steady
		if inconstant[calls[i].Op] {
			compared = outline
		}
		if diff := cmp.Diff(compared(want[i]), compared(got[i])); diff != "" {
			t.Errorf("call %d, %s (-plain +client):\n%s", i, calls[i].Op, diff)
		}
	}
}

// inconstant are operations whose answers differ each time. For texts only their presence is compared, for objects only
// the fields.
var inconstant = map[string]bool{
	"getProcessMetrics": true, "getReadiness": true, "exportAudit": true, "downloadBackup": true, "downloadDump": true,
	"getStatus": true, "listAudit": true,
	"markBackup": true, "getLastBackup": true, "listCells": true, "getCell": true, "getMap": true, "getMapHistory": true,
	"planCells": true, "vacuum": true,
}

// outline returns the parts of such an answer that do not change between calls.
func outline(r apiResult) any {
	v := steady(r)
	of, _ := v.(map[string]any)
	switch ok := of["ok"].(type) {
	case string:
		of["ok"] = len(ok) > 100
	case map[string]any:
		of["ok"] = slices.Sorted(maps.Keys(ok))
	}
	return v
}

// epoch matches the epoch of the cell map in an error. The map is extended now and then.
var epoch = regexp.MustCompile(`epoch \d+`)

// steady returns a result as JSON without epochs and periods of the cell map, ages and times of the call.
func steady(r apiResult) any {
	text, err := json.Marshal(r)
	if err != nil {
		return err.Error()
	}
	var v any
	if err := json.Unmarshal(epoch.ReplaceAll(text, []byte("epoch")), &v); err != nil {
		return err.Error()
	}
	var strip func(v any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range []string{"lag_ms", "as_of", "seconds", "entries", "heads", "verified_at", "unended", "took_ms", "uptime_seconds", "complete",
				"epoch", "until"} {
				delete(v, name)
			}
			for _, e := range v {
				strip(e)
			}
		case []any:
			for _, e := range v {
				strip(e)
			}
		}
	}
	strip(v)
	return v
}

// plainCall makes a call with net/http.
func plainCall(t *testing.T, server string, op *apigen.Operation, c *apiCall) apiResult {
	t.Helper()
	if op == nil {
		t.Fatalf("no operation %s", c.Op)
	}
	target := op.URL
	for i, p := range op.Path {
		var segments []string
		values, several := c.Path[i].([]any)
		if !several {
			values = []any{c.Path[i]}
		}
		for _, v := range values {
			segments = append(segments, strings.ReplaceAll(url.PathEscape(v.(string)), "..", "%2E%2E"))
		}
		target = strings.ReplaceAll(target, "{"+p.Name+"}", strings.Join(segments, "/"))
	}
	query := url.Values{}
	for name, v := range c.Query {
		if several, ok := v.([]any); ok {
			for _, one := range several {
				query.Add(name, fmt.Sprint(one))
			}
		} else if text := plainText(v); text != "" {
			query.Add(name, text)
		}
	}
	var body io.Reader
	if c.Body != nil {
		text, err := json.Marshal(c.Body)
		if err != nil {
			t.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(t.Context(), op.Method, server+target+"?"+query.Encode(), body)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range c.Header {
		r.Header.Set(name, plainText(v))
	}
	if c.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	reply, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reply.Body)
	if err = errors.Join(err, reply.Body.Close()); err != nil {
		t.Fatal(err)
	}
	if reply.StatusCode >= 300 {
		var p struct {
			Code, Detail, Outcome, Pointer string
			Status                         int
		}
		read(t, text, &p)
		return failure(p.Code, p.Detail, p.Outcome, p.Pointer, p.Status)
	}
	var v any
	switch op.Result {
	case apigen.Nothing:
	case apigen.Download:
		v = string(text)
	case apigen.Lines:
		all := strings.Split(strings.TrimSpace(string(text)), "\n")
		read(t, []byte(all[len(all)-1]), &v)
		delete(v.(map[string]any), "type")
	case apigen.Value:
		read(t, text, &v)
	}
	return apiResult{OK: v}
}

// plainText is a parameter as a text, whole numbers without a fraction.
func plainText(v any) string {
	if n, ok := v.(float64); ok {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprint(v)
}

func failure(code, detail, outcome, pointer string, status int) apiResult {
	return apiResult{Error: map[string]any{"code": code, "detail": detail, "outcome": outcome, "pointer": pointer,
		"status": status}}
}

// goCall makes a call with the Go client.
func goCall(t *testing.T, c *locus.Client, call *apiCall) apiResult {
	t.Helper()
	name := strings.ToUpper(call.Op[:1]) + call.Op[1:]
	method := reflect.ValueOf(c).MethodByName(name)
	if !method.IsValid() {
		t.Fatalf("the Go client has no method %s", name)
	}
	arguments := []reflect.Value{reflect.ValueOf(t.Context())}
	sources := append([]any{}, call.Path...)
	for i := 1; i < method.Type().NumIn(); i++ {
		in := method.Type().In(i)
		value := reflect.New(in)
		switch {
		case len(sources) > 0:
			text, _ := json.Marshal(sources[0])
			read(t, text, value.Interface())
			sources = sources[1:]
		case in.Kind() == reflect.Pointer && strings.HasSuffix(in.Elem().Name(), "Params"):
			value.Elem().Set(goParams(t, in.Elem(), call))
		case in.Kind() == reflect.Func: // of progress
		default:
			text, _ := json.Marshal(call.Body)
			read(t, text, value.Interface())
		}
		arguments = append(arguments, value.Elem())
	}
	out := method.Call(arguments)
	if err, failed := out[len(out)-1].Interface().(error); failed {
		e := &locus.Error{}
		if !errors.As(err, &e) {
			return failure("", err.Error(), "", "", 0)
		}
		return failure(e.Code, e.Detail, e.Outcome, e.Pointer, e.Status)
	}
	if len(out) == 1 {
		return apiResult{}
	}
	if d, ok := out[0].Interface().(*locus.Download); ok {
		defer d.Close()
		text, err := io.ReadAll(d)
		if err != nil {
			t.Error(err)
		}
		return apiResult{OK: string(text)}
	}
	return apiResult{OK: out[0].Interface()}
}

// goParams sets the fields of parameters by their names.
func goParams(t *testing.T, of reflect.Type, call *apiCall) reflect.Value {
	t.Helper()
	params := reflect.New(of)
	for _, values := range []map[string]any{call.Query, call.Header} {
		for name, v := range values {
			field := params.Elem().FieldByNameFunc(func(f string) bool { return strings.EqualFold(f, strings.NewReplacer("_", "", "-", "").Replace(name)) })
			if !field.IsValid() {
				t.Fatalf("%s has no parameter %s", call.Op, name)
			}
			text, _ := json.Marshal(v)
			read(t, text, field.Addr().Interface())
		}
	}
	return params
}

// program passes the calls to a program and reads its results.
func program(t *testing.T, calls []apiCall, name string, args ...string) []apiResult {
	t.Helper()
	path := interpreter(t, name)
	input, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = append(clean(), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stdin = bytes.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, stderr.String())
	}
	var results []apiResult
	read(t, out, &results)
	return results
}
