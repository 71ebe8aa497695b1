// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// fake is a server that records requests and fails on demand.
type fake struct {
	mu      sync.Mutex
	calls   int
	records []httpapi.RecordInput
	open    int // requests in flight
	most    int
	// refuse may answer instead of the server, given the number of the call, from 1.
	refuse func(call int, w http.ResponseWriter) bool
	// hold may keep a request waiting.
	hold func([]httpapi.RecordInput)
	// result of a record. Defaults to founded.
	result func(r httpapi.RecordInput) httpapi.PutResult
	gone   bool // no record exists
}

// seen returns the requests that have arrived. Aborted requests may still be running when a command has ended.
func (f *fake) seen() (calls int, records []httpapi.RecordInput, most int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls, slices.Clone(f.records), f.most
}

func problem(w http.ResponseWriter, status int, code httpapi.Code) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"code":%q,"detail":"as the test wants","outcome":"not_applied"}`, code)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/v1/schema":
		answer := httpapi.Schema{Kind: "place", Version: 1}
		for _, a := range match.Place().Attributes {
			answer.Attributes = append(answer.Attributes,
				httpapi.SchemaAttribute{Name: a.Name, Type: a.Type, Role: a.Role, Many: a.Many, Required: a.Required})
		}
		_ = json.NewEncoder(w).Encode(answer)
	case r.Method == http.MethodGet && f.gone:
		problem(w, http.StatusNotFound, httpapi.CodeNotFound)
	case r.Method == http.MethodGet:
		_, _ = w.Write([]byte("{}"))
	case r.Method == http.MethodPut: // the report at the end
		w.WriteHeader(http.StatusNoContent)
	default:
		f.put(w, r)
	}
}

func (f *fake) put(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.calls++
	call := f.calls
	f.open++
	f.most = max(f.most, f.open)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.open--
		f.mu.Unlock()
	}()
	var in httpapi.PutRequest
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		problem(w, http.StatusBadRequest, httpapi.CodeMalformed)
		return
	}
	if f.refuse != nil && f.refuse(call, w) {
		return
	}
	if f.hold != nil {
		f.hold(in.Records)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var answer httpapi.PutResponse
	for _, record := range in.Records {
		result := httpapi.PutResult{Source: record.Source, Key: record.Key, Outcome: resolve.Created}
		if f.result != nil {
			result = f.result(record)
		}
		if result.Error == nil {
			f.records = append(f.records, record)
		}
		answer.Results = append(answer.Results, result)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func start(t *testing.T, f *fake) string {
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return server.URL
}

// places writes a file of n rows with keys different keys.
func places(t *testing.T, n, keys int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("source,key,name\n")
	for i := range n {
		fmt.Fprintf(&b, "x,k%d,%d\n", i%keys, i)
	}
	path := filepath.Join(t.TempDir(), "places.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Rows with the same key arrive in file order, although several batches are sent concurrently.
func TestIngest_KeepsTheOrderOfAKey(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	f := &fake{}
	// Every third request is held until another one has arrived, or all others wait for it.
	f.refuse = func(call int, w http.ResponseWriter) bool {
		if call%3 == 0 {
			problem(w, http.StatusServiceUnavailable, httpapi.CodeOverloaded)
			return true
		}
		return false
	}
	url := start(t, f)
	for _, keys := range []int{7, 40, 1000} {
		f.mu.Lock()
		f.records, f.calls = nil, 0
		f.mu.Unlock()
		const n = 400
		if got := run(t.Context(), nil, "ingest", "--url", url, "--batch", "20", places(t, n, keys)); got.code != 0 {
			t.Fatalf("%d keys: %d %s", keys, got.code, got.err)
		}
		last := map[string]int{}
		_, records, _ := f.seen()
		for _, r := range records {
			at, err := strconv.Atoi(r.Attributes["name"][0])
			if err != nil {
				t.Fatal(err)
			}
			if before, seen := last[r.Key]; seen && before >= at {
				t.Errorf("%d keys: row %d of key %s came after row %d", keys, at, r.Key, before)
			}
			last[r.Key] = at
		}
		if len(records) != n {
			t.Errorf("%d keys: %d rows arrived", keys, len(records))
		}
	}
	if _, _, most := f.seen(); most > 16 {
		t.Errorf("%d requests were under way at once", most)
	}
}

func TestIngest_TriesAgain(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	tries := map[string]int{}
	f := &fake{
		refuse: func(call int, w http.ResponseWriter) bool {
			switch call {
			case 1:
				problem(w, http.StatusServiceUnavailable, httpapi.CodeCommitUnknown)
			case 2:
				panic(http.ErrAbortHandler) // the connection is cut
			default:
				return false
			}
			return true
		},
		result: func(r httpapi.RecordInput) httpapi.PutResult {
			result := httpapi.PutResult{Source: r.Source, Key: r.Key, Outcome: resolve.Matched}
			if tries[r.Key]++; r.Key == "k3" && tries[r.Key] == 1 {
				result.Error = &httpapi.Fault{Code: httpapi.CodeUnavailable, Detail: "a cell is away"}
			}
			return result
		},
	}
	got := run(t.Context(), nil, "ingest", "--url", start(t, f), "--batch", "1000", places(t, 10, 10))
	if got.code != 0 || !strings.Contains(got.stdout, "\t10\t0\t10\t0\t0\t") {
		t.Errorf("%d\n%s%s", got.code, got.stdout, got.err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if tries["k3"] != 2 || tries["k4"] != 1 {
		t.Errorf("the item that failed was sent %d times, another one %d times", tries["k3"], tries["k4"])
	}
}

func TestIngest_WritesWhatTheServerRefuses(t *testing.T) {
	t.Parallel()
	f := &fake{result: func(r httpapi.RecordInput) httpapi.PutResult {
		result := httpapi.PutResult{Source: r.Source, Key: r.Key, Outcome: resolve.Created}
		if r.Key == "k2" {
			result = httpapi.PutResult{Error: &httpapi.Fault{Code: httpapi.CodeInvalid, Detail: "not this one",
				Pointer: "/records/2/attributes/name"}}
		}
		return result
	}}
	file := places(t, 5, 5)
	got := run(t.Context(), nil, "ingest", "--url", start(t, f), file, "--json")
	if got.code != 3 || !strings.Contains(got.stdout, `{"type":"reject","line":4,"code":"invalid","pointer":"/name","reason":"not this one","row":{"key":"k2","name":"2","source":"x"}}`) {
		t.Errorf("%d\n%s%s", got.code, got.stdout, got.err)
	}
	text, err := os.ReadFile(file + ".rejected.jsonl")
	if want := `{"line":4,"code":"invalid","pointer":"/name","reason":"not this one","row":{"key":"k2","name":"2","source":"x"}}` + "\n"; err != nil || string(text) != want {
		t.Errorf("%v\n%s", err, text)
	}
}

// An interrupted import continues after the last durable batch, if the data still exists.
func TestIngest_GoesOn(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := &fake{refuse: func(call int, _ http.ResponseWriter) bool {
		if call == 5 {
			cancel()
		}
		return false
	}}
	url, file := start(t, f), places(t, 300, 300)
	got := run(ctx, nil, "ingest", "--url", url, "--batch", "10", file)
	if got.code != 130 || !strings.Contains(got.err, "repeat the command to continue from there") {
		t.Fatalf("interrupted: %d\n%s", got.code, got.err)
	}
	if _, err := os.Stat(bulk.StateName(file)); err != nil {
		t.Fatal(err)
	}
	_, records, _ := f.seen()
	before := len(records)
	if before == 0 || before >= 300 {
		t.Fatalf("%d rows before the interrupt", before)
	}

	// Other flags mean another job: it starts over, and leaves only its own state.
	state, err := os.ReadFile(bulk.StateName(file))
	if err != nil {
		t.Fatal(err)
	}
	if got := run(t.Context(), nil, "ingest", "--url", url, "--dry-run", file); got.code != 0 {
		t.Fatalf("a dry run in between: %d\n%s", got.code, got.err)
	}
	if now, err := os.ReadFile(bulk.StateName(file)); err != nil || string(now) != string(state) {
		t.Errorf("a dry run changed the state: %v %s", err, now)
	}

	got = run(t.Context(), nil, "ingest", "--url", url, "--batch", "10", file)
	if got.code != 0 || !strings.Contains(got.err, "continuing after row") ||
		!strings.Contains(got.stdout, "\t300\t300\t") {
		t.Errorf("going on: %d\n%s%s", got.code, got.stdout, got.err)
	}
	keys := map[string]bool{}
	_, records, _ = f.seen()
	for _, r := range records {
		keys[r.Key] = true
	}
	if len(keys) != 300 {
		t.Errorf("%d of 300 rows arrived", len(keys))
	}
	if len(records) == before+300 {
		t.Error("it began anew")
	}
	if _, err := os.Stat(bulk.StateName(file)); err == nil {
		t.Error("the state of a finished import is still there")
	}

	// The data was replaced: the last record of the state does not exist.
	if err := os.WriteFile(bulk.StateName(file), state, 0o600); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	f.gone, f.records = true, nil
	f.mu.Unlock()
	got = run(t.Context(), nil, "ingest", "--url", url, "--batch", "10", file)
	if _, records, _ := f.seen(); got.code != 0 || len(records) != 300 {
		t.Errorf("after the data was replaced: %d, %d rows\n%s", got.code, len(records), got.err)
	}
}

// An import that is killed before it knows which rows are durable leaves word of that for the next one.
func TestIngest_KilledAtItsBeginning(t *testing.T) {
	t.Parallel()
	file := places(t, 30, 30)
	var state []byte
	f := &fake{refuse: func(int, http.ResponseWriter) bool {
		state, _ = os.ReadFile(bulk.StateName(file))
		return false
	}}
	url := start(t, f)
	done(t, "ingest", "--url", url, file)
	if err := os.WriteFile(bulk.StateName(file), state, 0o600); err != nil || len(state) == 0 {
		t.Fatalf("during the first request the state is %q, %v", state, err)
	}
	if got := done(t, "ingest", "--url", url, file); !strings.Contains(got.err, "all are read again, and those that are stored count as unchanged") {
		t.Errorf("it does not say that it starts again: %s", got.err)
	}
	if _, err := os.Stat(bulk.StateName(file)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a finished import has a state: %v", err)
	}
}

// An import that fails does not report that the file has no rows.
func TestIngest_FailsWithRows(t *testing.T) {
	t.Parallel()
	f := &fake{refuse: func(_ int, w http.ResponseWriter) bool {
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}}
	if got := run(t.Context(), nil, "ingest", "--url", start(t, f), places(t, 3, 3)); got.code == 0 || strings.Contains(got.err, "has no rows") {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}

// A state without counts is valid: the import continues and counts its own work.
func TestIngest_GoesOnWithoutCounts(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := &fake{refuse: func(call int, _ http.ResponseWriter) bool {
		if call == 5 {
			cancel()
		}
		return false
	}}
	url, file := start(t, f), places(t, 300, 300)
	if got := run(ctx, nil, "ingest", "--url", url, "--batch", "10", file); got.code != 130 {
		t.Fatalf("interrupted: %d\n%s", got.code, got.err)
	}
	text, err := os.ReadFile(bulk.StateName(file))
	if err != nil {
		t.Fatal(err)
	}
	var state map[string]any
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatal(err)
	}
	state["counts"] = nil
	if text, err = json.Marshal(state); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bulk.StateName(file), text, 0o600); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"counts":{"created":%v},"file":%q,"format":"CSV with commas, ASCII so far","rows":300,`,
		300-state["rows"].(float64), file)
	if got := run(t.Context(), nil, "ingest", "--url", url, "--batch", "10", "--json", file); got.code != 0 || !strings.Contains(got.stdout, want) {
		t.Errorf("going on: %d\n%s%s, want %s", got.code, got.stdout, got.err, want)
	}
}

