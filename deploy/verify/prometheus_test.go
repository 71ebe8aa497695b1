// SPDX-License-Identifier: Apache-2.0

package verify_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"sigs.k8s.io/yaml"
)

// read returns a file of deploy.
func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile("../" + path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func rules(t *testing.T) []rule {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string `json:"name"`
			Rules []rule `json:"rules"`
		} `json:"groups"`
	}
	if err := yaml.UnmarshalStrict(read(t, "prometheus/alerts.yaml"), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Groups) != 1 || len(file.Groups[0].Rules) < 15 {
		t.Fatalf("%+v", file)
	}
	return file.Groups[0].Rules
}

// Prometheus' own parser accepts every expression of the alerts and the dashboard.
func TestPrometheus_Parses(t *testing.T) {
	t.Parallel()
	p := parser.NewParser(parser.Options{})
	for _, r := range rules(t) {
		if e, err := p.ParseExpr(r.Expr); err != nil || e.Type() != parser.ValueTypeVector {
			t.Errorf("%s: %s: %v", r.Alert, r.Expr, err)
		}
		if _, err := time.ParseDuration(r.For); err != nil {
			t.Errorf("%s: %v", r.Alert, err)
		}
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(read(t, "grafana/locus.json"), &dashboard); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, panel := range dashboard.Panels {
		for _, q := range panel.Targets {
			seen++
			if _, err := p.ParseExpr(q.Expr); err != nil {
				t.Errorf("%s: %s: %v", panel.Title, q.Expr, err)
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d expressions were looked at", seen)
	}
}

// samples are series for each alert, a value a minute for half an hour: one set with which it has to fire, one with
// which it must not.
var samples = map[string]struct{ fires, silent string }{
	"LocusDown":            {`up{job="locus"} 0x30`, `up{job="locus"} 1x30`},
	"LocusNotReady":        {`locus_ready 0x30`, `locus_ready 1x30`},
	"LocusCellDown":        {`locus_cell_up{cell="g1-3"} 0x30`, `locus_cell_up{cell="g1-3"} 1x30`},
	"LocusMapEnds":         {`locus_cell_map_until_seconds 5x30`, `locus_cell_map_until_seconds 31x30`},
	"LocusCertificateEnds": {`locus_tls_expires_seconds 86400x30`, `locus_tls_expires_seconds 2592000x30`},
	"LocusInsecure":        {`locus_insecure 1x30`, `locus_insecure 0x30`},
	"LocusErrors": {
		"locus_http_request_seconds_count{status=\"500\"} 0+2x30\n locus_http_request_seconds_count{status=\"200\"} 0+98x30",
		"locus_http_request_seconds_count{status=\"500\"} 0+1x30\n locus_http_request_seconds_count{status=\"200\"} 0+999x30",
	},
	"LocusSlow": {
		"locus_http_request_seconds_bucket{route=\"GET /v1/entities\",le=\"1\"} 0+90x30\n locus_http_request_seconds_bucket{route=\"GET /v1/entities\",le=\"10\"} 0+100x30\n locus_http_request_seconds_bucket{route=\"GET /v1/entities\",le=\"+Inf\"} 0+100x30",
		"locus_http_request_seconds_bucket{route=\"GET /v1/changes\",le=\"1\"} 0+90x30\n locus_http_request_seconds_bucket{route=\"GET /v1/changes\",le=\"10\"} 0+100x30\n locus_http_request_seconds_bucket{route=\"GET /v1/changes\",le=\"+Inf\"} 0+100x30",
	},
	"LocusRefuses": {`locus_http_refused_total{class="writes"} 0+60x30`,
		`locus_http_refused_total{class="writes"} 7x30`},
	"LocusWritesFail": {`locus_batch_operations_total{result="failed"} 0+60x30`,
		`locus_batch_operations_total{result="done"} 0+60x30`},
	"LocusQueueStays": {`locus_write_queue_records 500x30`, `locus_write_queue_records 500x20 0 500x10`},
	"LocusRedoGrows":  {`locus_redo_depth{cell="g1-3"} 10+10x30`, `locus_redo_depth{cell="g1-3"} 900-10x30`},
	"LocusAuditFails": {`locus_audit_failures_total 0+1x30`, `locus_audit_failures_total 7x30`},
	"LocusBackupOld":  {`locus_backup_age_seconds 130000+60x90`, `locus_backup_age_seconds 80000+60x90`},
	"LocusLogGrows": {`locus_cell_wal_bytes{cell="g1-3"} 300000000x30`,
		`locus_cell_wal_bytes{cell="g1-3"} 30000000x30`},
	"LocusConnectionsEnd": {"locus_connections{server=\"db1\"} 64x30\n locus_connections_budget{server=\"db1\"} 64x30",
		"locus_connections{server=\"db1\"} 30x30\n locus_connections_budget{server=\"db1\"} 64x30"},
	"LocusNumbersEnd": {"locus_cell_puids_used{cell=\"g1-3\"} 90x30\n locus_cell_puids_room{cell=\"g1-3\"} 100x30",
		"locus_cell_puids_used{cell=\"g1-3\"} 70x30\n locus_cell_puids_room{cell=\"g1-3\"} 100x30"},
	"LocusRollupBehind": {`locus_rollup_lag_seconds{rollup="r"} 301x30`, `locus_rollup_lag_seconds{rollup="r"} 5x30`},
	"LocusRollupFailed": {`locus_rollup_failed{rollup="r"} 1x30`, `locus_rollup_failed{rollup="r"} 0x30`},
	"LocusHitsFail": {`locus_hit_group_seconds_count{result="failed"} 0+1x30`,
		`locus_hit_group_seconds_count{result="done"} 0+1x30`},
	"LocusSinkBehind":        {`locus_sink_lag_seconds{sink="s"} 601x30`, `locus_sink_lag_seconds{sink="s"} 5x30`},
	"LocusSourceFails":       {`locus_source_failing{source="s"} 1x30`, `locus_source_failing{source="s"} 0x30`},
	"LocusSinkDeadLetters":   {`locus_sink_dead{sink="s"} 1x30`, `locus_sink_dead{sink="s"} 0x30`},
	"LocusSourceDeadLetters": {`locus_source_dead{source="s"} 1x30`, `locus_source_dead{source="s"} 0x30`},
	"LocusFilesEnd": {"process_open_fds{job=\"locus\"} 90x30\n process_max_fds{job=\"locus\"} 100x30",
		"process_open_fds{job=\"locus\"} 10x30\n process_max_fds{job=\"locus\"} 100x30"},
}

// Prometheus' own engine fires each alert for series like those of the trouble, and not for those of a healthy server.
func TestPrometheus_AlertsFire(t *testing.T) {
	t.Parallel()
	engine := promqltest.NewTestEngine(t, false, 5*time.Minute, 10000)
	for _, r := range rules(t) {
		of, ok := samples[r.Alert]
		if !ok {
			t.Errorf("%s: there are no series to try it with", r.Alert)
			continue
		}
		for series, want := range map[string]bool{of.fires: true, of.silent: false} {
			storage := promqltest.LoadedStorage(t, "load 1m\n "+series+"\n")
			q, err := engine.NewInstantQuery(t.Context(), storage, nil, r.Expr, time.Unix(0, 0).Add(25*time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			result := q.Exec(t.Context())
			vector, err := result.Vector()
			if err != nil || len(vector) > 0 != want {
				t.Errorf("%s: %v, %v; fires is to be %v with\n%s", r.Alert, vector, err, want, series)
			}
			q.Close()
			_ = storage.Close()
		}
	}
}
