// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
)

// streamed holds the lines of a stream, and the last of them.
type streamed struct {
	steps []string
	last  map[string]any
}

// lines parses an answer that is a stream.
func lines(a answer) (s streamed) {
	a.Helper()
	if ct := a.Header().Get("Content-Type"); a.Code != http.StatusOK || ct != "application/jsonl" {
		a.Fatalf("%d, content type %q: %s", a.Code, ct, a.Body)
	}
	return readLines(a, a.Body)
}

func readLines(t testing.TB, from io.Reader) (s streamed) {
	t.Helper()
	for in := bufio.NewScanner(from); in.Scan(); {
		s.last = nil
		if err := json.Unmarshal(in.Bytes(), &s.last); err != nil {
			t.Fatalf("%v in %s", err, in.Bytes())
		}
		if !bytes.HasPrefix(in.Bytes(), []byte(`{"type":"`)) {
			t.Errorf("the type is not the first field: %s", in.Bytes())
		}
		if s.last["type"] == httpapi.LineProgress {
			if step := s.last["step"].(string); len(s.steps) == 0 || s.steps[len(s.steps)-1] != step {
				s.steps = append(s.steps, step)
			}
		}
	}
	return s
}

func TestPlan(t *testing.T) {
	t.Parallel()
	f := setup(t, &httpapi.Options{Local: true})
	plan := decode[cell.Plan](f.do(http.MethodPost, "/v1/cells/plan", `{"cells":6}`))
	if plan.Cells != 6 || plan.Generation != 1 || plan.Announced || plan.Starts.IsZero() || plan.Servers[0].After != 8 {
		t.Errorf("%+v", plan)
	}
	p := f.do(http.MethodPost, "/v1/cells/plan", `{"cells":5}`).refused(422, httpapi.CodeInvalid)
	if !strings.Contains(p.Detail, "4, 6, 8 would do") {
		t.Errorf("the reason: %s", p.Detail)
	}
	for body, pointer := range map[string]string{
		`{}`: "/cells", `{"cells":0}`: "/cells", `{"cells":-2}`: "/cells", `{"cells":2.5}`: "/cells",
		`{"cells":"6"}`: "/cells", `{"cells":4294967296}`: "/cells",
		`{"cells":6,"urls":"sqlite:x"}`: "/urls", `{"cells":6,"urls":[7]}`: "/urls/0",
		`{"cells":6,"urls":["sqlite:a","x"]}`:   "/urls/1",
		`{"cells":6,"urls":["postgres://db1"]}`: "/urls/0", `{"cells":6,"urls":["mongodb://db1/x"]}`: "/urls/0",
		`{"cells":6,"urls":["postgres://u:canary@db1/x"]}`:        "/urls/0",
		`{"cells":6,"urls":["postgres://db1/x?password=canary"]}`: "/urls/0", `[]`: "",
	} {
		for _, route := range []string{"/v1/cells/plan", "/v1/cells/grow"} {
			p := f.do(http.MethodPost, route, body).refused(422, httpapi.CodeInvalid)
			if p.Pointer != pointer || strings.Contains(p.Detail, "canary") {
				t.Errorf("%s %s: pointer %q, %s", route, body, p.Pointer, p.Detail)
			}
		}
	}
	f.do(http.MethodPost, "/v1/cells/plan", `{"cells":6,"to":1}`).refused(400, httpapi.CodeUnknownField)
	f.do(http.MethodPost, "/v1/cells/plan", `{"cells":6`).refused(400, httpapi.CodeMalformed)
	if n := f.svc.Cells().Map().Generations(); n != 1 {
		t.Errorf("a plan has left %d generations", n)
	}
}

