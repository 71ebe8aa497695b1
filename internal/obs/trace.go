// SPDX-License-Identifier: Apache-2.0

package obs

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/locus-db/locus/internal/buildinfo"
	"github.com/locus-db/locus/internal/span"
)

// Traces are the traces of one process: a span.Tracer that sends spans by OTLP over HTTP. Close sends the last ones.
type Traces struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// TraceOptions configures NewTraces. The standard variables OTEL_* apply beside them.
type TraceOptions struct {
	// Endpoint is the URL of the collector, without the path /v1/traces.
	Endpoint string
	// Sample is the share of traces that are recorded, unless the caller has decided or OTEL_TRACES_SAMPLER says
	// otherwise.
	Sample float64
	// Env has the variables of the process.
	Env map[string]string
	// Logger receives a line when spans cannot be sent, and when they can be again.
	Logger *slog.Logger
}

// scope is the name of the instrumentation.
const scope = "github.com/locus-db/locus"

// NewTraces returns traces that are sent to a collector. The collector need not be there.
func NewTraces(ctx context.Context, o TraceOptions) (*Traces, error) {
	to, err := newCollector(&o)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptrace.New(ctx, to)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	process, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "locus"),
			attribute.String("service.version", buildinfo.Read().Version)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("traces: OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	options := []sdk.TracerProviderOption{sdk.WithBatcher(exporter), sdk.WithResource(process)}
	if o.Env["OTEL_TRACES_SAMPLER"] == "" {
		options = append(options, sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(o.Sample))))
	}
	provider := sdk.NewTracerProvider(options...)
	return &Traces{provider, provider.Tracer(scope, trace.WithInstrumentationVersion(buildinfo.Read().Version))}, nil
}

// Flush sends the spans that have ended.
func (t *Traces) Flush(ctx context.Context) error {
	if err := t.provider.ForceFlush(ctx); err != nil {
		return fmt.Errorf("send traces: %w", err)
	}
	return nil
}

// Close sends the remaining spans, for at most five seconds.
func (t *Traces) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("send the last traces: %w", err)
	}
	return nil
}

// w3c is the propagator of traceparent and tracestate.
var w3c propagation.TraceContext

// Root implements span.Tracer.
func (t *Traces) Root(ctx context.Context, r span.Root) (context.Context, span.Span) {
	kind := trace.SpanKindInternal
	if r.Server {
		kind = trace.SpanKindServer
	}
	if r.Parent != "" {
		ctx = w3c.Extract(ctx, propagation.MapCarrier{"traceparent": r.Parent, "tracestate": r.State})
	}
	return t.begun(t.tracer.Start(ctx, r.Name, trace.WithSpanKind(kind)))
}

// begun returns a started span, and a context with it.
func (t *Traces) begun(ctx context.Context, of trace.Span) (context.Context, span.Span) {
	s := span.New(&recording{t, of})
	return span.With(ctx, s), s
}

// recording is a span.Recording.
type recording struct {
	traces *Traces
	of     trace.Span
}

// Child implements span.Recording. Below a span that is not sampled nothing is made.
func (r *recording) Child(ctx context.Context, name string) (context.Context, span.Span) {
	if !r.of.IsRecording() {
		return ctx, span.Span{}
	}
	return r.traces.begun(r.traces.tracer.Start(trace.ContextWithSpan(ctx, r.of), name))
}

// Text implements span.Recording.
func (r *recording) Text(key, value string) { r.of.SetAttributes(attribute.String(key, value)) }

// Number implements span.Recording.
func (r *recording) Number(key string, n int64) { r.of.SetAttributes(attribute.Int64(key, n)) }

// Link implements span.Recording.
func (r *recording) Link(to span.Recording) {
	if of, ok := to.(*recording); ok && of.of.IsRecording() {
		r.of.AddLink(trace.Link{SpanContext: of.of.SpanContext()})
	}
}

// Header implements span.Recording.
func (r *recording) Header() (parent, state string) {
	header := propagation.MapCarrier{}
	w3c.Inject(trace.ContextWithSpan(context.Background(), r.of), header)
	return header["traceparent"], header["tracestate"]
}

// End implements span.Recording. An error may have a key of a user in it, so only its type is recorded.
func (r *recording) End(err error) {
	if err != nil {
		r.of.SetStatus(codes.Error, "")
		r.of.SetAttributes(attribute.String("error.type", fmt.Sprintf("%T", err)))
	}
	r.of.End()
}

// TracedLog returns a handler that adds the ids of the current trace and span to each event.
func TracedLog(to slog.Handler) slog.Handler { return tracedLog{to} }

type tracedLog struct{ slog.Handler }

// Handle implements slog.Handler.
func (l tracedLog) Handle(ctx context.Context, e slog.Record) error {
	if c := trace.SpanContextFromContext(ctx); c.IsValid() {
		e.AddAttrs(slog.String("trace_id", c.TraceID().String()), slog.String("span_id", c.SpanID().String()))
	}
	return l.Handler.Handle(ctx, e) //nolint:wrapcheck // the handler's own
}

// WithAttrs implements slog.Handler.
func (l tracedLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return tracedLog{l.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (l tracedLog) WithGroup(name string) slog.Handler { return tracedLog{l.Handler.WithGroup(name)} }
