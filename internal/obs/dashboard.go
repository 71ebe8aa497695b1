// SPDX-License-Identifier: Apache-2.0

package obs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

const (
	panelWidth  = 8 // of 24 columns
	panelHeight = 7
	// runbooks is the page with a section for each alert.
	runbooks = "https://github.com/locus-db/locus/blob/main/docs/operations.md#"
)

type (
	object = map[string]any
	array  = []any
)

// Dashboard returns the dashboard of Grafana, as JSON.
func Dashboard() []byte {
	source := object{"type": "prometheus", "uid": "${source}"}
	var panels array
	x, y, row := 0, 0, ""
	for i, s := range Signals {
		if s.Row != row {
			if row != "" {
				y += panelHeight
			}
			panels = append(panels, object{"id": 1000 + i, "type": "row", "title": s.Row,
				"gridPos": object{"x": 0, "y": y, "w": 24, "h": 1}})
			x, y, row = 0, y+1, s.Row
		}
		if x == 24 {
			x, y = 0, y+panelHeight
		}
		var targets array
		for j, q := range s.Queries {
			targets = append(targets, object{"refId": string(rune('A' + j)), "datasource": source, "expr": q.Expr,
				"legendFormat": q.Legend})
		}
		panels = append(panels, object{
			"id": i + 1, "type": "timeseries", "title": s.Title, "datasource": source, "targets": targets,
			"gridPos":     object{"x": x, "y": y, "w": panelWidth, "h": panelHeight},
			"fieldConfig": object{"defaults": object{"unit": s.Unit, "min": 0}, "overrides": array{}},
		})
		x += panelWidth
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	_ = encoder.Encode(object{ // of texts and numbers
		"uid": "locus", "title": "Locus", "tags": array{"locus"}, "schemaVersion": 39, "editable": true, "refresh": "30s",
		"time": object{"from": "now-3h", "to": "now"},
		"templating": object{"list": array{object{
			"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus",
		}}},
		"panels": panels,
	})
	return b.Bytes()
}

// Alerts returns the rules of Prometheus, as YAML.
func Alerts() []byte {
	var b strings.Builder
	b.WriteString("# Made from internal/obs/signals.go: make generate\ngroups:\n  - name: locus\n    rules:\n")
	for _, s := range Signals {
		for _, a := range s.Alerts {
			fmt.Fprintf(&b, "      - alert: %s\n        expr: %s\n        for: %s\n        labels:\n          severity: %s\n"+
				"        annotations:\n          summary: %s\n          runbook_url: %s\n",
				a.Name, quoted(a.Expr), a.For, a.Severity, quoted(a.Summary), runbooks+strings.ToLower(a.Name))
		}
	}
	return []byte(b.String())
}

// quoted returns a text in single quotes of YAML.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