// TestGrow_IsAStreamThatMayBeRepeated grows, grows again, compacts and moves a cell; existing records are found all the
// time.
func TestGrow_IsAStreamThatMayBeRepeated(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	elsewhere := filepath.ToSlash(t.TempDir())
	f := setupFor(t, &httpapi.Options{Places: []string{"sqlite:" + elsewhere}}, soon)
	before := f.item(joe)
	found := func() {
		t.Helper()
		r := decode[httpapi.Record](f.get("/v1/records/guide/1"))
		e := decode[httpapi.Entity](f.get("/v1/entities/" + before.Entity.String()))
		if r.PUID != before.PUID || r.Entity != before.Entity || e.Records != 1 {
			t.Errorf("the record is %+v, its entity %+v", r, e)
		}
	}
	got := lines(f.do(http.MethodPost, "/v1/cells/grow", `{"cells":6}`))
	steps := strings.Replace(strings.Join(got.steps, " "), " waiting", "", 1) // not if it was announced late
	if want := "created announced current sealed filters"; steps != want {
		t.Errorf("steps %q, want %q", steps, want)
	}
	if got.last["type"] != httpapi.LineResult || got.last["generation"] != 1.0 || got.last["generations"] != 2.0 {
		t.Errorf("result %v", got.last)
	}
	found()
	again := lines(f.do(http.MethodPost, "/v1/cells/grow", `{"cells":6}`))
	if again.last["type"] != httpapi.LineResult || again.last["epoch"].(float64) < got.last["epoch"].(float64) ||
		f.svc.Cells().Map().Generations() != 2 {
		t.Errorf("a second time: %v, %v", again.steps, again.last)
	}
	list := decode[httpapi.CellList](f.get("/v1/cells"))
	for _, c := range list.Cells {
		if want := []cell.KeyState{cell.Sealed, cell.Open}[c.Cell.Gen]; c.Keys != want || c.Filter != (want == cell.Sealed) {
			t.Errorf("%+v", c)
		}
	}
	if ends := decode[httpapi.CellDetail](f.get("/v1/cells/g0-0")).Ends; ends != list.Generations[1].Starts {
		t.Errorf("generation 0 ends at %v, generation 1 starts at %v", ends, list.Generations[1].Starts)
	}

	for _, body := range []string{`{}`, `{"to":0}`, `{"to":2}`} {
		f.do(http.MethodPost, "/v1/cells/compact", body).refused(422, httpapi.CodeInvalid)
	}
	for range 2 {
		got := lines(f.do(http.MethodPost, "/v1/cells/compact", `{"to":1}`))
		if got.last["type"] != httpapi.LineResult || got.last["floor"] != 1.0 {
			t.Errorf("compact: %v, %v", got.steps, got.last)
		}
		found()
	}

	to := "sqlite:" + elsewhere + "/elsewhere.db"
	body, _ := json.Marshal(httpapi.MoveRequest{URL: to})
	for _, step := range []string{"done", "there"} {
		got := lines(f.do(http.MethodPost, "/v1/cells/g0-1/move", string(body)))
		if got.last["type"] != httpapi.LineResult || got.last["step"] != step {
			t.Errorf("move: %v, %v", got.steps, got.last)
		}
		found()
	}
	if c := decode[httpapi.CellDetail](f.get("/v1/cells/g0-1")); c.URL != to || c.Incarnation != 2 || c.Home != cell.Serving {
		t.Errorf("moved: %+v", c.Cell)
	}
	back, _ := json.Marshal(httpapi.MoveRequest{URL: "sqlite:cells/g0-1.db"})
	if p := f.do(http.MethodPost, "/v1/cells/g0-1/move", string(back)).refused(409, httpapi.CodeConflict); !strings.Contains(p.Detail, `"replace": true`) || p.Pointer != "/replace" || strings.Contains(p.Detail, "--replace") {
		t.Errorf("a move to rows that the cell has left: %+v", p)
	}
	f.do(http.MethodPost, "/v1/cells/g0-1/move", `{"url":"sqlite:x.db","replace":1}`).refused(422, httpapi.CodeInvalid)
	f.do(http.MethodPost, "/v1/cells/g9-1/move", string(body)).refused(404, httpapi.CodeNotFound)
	f.do(http.MethodPost, "/v1/cells/nowhere/move", string(body)).refused(422, httpapi.CodeInvalid)
	f.do(http.MethodPost, "/v1/cells/g0-1/move", `{"url":"postgres://u:canary@db1/x"}`).refused(422, httpapi.CodeInvalid)
	f.good()
}

// begun sends a growth over the network and reads until a step.
func (r *running) begun(ctx context.Context, body, step string) (*http.Response, *bufio.Reader) {
	r.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+r.addr+"/v1/cells/grow",
		strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{}}
	r.Cleanup(client.CloseIdleConnections)
	res, err := client.Do(request)
	if err != nil {
		r.Fatal(err)
	}
	in := bufio.NewReader(res.Body)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			r.Fatalf("%v before the step %s: %s", err, step, line)
		}
		if strings.Contains(line, `"step":"`+step+`"`) {
			return res, in
		}
	}
}

// TestGrow_EndsWithTheClient stops a growth while it waits for an hour. Completed steps remain, and the same request
// continues.
func TestGrow_EndsWithTheClient(t *testing.T) {
	t.Parallel()
	r := serveFor(t, httpapi.Options{Linger: -1}, time.Hour)
	for range 2 {
		ctx, leave := context.WithCancel(t.Context())
		res, in := r.begun(ctx, `{"cells":4}`, "waiting")
		leave()
		if _, err := io.Copy(io.Discard, in); !errors.Is(err, context.Canceled) {
			t.Errorf("read on: %v", err)
		}
		res.Body.Close()
		if m := r.svc.Cells().Map(); m.Generations() != 2 || m.Current() != 0 {
			t.Errorf("%d generations, current %d", m.Generations(), m.Current())
		}
	}
	if plan := decode[cell.Plan](r.do(http.MethodPost, "/v1/cells/plan", `{"cells":4}`)); !plan.Announced || plan.Wait < 50*time.Minute {
		t.Errorf("%+v", plan)
	}
	p := r.do(http.MethodPost, "/v1/cells/grow", `{"cells":8}`).refused(409, httpapi.CodeConflict)
	if !strings.Contains(p.Detail, "announced") {
		t.Errorf("another growth meanwhile: %s", p.Detail)
	}
	r.stop()
	if err := r.finished(); err != nil {
		t.Error(err) // a growth still running would be cut off
	}
}

// TestP13_DrainEndsAGrowth stops the server under a waiting growth.
func TestP13_DrainEndsAGrowth(t *testing.T) {
	t.Parallel()
	r := serveFor(t, httpapi.Options{Linger: -1}, time.Hour)
	res, in := r.begun(t.Context(), `{"cells":4}`, "waiting")
	defer res.Body.Close()
	r.stop()
	got := readLines(t, in)
	if got.last["type"] != httpapi.LineError || got.last["code"] != string(httpapi.CodeDraining) ||
		got.last["outcome"] != string(httpapi.NotApplied) || got.last["request_id"] == "" {
		t.Errorf("the last line is %v", got.last)
	}
	if err := r.finished(); err != nil {
		t.Error(err)
	}
}

// TestStream_HasNoEndOfItsOwn runs a growth with a very short request timeout.
func TestStream_HasNoEndOfItsOwn(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	f := setupFor(t, &httpapi.Options{RequestTimeout: time.Nanosecond}, soon)
	if got := lines(f.do(http.MethodPost, "/v1/cells/grow", `{"cells":4}`)); got.last["type"] != httpapi.LineResult {
		t.Errorf("%v", got.last)
	}
}
