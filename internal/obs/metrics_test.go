// SPDX-License-Identifier: Apache-2.0

package obs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/obs"
	"github.com/locus-db/locus/resolve"
)

func text(t *testing.T, m *obs.Metrics) string {
	t.Helper()
	var b strings.Builder
	if err := m.Write(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func status() *locus.Status {
	return &locus.Status{
		Ready: true, Epoch: 3, Queue: 4, Counts: entity.Counts{Records: 10, Entities: 7, Merges: 2, Splits: 1},
		Cells: []locus.CellStatus{
			{Stats: cell.Stats{Cell: cell.ID{}, PUIDs: 6, Bytes: 1 << 40}, Counts: entity.Counts{Records: 6}, Redo: 1},
			{Stats: cell.Stats{Cell: cell.ID{Index: 1}, PUIDs: 4}, Counts: entity.Counts{Records: 4}},
		},
	}
}

func TestMetrics_WhatIsMeasured(t *testing.T) {
	t.Parallel()
	m := obs.NewMetrics()
	m.Records("founded", 3)
	m.Records("founded", 2)
	m.Request("GET /v1/entities", 200, 3*time.Millisecond)
	m.Request("GET /v1/entities", 200, time.Minute)
	m.Request("GET /v1/entities", 404, 500*time.Microsecond)
	m.Waiting("reads", 1)
	m.Waiting("reads", 1)
	m.Waiting("reads", -1)
	m.Refused("writes")
	m.Batch(resolve.Batched{Ops: 10, Failed: 1, Put: time.Millisecond})
	m.Watch(func(context.Context) (*locus.Status, error) { return status(), nil })
	got := text(t, m)
	for _, want := range []string{
		`locus_records_total{outcome="founded"} 5`,
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
		`locus_ready 1`, `locus_cell_map_epoch 3`, `locus_records 10`, `locus_entities 7`, `locus_merges_total 2`, `locus_splits_total 1`,
		`locus_write_queue_records 4`, `locus_redo_depth{cell="g0-0"} 1`, `locus_redo_depth{cell="g0-1"} 0`, `locus_cell_records{cell="g0-1"} 4`,
		`locus_cell_bytes{cell="g0-0"} 1.099511627776e+12`, `locus_cell_puids_used{cell="g0-0"} 6`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
}

var (
	sampleLine = regexp.MustCompile(`^([a-z_]+?)(_bucket|_sum|_count)?(\{([a-z]+="([^"\\\n]|\\[\\"n])*",?)+\})? (\+Inf|-?[0-9.e+-]+)$`)
	typeLine   = regexp.MustCompile(`^# TYPE ([a-z_]+) (counter|gauge|histogram)$`)
	helpLine   = regexp.MustCompile(`^# HELP ([a-z_]+) .+\.$`)
)

// TestMetrics_Format reads the text as a scraper would: each family is announced once, before its
// samples, and a counter says so in its name.
func TestMetrics_Format(t *testing.T) {
	t.Parallel()
	m := obs.NewMetrics()
	m.Records("quote\"back\\slash\nline", 1)
	m.Request("none", 500, time.Second)
	m.Watch(func(context.Context) (*locus.Status, error) { return status(), nil })
	families, current := map[string]string{}, ""
	for line := range strings.SplitSeq(strings.TrimSuffix(text(t, m), "\n"), "\n") {
		if h := helpLine.FindStringSubmatch(line); h != nil {
			current = h[1]
			continue
		}
		if k := typeLine.FindStringSubmatch(line); k != nil {
			if k[1] != current || families[k[1]] != "" {
				t.Errorf("%q stands alone or twice", line)
			}
			if k[2] == "counter" != strings.HasSuffix(k[1], "_total") {
				t.Errorf("%q: its name says otherwise", line)
			}
			families[k[1]] = k[2]
			continue
		}
		s := sampleLine.FindStringSubmatch(line)
		if s == nil {
			t.Errorf("not a sample: %q", line)
			continue
		}
		if name := s[1]; name != current && name+s[2] != current {
			t.Errorf("%q stands under %s", line, current)
		}
	}
	if len(families) < 15 {
		t.Errorf("%d families", len(families))
	}
}

func TestMetrics_OldFiguresNeverPassForNew(t *testing.T) {
	t.Parallel()
	m := obs.NewMetrics()
	if got := text(t, m); strings.Contains(got, "locus_ready") {
		t.Errorf("ready without having asked:\n%s", got)
	}
	m.Watch(func(context.Context) (*locus.Status, error) { return nil, errors.New("down") })
	if got := text(t, m); !strings.Contains(got, "\nlocus_ready 0\n") || strings.Contains(got, "locus_entities") {
		t.Errorf("%s", got)
	}
	m.Watch(func(context.Context) (*locus.Status, error) { return &locus.Status{Reason: "cell"}, nil })
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
					var b strings.Builder
					if err := m.Write(context.Background(), &b); err != nil {
						t.Error(err)
					}
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
	m.Records("joined", 2)
	var b strings.Builder
	if err := m.Write(context.Background(), &b); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Fprintln(os.Stdout, strings.Join(strings.SplitN(b.String(), "\n", 4)[:3], "\n"))
	// Output:
	// # HELP locus_records_total Records received over HTTP, by what became of them.
	// # TYPE locus_records_total counter
	// locus_records_total{outcome="joined"} 2
}
