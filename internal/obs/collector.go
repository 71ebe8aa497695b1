// SPDX-License-Identifier: Apache-2.0

package obs

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/locus-db/locus/internal/delay"
)

// collector sends spans to a collector by OTLP over HTTP. The exporter of OpenTelemetry that does so links gRPC, 6 MB.
type collector struct {
	url     string
	header  http.Header
	zip     bool
	timeout time.Duration
	client  *http.Client
	log     *slog.Logger
	failing atomic.Bool
}

// newCollector reads the variables of OpenTelemetry's specification that are about OTLP. Variables for traces override
// the common ones.
func newCollector(o *TraceOptions) (*collector, error) {
	get := func(name string) string {
		return cmp.Or(o.Env["OTEL_EXPORTER_OTLP_TRACES_"+name], o.Env["OTEL_EXPORTER_OTLP_"+name])
	}
	c := &collector{log: o.Logger, timeout: 10 * time.Second,
		header: http.Header{"Content-Type": {"application/x-protobuf"}, "User-Agent": {"locus"}}}
	at := o.Env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] // used as it is
	if at == "" {
		at = strings.TrimSuffix(o.Endpoint, "/") + "/v1/traces"
	}
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("traces: the endpoint is no URL such as http://127.0.0.1:4318")
	}
	c.url = at
	if p := get("PROTOCOL"); p != "" && p != "http/protobuf" {
		return nil, fmt.Errorf("traces: OTEL_EXPORTER_OTLP_PROTOCOL=%.40s: Locus speaks http/protobuf, which collectors take at port 4318", p)
	}
	if text := get("TIMEOUT"); text != "" {
		ms, err := strconv.Atoi(text)
		if err != nil || ms <= 0 {
			return nil, fmt.Errorf("traces: OTEL_EXPORTER_OTLP_TIMEOUT=%.40s: want milliseconds", text)
		}
		c.timeout = time.Duration(ms) * time.Millisecond
	}
	switch zip := get("COMPRESSION"); zip {
	case "gzip":
		c.zip = true
		c.header.Set("Content-Encoding", "gzip")
	case "", "none":
	default:
		return nil, fmt.Errorf("traces: OTEL_EXPORTER_OTLP_COMPRESSION=%.40s: want gzip or none", zip)
	}
	for pair := range strings.SplitSeq(get("HEADERS"), ",") {
		if pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil {
			return nil, errors.New("traces: OTEL_EXPORTER_OTLP_HEADERS: want NAME=VALUE,NAME=VALUE, with values as in URLs")
		}
		c.header.Set(strings.TrimSpace(name), value)
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true}
	if file := get("CERTIFICATE"); file != "" {
		pem, err := os.ReadFile(file)
		roots := x509.NewCertPool()
		if err != nil || !roots.AppendCertsFromPEM(pem) {
			return nil, errors.Join(fmt.Errorf("traces: OTEL_EXPORTER_OTLP_CERTIFICATE: %s has no certificate", file), err)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	c.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	return c, nil
}

// Start implements otlptrace.Client.
func (c *collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. Spans that cannot be sent are dropped, and that is logged once: it returns
// no error, which would be printed without the log.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	err := c.upload(ctx, spans)
	if failed := err != nil; c.failing.Swap(failed) != failed {
		if failed {
			c.log.Warn("trace export failed", "err", err)
		} else {
			c.log.Info("trace export recovered")
		}
	}
	return nil
}

// pauses are the pauses before attempts to send.
var pauses = []time.Duration{0, 200 * time.Millisecond, time.Second}

func (c *collector) upload(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	// TracesData and the request of the collector have the same encoding.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	if c.zip {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(body) // to memory
		_ = w.Close()
		body = b.Bytes()
	}
	again := true
	for _, pause := range pauses {
		if !again {
			break
		}
		if delay.For(ctx, pause) != nil {
			return errors.Join(err, ctx.Err())
		}
		again, err = c.post(ctx, body)
	}
	return err
}

// post sends a request, and reports whether a failed one may be sent again.
func (c *collector) post(ctx context.Context, body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return false, fmt.Errorf("send: %w", err)
	}
	r.Header = c.header.Clone()
	answer, err := c.client.Do(r)
	if err != nil {
		return true, fmt.Errorf("send: %w", err)
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, 64<<10) // so that the connection is used again
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	if answer.StatusCode/100 != 2 {
		return again, fmt.Errorf("send: the collector answers %s", answer.Status)
	}
	return false, nil
}
