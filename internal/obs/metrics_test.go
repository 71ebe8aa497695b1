// SPDX-License-Identifier: Apache-2.0

package obs_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/obs"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/rollups"
	"github.com/locus-db/locus/sink"
)

// text is the response to a scrape.
func text(t testing.TB, m *obs.Metrics) string {
	t.Helper()
	rec := httptest.NewRecorder()
	m.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if rec.Code != http.StatusOK {
		t.Errorf("status %d: %s", rec.Code, rec.Body)
	}
	return rec.Body.String()
}

func status() *cells.Status {
	return &cells.Status{
		Ready: true, Epoch: 3, Queue: 4, Counts: entity.Counts{Records: 10, Entities: 7, Merges: 2, Splits: 1},
		Cells: []cells.CellStatus{
			{Stats: cell.Stats{Cell: cell.ID{}, PUIDs: 6, Bytes: 1 << 40}, Counts: entity.Counts{Records: 6}, Redo: 1},
			{Stats: cell.Stats{Cell: cell.ID{Index: 1}, PUIDs: 4}, Counts: entity.Counts{Records: 4}},
		},
	}
}

func TestMetrics_WhatIsMeasured(t *testing.T) {
	t.Parallel()
	m := obs.NewMetrics()
	m.Records("created", 3)
	m.Records("created", 2)
	m.Request("GET /v1/entities", 200, 3*time.Millisecond)
	m.Request("GET /v1/entities", 200, time.Minute)
	m.Request("GET /v1/entities", 404, 500*time.Microsecond)
	m.Waiting("reads", 1)
	m.Waiting("reads", 1)
	m.Waiting("reads", -1)
	m.Refused("writes")
	m.Batch(resolve.Batched{Ops: 10, Failed: 1, Put: time.Millisecond})
	m.Hits("counted", 7)
	m.HitGroup(counter.Group{Hits: 64, Took: 3 * time.Millisecond})
	m.HitGroup(counter.Group{Hits: 1, Err: errors.New("down")})
	m.Watch(func(context.Context) (*cells.Status, error) { return status(), nil })
	got := text(t, m)
	for _, want := range []string{
		`locus_records_total{outcome="created"} 5`,
		`locus_http_request_seconds_bucket{route="GET /v1/entities",status="200",le="0.0025"} 0`,
		`locus_http_request_seconds_bucket{route="GET /v1/entities",status="200",le="0.005"} 1`,
		`locus_http_request_seconds_bucket{route="GET /v1/entities",status="200",le="10"} 1`,
		`locus_http_request_seconds_bucket{route="GET /v1/entities",status="200",le="+Inf"} 2`,
		`locus_http_request_seconds_sum{route="GET /v1/entities",status="200"} 60.003`,
		`locus_http_request_seconds_count{route="GET /v1/entities",status="200"} 2`,
		`locus_http_request_seconds_bucket{route="GET /v1/entities",status="404",le="0.0005"} 1`,
		`locus_http_waiting_requests{class="reads"} 1`, `locus_http_refused_total{class="writes"} 1`,
		`locus_batch_operations_total{result="done"} 9`, `locus_batch_operations_total{result="failed"} 1`,
		`locus_batch_round_seconds_count{round="put"} 1`,
		`locus_hits_total{outcome="counted"} 7`, `locus_hit_group_size_sum 65`, `locus_hit_group_size_count 2`,
		`locus_hit_group_seconds_bucket{result="done",le="0.005"} 1`, `locus_hit_group_seconds_count{result="failed"} 1`,
		`locus_build_info{commit="",go="` + runtime.Version() + `",version="devel"} 1`, `locus_ready 1`, `locus_insecure 0`,
		`locus_cell_map_epoch 3`, `locus_records 10`, `locus_entities 7`, `locus_merges_total 2`, `locus_splits_total 1`,
		`locus_write_queue_records 4`, `locus_cell_up{cell="g0-0"} 1`, `locus_redo_depth{cell="g0-0"} 1`,
		`locus_redo_depth{cell="g0-1"} 0`, `locus_cell_records{cell="g0-1"} 4`,
		`locus_cell_bytes{cell="g0-0"} 1.099511627776e+12`, `locus_cell_puids_used{cell="g0-0"} 6`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
}

// TestMetrics_Conventions lets the linter of Prometheus read the text: names, units, help, types.
func TestMetrics_Conventions(t *testing.T) {
	t.Parallel()
	m := obs.NewMetrics()
	m.Records("created", 1)
	m.Request("none", 500, time.Second)
	m.Waiting("reads", 1)
	m.Refused("reads")
	m.Batch(resolve.Batched{Ops: 1})
	m.Hits("counted", 1)
	m.HitGroup(counter.Group{Hits: 1})
	m.Watch(func(context.Context) (*cells.Status, error) { return status(), nil })
	got := text(t, m)
	problems, err := promlint.New(strings.NewReader(got)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%+v, %v", problems, err)
	}
	if n := strings.Count(got, "# TYPE locus_"); n != 25 {
		t.Errorf("%d families of Locus", n)
	}
	for _, want := range []string{"go_goroutines ", "go_memstats_heap_alloc_bytes "} {
		if !strings.Contains(got, "\n"+want) {
			t.Errorf("%s is missing", want)
		}
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil && !strings.Contains(got, "\nprocess_resident_memory_bytes ") {
		t.Error("the process is missing")
	}
}

// Figures of a cell that is down are absent and not zero. No sum omits the cell, and no counter decreases.
func TestP01_MetricsSayWhatIsDown(t *testing.T) {
	t.Parallel()
	m := obs.NewMetrics()
	m.Watch(func(context.Context) (*cells.Status, error) {
		s := status()
		s.Counts = s.Cells[0].Counts
		s.Cells[1] = cells.CellStatus{Stats: cell.Stats{Cell: cell.ID{Index: 1}}, Down: true}
		return s, nil
	})
	got := text(t, m)
	for _, want := range []string{`locus_cell_up{cell="g0-0"} 1`, `locus_cell_up{cell="g0-1"} 0`, `locus_cell_records{cell="g0-0"} 6`, `locus_cell_map_epoch 3`, `locus_write_queue_records 4`} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
	for _, unknown := range []string{"locus_records ", "locus_entities ", "locus_merges_total ", "locus_splits_total ", `locus_redo_depth{cell="g0-1"}`, `locus_cell_records{cell="g0-1"}`, `locus_cell_bytes{cell="g0-1"}`, `locus_cell_puids_used{cell="g0-1"}`} {
		if strings.Contains(got, "\n"+unknown) {
			t.Errorf("%s is told, and is not known", unknown)
		}
	}
}

func TestMetrics_EachIsOnItsOwn(t *testing.T) {
	t.Parallel()
	a, b := obs.NewMetrics(), obs.NewMetrics()
	a.Refused("reads")
	if got := text(t, b); strings.Contains(got, "locus_http_refused_total") {
		t.Errorf("what happened elsewhere is counted:\n%s", got)
	}
	for range 2 { // a second call replaces the function
		a.Watch(func(context.Context) (*cells.Status, error) { return status(), nil })
	}
	if got := text(t, a); !strings.Contains(got, "\nlocus_ready 1\n") {
		t.Error(got)
	}
}

func TestMetrics_Rollups(t *testing.T) {
	t.Parallel()
	m := obs.NewMetrics()
	if got := text(t, m); strings.Contains(got, "locus_rollup_") {
		t.Errorf("known without having asked:\n%s", got)
	}
	m.WatchRollups(func(context.Context) ([]rollups.Status, int64, error) {
		all := []rollups.Status{
			{Name: "by-city", State: rollups.Following, Groups: 12, Lag: 1500 * time.Millisecond},
			{Name: "by-tag", State: rollups.Failed, Groups: 3},
		}
		all = append(all, rollups.Status{Name: "in-part", State: rollups.Partial, Groups: 3})
		for i := range 500 {
			all = append(all, rollups.Status{Name: fmt.Sprintf("x%03d", i)})
		}
		return all, 42, nil
	})
	got := text(t, m)
	for _, want := range []string{
		`locus_rollup_lag_seconds{rollup="by-city"} 1.5`, `locus_rollup_groups{rollup="by-city"} 12`,
		`locus_rollup_failed{rollup="by-city"} 0`,
		`locus_rollup_failed{rollup="by-tag"} 1`, `locus_rollup_applied_changes_total 42`,
		`locus_rollup_groups{rollup="x196"} 0`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(got, `"in-part"`) {
		t.Error("a rollup is told without a cell that is down")
	}
	if strings.Contains(got, `"x198"`) {
		t.Error("more rollups are told than may be")
	}
	if problems, err := promlint.New(strings.NewReader(got)).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("%+v, %v", problems, err)
	}
	m.WatchRollups(func(context.Context) ([]rollups.Status, int64, error) { return nil, 43, errors.New("down") })
	if got := text(t, m); !strings.Contains(got, "locus_rollup_applied_changes_total 43\n") || strings.Contains(got, "locus_rollup_groups") {
		t.Errorf("%s", got)
	}
}

func TestMetrics_Sinks(t *testing.T) {
	t.Parallel()
	m := obs.NewMetrics()
	m.WatchSinks(func() map[string]sink.Stats {
		return map[string]sink.Stats{"hook": {Running: true, Lag: 1500 * time.Millisecond, Dead: 2, Delivered: 7, Failed: 3},
			"other": {Delivered: 4}}
	})
	got := text(t, m)
	for _, want := range []string{
		`locus_sink_lag_seconds{sink="hook"} 1.5`, `locus_sink_dead{sink="hook"} 2`, `locus_sink_events_total{sink="hook"} 7`,
		`locus_sink_errors_total{sink="hook"} 3`, `locus_sink_events_total{sink="other"} 4`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(got, `locus_sink_lag_seconds{sink="other"}`) ||
		strings.Contains(got, `locus_sink_dead{sink="other"}`) {
		t.Error("a process tells the lag of a sink that another one delivers to")
	}
	if problems, err := promlint.New(strings.NewReader(got)).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("%+v, %v", problems, err)
	}
}

func TestMetrics_OldFiguresNeverPassForNew(t *testing.T) {
	t.Parallel()
	m := obs.NewMetrics()
	if got := text(t, m); strings.Contains(got, "locus_ready") {
		t.Errorf("ready without having asked:\n%s", got)
	}
	m.Watch(func(context.Context) (*cells.Status, error) { return nil, errors.New("down") })
	if got := text(t, m); !strings.Contains(got, "\nlocus_ready 0\n") || strings.Contains(got, "locus_entities") {
		t.Errorf("%s", got)
	}
	m.Watch(func(context.Context) (*cells.Status, error) { return &cells.Status{Reason: "cell"}, nil })
	if got := text(t, m); !strings.Contains(got, "\nlocus_ready 0\n") || !strings.Contains(got, "\nlocus_entities 0\n") {
		t.Errorf("%s", got)
	}
}

func TestMetrics_ManyAtOnce(t *testing.T) {
	t.Parallel()
	m := obs.NewMetrics()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 500 {
				m.Records(fmt.Sprint("outcome", (i+j)%3), 1)
				m.Request("route", 200+j%2, time.Duration(j))
				if j%100 == 0 {
					text(t, m)
				}
			}
		})
	}
	wg.Wait()
	got := text(t, m)
	for _, want := range []string{`locus_http_request_seconds_count{route="route",status="200"} 2000`, `locus_http_request_seconds_count{route="route",status="201"} 2000`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	m := obs.NewMetrics()
	b.ReportAllocs()
	for b.Loop() {
		m.Request("GET /v1/entities/{id}", 200, time.Millisecond)
	}
}