func TestIngest_StopsAtWhatCannotBeMended(t *testing.T) {
	t.Parallel()
	f := &fake{refuse: func(call int, w http.ResponseWriter) bool {
		if call > 2 {
			problem(w, http.StatusInsufficientStorage, httpapi.CodeNoRoom)
		}
		return call > 2
	}}
	got := run(t.Context(), nil, "ingest", "--url", start(t, f), "--batch", "10", places(t, 1000, 1000))
	if calls, _, _ := f.seen(); got.code != 6 || calls > 40 {
		t.Errorf("no room: exit code %d after %d requests\n%s", got.code, calls, got.err)
	}

	refusing := &fake{result: func(httpapi.RecordInput) httpapi.PutResult {
		return httpapi.PutResult{Error: &httpapi.Fault{Code: httpapi.CodeInvalid, Detail: "no"}}
	}}
	got = run(t.Context(), nil, "ingest", "--url", start(t, refusing), "--batch", "10", "--max-rejects", "25",
		places(t, 1000, 1000))
	if calls, _, _ := refusing.seen(); got.code != 3 || !strings.Contains(got.err, "--max-rejects 25") || calls > 40 {
		t.Errorf("too many refusals: exit code %d after %d requests\n%s", got.code, calls, got.err)
	}
}

func TestIngest_Limit(t *testing.T) {
	t.Parallel()
	f := &fake{}
	got := run(t.Context(), nil, "ingest", "--url", start(t, f), "--limit", "7", places(t, 100, 100))
	if _, records, _ := f.seen(); got.code != 0 || len(records) != 7 {
		t.Errorf("%d, %d rows\n%s", got.code, len(records), got.err)
	}
}

