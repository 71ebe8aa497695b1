// SPDX-License-Identifier: Apache-2.0

package obs

// Signal is one thing to watch: a panel of the dashboard, and the alerts about it.
type Signal struct {
	Row, Title string
	Unit       string // of Grafana
	Queries    []Query
	Alerts     []Alert
}

// Query is a PromQL expression and the legend of its series.
type Query struct{ Expr, Legend string }

// Alert is a rule that fires while its expression has a result. Each has a section of docs/operations.md named after
// it.
type Alert struct {
	Name     string
	Expr     string
	For      string // how long the expression must hold
	Severity string // page: act now; ticket: act within days
	Summary  string
}

// The severities.
const (
	page   = "page"
	ticket = "ticket"
)

// slowRoutes are routes whose requests stay open on purpose.
const slowRoutes = `{route!~".*(follow|changes|events|backup|dump|export).*"}`

// Signals are all things to watch, in the order of the dashboard, from which Dashboard and Alerts are made.
var Signals = []Signal{
	{"State", "Ready", "none", []Query{{`min by (instance) (locus_ready)`, "{{instance}}"}}, []Alert{
		{"LocusDown", `up{job="locus"} == 0`, "1m", page, "{{ $labels.instance }} cannot be scraped."},
		{"LocusNotReady", `locus_ready == 0`, "2m", page, "{{ $labels.instance }} is not ready."},
	}},
	{"State", "Cells that answer", "none", []Query{{`sum by (instance) (locus_cell_up)`, "{{instance}}"}}, []Alert{
		{"LocusCellDown", `min by (cell) (locus_cell_up) == 0`, "5m", page, "Cell {{ $labels.cell }} does not answer."},
	}},
	{"State", "End of the cell map", "s", []Query{{`locus_cell_map_until_seconds`, "{{instance}}"}, {`changes(locus_cell_map_epoch[5m])`, "changes {{instance}}"}}, []Alert{
		{"LocusMapEnds", `locus_cell_map_until_seconds < 10`, "2m", page,
			"The cell map of {{ $labels.instance }} is not extended: new records will be refused."},
	}},
	{"State", "Certificate", "s", []Query{{`locus_tls_expires_seconds`, "{{instance}}"}}, []Alert{
		{"LocusCertificateEnds", `locus_tls_expires_seconds < 1209600`, "1h", ticket,
			"The certificate of {{ $labels.instance }} ends in {{ $value | humanizeDuration }}."},
	}},
	{"State", "Without tokens", "none", []Query{{`locus_insecure`, "{{instance}}"}}, []Alert{
		{"LocusInsecure", `locus_insecure == 1`, "1h", ticket,
			"{{ $labels.instance }} can be used by the network without tokens."},
	}},
	{"State", "Failures of the audit log", "none", []Query{{`increase(locus_audit_failures_total[15m])`, "{{instance}}"}}, []Alert{
		{"LocusAuditFails", `increase(locus_audit_failures_total[15m]) > 0`, "1m", page,
			"{{ $labels.instance }} cannot write the audit log: actions that it has to record are refused."},
	}},
	{"State", "Builds", "none", []Query{{`count by (version) (locus_build_info)`, "{{version}}"}}, nil},

	{"Requests", "Requests a second", "reqps", []Query{{`sum by (status) (rate(locus_http_request_seconds_count[5m]))`, "{{status}}"}}, []Alert{
		{
			"LocusErrors", `sum(rate(locus_http_request_seconds_count{status=~"5.."}[5m])) / sum(rate(locus_http_request_seconds_count[5m])) > 0.01`, "5m", page,
			"{{ $value | humanizePercentage }} of the requests fail.",
		},
	}},
	{"Requests", "Latency, p50 and p99", "s", []Query{
		{`histogram_quantile(0.5, sum by (le) (rate(locus_http_request_seconds_bucket` + slowRoutes + `[5m])))`, "p50"},
		{`histogram_quantile(0.99, sum by (le) (rate(locus_http_request_seconds_bucket` + slowRoutes + `[5m])))`, "p99"},
	}, []Alert{
		{
			"LocusSlow", `histogram_quantile(0.99, sum by (le) (rate(locus_http_request_seconds_bucket` + slowRoutes + `[5m]))) > 2`, "10m", ticket,
			"One request in a hundred takes {{ $value | humanizeDuration }}.",
		},
	}},
	{"Requests", "Waiting for admission", "none",
		[]Query{{`sum by (class) (locus_http_waiting_requests)`, "{{class}}"}}, nil},
	{"Requests", "Refused a second", "reqps", []Query{{`sum by (class) (rate(locus_http_refused_total[5m]))`, "{{class}}"}}, []Alert{
		{"LocusRefuses", `sum by (class) (rate(locus_http_refused_total[5m])) > 0.1`, "5m", page,
			"Requests are refused: {{ $labels.class }}."},
	}},

	{"Writes", "Records a second", "wps",
		[]Query{{`sum by (outcome) (rate(locus_records_total[5m]))`, "{{outcome}}"}}, nil},
	{"Writes", "Committed and failed", "wps", []Query{{`sum by (result) (rate(locus_batch_operations_total[5m]))`, "{{result}}"}}, []Alert{
		{"LocusWritesFail", `sum(rate(locus_batch_operations_total{result="failed"}[5m])) > 0.1`, "5m", page,
			"Puts and deletions fail."},
	}},
	{"Writes", "Time of a round, p99", "s",
		[]Query{{`histogram_quantile(0.99, sum by (le, round) (rate(locus_batch_round_seconds_bucket[5m])))`, "{{round}}"}},
		nil},
	{"Writes", "Queue", "none", []Query{{`locus_write_queue_records`, "{{instance}}"}}, []Alert{
		{"LocusQueueStays", `min_over_time(locus_write_queue_records[10m]) > 100`, "5m", ticket,
			"Records have waited to be written at {{ $labels.instance }} for ten minutes."},
	}},
	{"Writes", "Not resolved yet", "none", []Query{{`max by (cell) (locus_redo_depth)`, "{{cell}}"}}, []Alert{
		{"LocusRedoGrows", `sum by (instance) (delta(locus_redo_depth[10m])) > 0 and sum by (instance) (min_over_time(locus_redo_depth[10m])) > 0`, "10m", page, "Records are stored faster than they are resolved, or a cell fails."},
	}},

	{"Data", "Records and entities", "short",
		[]Query{{`max(locus_records)`, "records"}, {`max(locus_entities)`, "entities"}}, nil},
	{"Data", "Merges and splits a second", "ops",
		[]Query{{`max(rate(locus_merges_total[5m]))`, "merges"}, {`max(rate(locus_splits_total[5m]))`, "splits"}}, nil},
	{"Data", "Records of a cell", "short", []Query{{`max by (cell) (locus_cell_records)`, "{{cell}}"}}, nil},
	{"Data", "Size of a cell", "bytes", []Query{{`max by (cell) (locus_cell_bytes)`, "{{cell}}"}}, nil},
	{"Data", "Write-ahead log of a cell", "bytes", []Query{{`max by (cell) (locus_cell_wal_bytes)`, "{{cell}}"}}, []Alert{
		{"LocusLogGrows", `max by (cell) (locus_cell_wal_bytes) > 268435456`, "15m", ticket,
			"The write-ahead log of cell {{ $labels.cell }} has {{ $value | humanize1024 }}B: something reads an old snapshot."},
	}},
	{"Data", "Age of the last backup", "s", []Query{{`min(locus_backup_age_seconds)`, "age"}}, []Alert{
		{"LocusBackupOld", `min(locus_backup_age_seconds) > 129600`, "1h", ticket,
			"The last backup is {{ $value | humanizeDuration }} old."},
	}},
	{"Data", "Puids used", "percentunit", []Query{{`max by (cell) (locus_cell_puids_used / locus_cell_puids_room)`, "{{cell}}"}}, []Alert{
		{"LocusNumbersEnd", `max by (cell) (locus_cell_puids_used / locus_cell_puids_room) > 0.8`, "1h", ticket,
			"Cell {{ $labels.cell }} has given away {{ $value | humanizePercentage }} of its numbers."},
	}},

	{"Databases", "Connections in use", "none", []Query{{`sum by (server) (locus_connections)`, "{{server}}"}, {`sum by (server) (locus_connections_budget)`, "budget {{server}}"}}, []Alert{
		{"LocusConnectionsEnd", `min_over_time((locus_connections / locus_connections_budget)[10m:1m]) > 0.9`, "5m", ticket, "{{ $labels.instance }} has used {{ $value | humanizePercentage }} of its connections to {{ $labels.server }} for ten minutes."},
	}},
	{"Databases", "Waiting for a connection", "none",
		[]Query{{`sum by (server) (locus_connections_waiting)`, "{{server}}"}}, nil},

	{"Rollups", "Lag", "s", []Query{{`max by (rollup) (locus_rollup_lag_seconds)`, "{{rollup}}"}}, []Alert{
		{"LocusRollupBehind", `max by (rollup) (locus_rollup_lag_seconds) > 300`, "10m", ticket,
			"Rollup {{ $labels.rollup }} is {{ $value | humanizeDuration }} behind."},
		{"LocusRollupFailed", `max by (rollup) (locus_rollup_failed) == 1`, "5m", ticket,
			"Rollup {{ $labels.rollup }} cannot go on."},
	}},
	{"Rollups", "Changes counted a second", "ops",
		[]Query{{`sum(rate(locus_rollup_applied_changes_total[5m]))`, "changes"}}, nil},
	{"Rollups", "Groups", "short", []Query{{`max by (rollup) (locus_rollup_groups)`, "{{rollup}}"}}, nil},

	{"Hits", "Hits a second", "ops", []Query{{`sum by (outcome) (rate(locus_hits_total[5m]))`, "{{outcome}}"}}, nil},
	{"Hits", "Time of a commit, p99", "s", []Query{{`histogram_quantile(0.99, sum by (le, result) (rate(locus_hit_group_seconds_bucket[5m])))`, "{{result}}"}}, []Alert{
		{"LocusHitsFail", `sum(rate(locus_hit_group_seconds_count{result="failed"}[5m])) > 0`, "5m", page,
			"Commits of hits fail."},
	}},
	{"Hits", "Hits in a commit", "short",
		[]Query{{`sum(rate(locus_hit_group_size_sum[5m])) / sum(rate(locus_hit_group_size_count[5m]))`, "mean"}}, nil},

	{"Streams", "Lag of sinks", "s", []Query{{`max by (sink) (locus_sink_lag_seconds)`, "{{sink}}"}}, []Alert{
		{"LocusSinkBehind", `max by (sink) (locus_sink_lag_seconds) > 600`, "10m", ticket,
			"Sink {{ $labels.sink }} is {{ $value | humanizeDuration }} behind, and the logs are kept for it."},
	}},
	{"Streams", "Events delivered and failed a second", "ops", []Query{{`sum by (sink) (rate(locus_sink_events_total[5m]))`, "{{sink}}"}, {`sum by (sink) (rate(locus_sink_errors_total[5m]))`, "failed {{sink}}"}}, nil},
	{"Streams", "Messages behind", "short", []Query{{`max by (source) (locus_source_lag_messages)`, "{{source}}"}}, []Alert{
		{"LocusSourceFails", `max by (source) (locus_source_failing) == 1`, "5m", ticket,
			"The stream of {{ $labels.source }} cannot be read."},
	}},
	{"Streams", "Records from streams a second", "ops",
		[]Query{{`sum by (source) (rate(locus_source_records_total[5m]))`, "{{source}}"}}, nil},
	{"Streams", "Dead letters", "short", []Query{{`max by (sink) (locus_sink_dead)`, "to {{sink}}"}, {`max by (source) (locus_source_dead)`, "from {{source}}"}}, []Alert{
		{"LocusSinkDeadLetters", `max by (sink) (locus_sink_dead) > 0`, "1m", ticket,
			"Sink {{ $labels.sink }} has {{ $value }} dead letters."},
		{"LocusSourceDeadLetters", `max by (source) (locus_source_dead) > 0`, "1m", ticket,
			"The stream of {{ $labels.source }} has {{ $value }} dead letters."},
	}},

	{"Process", "Processor", "percentunit",
		[]Query{{`rate(process_cpu_seconds_total{job="locus"}[5m])`, "{{instance}}"}}, nil},
	{"Process", "Memory", "bytes", []Query{{`process_resident_memory_bytes{job="locus"}`, "{{instance}}"},
		{`go_memstats_heap_inuse_bytes{job="locus"}`, "heap {{instance}}"}}, nil},
	{"Process", "Open files", "none", []Query{{`process_open_fds{job="locus"}`, "{{instance}}"}}, []Alert{
		{"LocusFilesEnd", `process_open_fds{job="locus"} / process_max_fds{job="locus"} > 0.8`, "5m", ticket,
			"{{ $labels.instance }} has {{ $value | humanizePercentage }} of its files open."},
	}},
	{"Process", "Goroutines", "none", []Query{{`go_goroutines{job="locus"}`, "{{instance}}"}}, nil},
}