func Example() {
	m := obs.NewMetrics()
	m.Records("matched", 2)
	rec := httptest.NewRecorder()
	m.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(rec.Body.String()) {
		if strings.Contains(line, "locus_records_total") {
			fmt.Fprint(os.Stdout, line)
		}
	}
	// Output:
	// # HELP locus_records_total Records received over HTTP, by what became of them.
	// # TYPE locus_records_total counter
	// locus_records_total{outcome="matched"} 2
}

// The metrics about database servers, logs of cells, backups and the audit log.
func TestMetrics_Resources(t *testing.T) {
	t.Parallel()
	m := obs.NewMetrics()
	s := status()
	for i := range s.Cells {
		s.Cells[i].WAL = 4096
		s.Cells[i].Pool = cell.Pool{Server: "db1:5432", Budget: 64, Open: 10, Idle: 3, Waiting: 2}
	}
	m.Watch(func(context.Context) (*cells.Status, error) { return s, nil })
	m.WatchAudit(func() int64 { return 5 })
	if got := text(t, m); strings.Contains(got, "locus_backup_age_seconds") {
		t.Error("no backup is known")
	}
	last := time.Time{}
	m.WatchBackup(func(context.Context) (time.Time, error) { return last, nil })
	if got := text(t, m); strings.Contains(got, "locus_backup_age_seconds") {
		t.Error("no backup was made")
	}
	last = time.Now().Add(-time.Hour)
	got := text(t, m)
	for _, want := range []string{
		`locus_connections{server="db1:5432"} 7`, `locus_connections_budget{server="db1:5432"} 64`,
		`locus_connections_waiting{server="db1:5432"} 2`,
		`locus_cell_wal_bytes{cell="g0-0"} 4096`, `locus_audit_failures_total 5`, `locus_backup_age_seconds 36`,
	} {
		if !strings.Contains(got, "\n"+want) {
			t.Errorf("%s is missing", want)
		}
	}
	if problems, err := promlint.New(strings.NewReader(got)).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("%+v, %v", problems, err)
	}
}

func TestMetrics_Line(t *testing.T) {
	t.Parallel()
	m := obs.NewMetrics()
	if got := text(t, m); strings.Contains(got, "locus_tls_expires_seconds") {
		t.Error("there is no certificate")
	}
	m.WatchCertificate(func() time.Time { return time.Now().Add(time.Hour) })
	m.Insecure()
	got := text(t, m)
	if !strings.Contains(got, "\nlocus_tls_expires_seconds 3") || !strings.Contains(got, "\nlocus_insecure 1\n") {
		t.Error(got)
	}
}