// A row has the same verdict in an import and a dry run, over HTTP or not, as CSV or JSONL.
func TestIngest_ADryRunJudgesAsAnImportDoes(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	ahead := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	header := []string{"source", "key", "observed_at", "name", "latitude"}
	rows := [][]string{
		{"x", "1", "", "Alpha Books", ""},
		{"X!", "2", "", "Beta Books", ""},
		{"x", " 3", "", "Gamma Books", ""},
		{"x", "4", "yesterday", "Delta Books", ""},
		{"x", "5", ahead, "Epsilon Books", ""},
		{"x", "6", "1969-12-31T23:59:59Z", "Zeta Books", "91"},
		{"x", "7", "2026-01-02T03:04:05Z", "", ""},
		{"x", strings.Repeat("k", 256), "", "Eta Books", ""},
		{"x", "9", "2026-01-02T03:04:05Z", "Theta Books", "41.5"},
	}
	dir := t.TempDir()
	var table, lines strings.Builder
	table.WriteString(strings.Join(header, ",") + "\n")
	for _, row := range rows {
		table.WriteString(strings.Join(row, ",") + "\n")
		object := map[string]string{}
		for i, name := range header {
			object[name] = row[i]
		}
		line, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		lines.WriteString(string(line) + "\n")
	}
	verdicts := map[string][]string{}
	for name, text := range map[string]string{"f.csv": table.String(), "f.jsonl": lines.String()} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, how := range []string{"--dry-run", "--dry-run=false"} {
			got := run(t.Context(), nil, "ingest", how, "--json", "--data", filepath.Join(dir, "data-"+name), file)
			if got.code != 3 {
				t.Fatalf("%s %s: %d\n%s%s", how, name, got.code, got.stdout, got.err)
			}
			for line := range strings.Lines(got.stdout) {
				var r struct {
					Code, Pointer, Reason string
					Row                   struct{ Key string }
				}
				if err := json.Unmarshal([]byte(line), &r); err != nil {
					t.Fatal(err)
				}
				if r.Code != "" {
					verdicts[how+" "+name] = append(verdicts[how+" "+name],
						fmt.Sprintf("%.8s %s %s: %s", r.Row.Key, r.Code, r.Pointer, r.Reason))
				}
			}
		}
	}
	want := verdicts["--dry-run f.csv"]
	if len(want) != 7 {
		t.Errorf("%d rows are refused: %q", len(want), want)
	}
	for how, got := range verdicts {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -dry run of CSV +got:\n%s", how, diff)
		}
	}
	for i, says := range []string{"invalid /source", "invalid /key", "invalid /observed_at", "in_future /observed_at", "invalid /observed_at", "invalid :", "invalid /key"} {
		if !strings.Contains(want[i], says) {
			t.Errorf("refusal %d is %q, want %s", i, want[i], says)
		}
	}
}

