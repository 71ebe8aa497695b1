// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"log/slog"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/obs"
)

// tracing holds the flags of traces.
type tracing struct {
	endpoint string
	sample   float64
}

func (t *tracing) flags(c *cobra.Command) {
	c.Flags().StringVar(&t.endpoint, "trace-endpoint", "",
		"URL of an OpenTelemetry collector that accepts traces by OTLP over HTTP; no traces without it")
	_ = c.Flags().SetAnnotation("trace-endpoint", variableOf, []string{"OTEL_EXPORTER_OTLP_ENDPOINT"})
	c.Flags().Float64Var(&t.sample, "trace-sample", 0.01,
		"share of requests to trace, from 0 to 1, unless the caller decides it; OTEL_TRACES_SAMPLER overrides it")
}

func (t *tracing) check() error {
	if u, err := url.Parse(t.endpoint); t.endpoint != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return usage("--trace-endpoint http://127.0.0.1:4318", "--trace-endpoint is no URL of a collector")
	}
	if !(t.sample >= 0 && t.sample <= 1) {
		return usage("--trace-sample 0.01", "--trace-sample %v: want a share from 0 to 1", t.sample)
	}
	return nil
}

// openTraces returns the traces of a server, nil if it makes none, and a function that sends the last ones.
func (a *app) openTraces(c *cobra.Command, t *tracing) (locus.Tracer, func() error, error) {
	none := func() error { return nil }
	if t.endpoint == "" && a.env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] == "" || a.env["OTEL_SDK_DISABLED"] == "true" ||
		a.env["OTEL_TRACES_EXPORTER"] == "none" {
		return nil, none, nil
	}
	a.traced = true
	traces, err := obs.NewTraces(c.Context(),
		obs.TraceOptions{Endpoint: t.endpoint, Sample: t.sample, Env: a.env, Logger: a.logger(slog.LevelInfo)})
	if err != nil {
		return nil, none, usage("correct the variable, or leave the traces out", "%v", err)
	}
	return traces, traces.Close, nil
}