// Whether a time is in the future is decided by the clock of the server.
func TestIngest_LeavesTheFutureToTheServer(t *testing.T) {
	t.Parallel()
	f := &fake{}
	file := filepath.Join(t.TempDir(), "f.csv")
	if err := os.WriteFile(file, []byte("source,key,observed_at,name\nx,1,9999-12-31T23:59:59Z,Alpha Books\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t.Context(), nil, "ingest", "--url", start(t, f), file)
	if _, records, _ := f.seen(); got.code != 0 || len(records) != 1 {
		t.Errorf("%d, %d rows sent\n%s%s", got.code, len(records), got.stdout, got.err)
	}
}

// The largest records, some lengthened sixfold by JSON escapes, fit into requests that a server accepts.
func TestIngest_RequestsFit(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	row := `,"name":"Alpha Books","hours":["` + strings.Join(slices.Repeat([]string{strings.Repeat("<", 4000)}, 16),
		`","`) + `"]}`
	var lines strings.Builder
	for i := range 6 {
		fmt.Fprintf(&lines, `{"source":"x","key":"%d"%s`+"\n", i, row)
	}
	file := filepath.Join(dir, "f.jsonl")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t.Context(), nil, "ingest", "--data", filepath.Join(dir, "data"), file)
	if got.code != 0 || !strings.Contains(got.stdout, "\t6\t") {
		t.Errorf("%d\n%s%s", got.code, got.stdout, got.err)
	}
}

// Rows are rejected locally by the rules of the server's kind.
func TestIngest_ChecksBeforeItSends(t *testing.T) {
	t.Parallel()
	f := &fake{}
	file := filepath.Join(t.TempDir(), "f.jsonl")
	long := strings.Repeat("long ", 4000)
	rows := []string{
		`{"source":"x","key":"1","name":"a"}`,
		`{"source":"x","key":"2"}`,
		`{"source":"x","key":"3","name":"a","latitude":"north"}`,
		`{"source":"x","key":"4","name":"a","websites":["https://a.example","ftp://b.example"]}`,
		`{"source":"x","key":"5","name":"a","hours":["` + long + `","` + long + `","` + long + `","` + long + `"]}`,
	}
	if err := os.WriteFile(file, []byte(strings.Join(rows, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t.Context(), nil, "ingest", "--url", start(t, f), file, "--json")
	if _, records, _ := f.seen(); got.code != 3 || len(records) != 1 {
		t.Errorf("%d, %d rows sent\n%s%s", got.code, len(records), got.stdout, got.err)
	}
	for _, want := range []string{
		`"line":2,"code":"invalid","pointer":""`, `"line":3,"code":"invalid","pointer":"/latitude"`,
		`"line":4,"code":"invalid","pointer":"/websites/1"`, `"line":5,"code":"too_large","pointer":""`,
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("it does not say %s:\n%.3000s", want, got.stdout)
		}
	}
}

// A pending record counts as accepted, and the number of pending ones is printed.
func TestIngest_CountsWhatIsPending(t *testing.T) {
	t.Parallel()
	f := &fake{result: func(r httpapi.RecordInput) httpapi.PutResult {
		return httpapi.PutResult{Source: r.Source, Key: r.Key, Outcome: resolve.Created, Pending: r.Key < "k3"}
	}}
	file := places(t, 9, 9)
	got := run(t.Context(), nil, "ingest", "--url", start(t, f), "--source", "s", file)
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	header, row := strings.Split(lines[0], "\t"), strings.Split(lines[len(lines)-1], "\t")
	if got.code != 0 || header[len(header)-1] != "pending" || row[len(row)-1] != "3" || row[2] != "9" ||
		!strings.Contains(got.err, "3 rows are pending") {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.err)
	}
	got = run(t.Context(), nil, "ingest", "--url", start(t, f), "--source", "s", "--json", file)
	if got.code != 0 || !strings.Contains(got.stdout, `"counts":{"created":9,"pending":3}`) {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.err)
	}
}

// Columns that are parts of one value are composed. For two columns of one value the error explains how to choose.
func TestIngest_ComposesWhatIsInParts(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"people.csv":   "source,key,first,last\nx,1,Anna,Schmidt\nx,2,,Meyer\n",
		"people.jsonl": `{"source":"x","key":"1","first":"Anna","last":"Schmidt"}` + "\n" + `{"source":"x","key":"2","last":"Meyer"}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{}
			url, file := start(t, f), filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			got := run(t.Context(), nil, "ingest", "--url", url, file, "--set", "name=first,last")
			if got.code != 2 || !strings.Contains(got.err, "--set 'name={first} {last}'") {
				t.Errorf("%d\n%s", got.code, got.err)
			}
			got = run(t.Context(), nil, "ingest", "--url", url, file, "--set", "name={first} {last}")
			_, records, _ := f.seen()
			var names []string
			for _, r := range records {
				names = append(names, strings.Join(r.Attributes["name"], "|"))
			}
			if diff := cmp.Diff([]string{"Anna Schmidt", "Meyer"}, names); got.code != 0 || diff != "" {
				t.Errorf("%d %s\n%s", got.code, diff, got.err)
			}
		})
	}
}

// A name such as /dev/fd/63 from a shell is a pipe. Reading it for a hint would take rows from the import.
func TestIngest_ReadsAPipeOnce(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/fd/0"); err != nil {
		t.Skip("this system has no /dev/fd")
	}
	f := &fake{}
	url := start(t, f)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	const rows = 20_000 // more than is read at once
	go func() {
		defer in.Close()
		_, _ = in.WriteString("key,name,city\n" + strings.Repeat("1,Blue Door Books,Springfield\n", rows))
	}()
	r := run(t.Context(), nil, "ingest", "--url", url, "--source", "shop", fmt.Sprintf("/dev/fd/%d", out.Fd()))
	if _, got, _ := f.seen(); r.code != 0 || len(got) != rows {
		t.Errorf("exit %d, %d of %d rows: %s", r.code, len(got), rows, r.err)
	}
}

// --yes accepts the whole proposal, in which columns without a meaning are left out. It chooses no key.
func TestIngest_YesLeavesOutWhatMeansNothing(t *testing.T) {
	t.Parallel()
	f := &fake{}
	url := start(t, f)
	file := write(t, "shop.csv", "id,name,colour\n1,Blue Door,red\n2,Corner,green\n")
	ingest := func(file string, more ...string) result {
		return run(t.Context(), nil, append([]string{"ingest", "--url", url, "--source", "shop", file}, more...)...)
	}
	for _, flags := range [][]string{nil, {"--dry-run"}} {
		if r := ingest(file, flags...); r.code != 2 || !strings.Contains(r.err, "\"colour\" is no attribute") || !strings.Contains(r.err, "--yes also leaves it out") {
			t.Errorf("%v: exit %d, %s", flags, r.code, r.err)
		}
	}
	if calls, _, _ := f.seen(); calls > 0 {
		t.Fatal("it imported before the proposal was accepted")
	}
	if r := ingest(file, "--yes"); r.code != 0 || !strings.Contains(r.err, "colour") {
		t.Errorf("exit %d, %s", r.code, r.err)
	}
	_, got, _ := f.seen()
	if len(got) != 2 || got[0].Key != "1" || len(got[0].Attributes) != 1 {
		t.Errorf("%+v", got)
	}
	rare := write(t, "rare.jsonl", `{"id":"1","title":"Blue Door","active":true}`+"\n"+`{"id":"2","title":"Corner"}`+"\n")
	if r := ingest(rare, "--yes"); r.code != 0 {
		t.Errorf("a column of few rows: exit %d, %s", r.code, r.err)
	}
	if r := ingest(write(t, "keyless.csv", "name,colour\nBlue Door,red\nBlue Door,red\n"), "--yes"); r.code != 2 || !strings.Contains(r.err, "there is no column \"key\"") || strings.Contains(r.err[strings.LastIndex(r.err, "locus: "):], "is no attribute") {
		t.Errorf("without a key: exit %d, %s", r.code, r.err)
	}
}

// Once the server has answered the first request, a large file keeps more requests in flight, so that the server's
// groups are large.
func TestIngest_FillsTheServersGroups(t *testing.T) {
	t.Parallel()
	const most, answered, rows = 16, 200, 2320
	full := make(chan struct{})
	release := sync.OnceFunc(func() { close(full) })
	var waiting atomic.Int64
	f := &fake{hold: func(records []httpapi.RecordInput) {
		if row, _ := strconv.Atoi(strings.TrimPrefix(records[0].Key, "k")); row < 10*answered {
			return
		}
		if waiting.Add(1) == most {
			release()
		}
		<-full
	}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stop := context.AfterFunc(ctx, release) // fewer than it should be
	defer stop()
	got := run(ctx, nil, "ingest", "--url", start(t, f), "--batch", "10", places(t, rows, rows))
	if _, records, now := f.seen(); got.code != 0 || now != most || len(records) != rows {
		t.Errorf("%d %s: %d requests at once, want %d; %d rows", got.code, got.err, now, most, len(records))
	}
}
