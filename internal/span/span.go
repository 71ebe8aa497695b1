// SPDX-License-Identifier: Apache-2.0

package span

import "context"

// Tracer starts the spans that are below no other: of a request, a delivery of a sink, a batch of a source.
type Tracer interface {
	// Root starts a span. The context that it returns has the span, see With.
	Root(ctx context.Context, r Root) (context.Context, Span)
}

// Root describes a span that is below no other of this process.
type Root struct {
	Name string
	// Server means that the span is the work for a request that came in.
	Server bool
	// Parent is the W3C traceparent of the caller, "" for none, and State its tracestate.
	Parent, State string
}

// Recording is a span that is recorded.
type Recording interface {
	// Child starts a span below this one.
	Child(ctx context.Context, name string) (context.Context, Span)
	Text(key, value string)
	Number(key string, n int64)
	// Link says that the span also belongs to another one.
	Link(to Recording)
	// Header returns the W3C traceparent and tracestate for calls within the span.
	Header() (parent, state string)
	// End ends the span, as failed if the error is not nil.
	End(err error)
}

// Span is a span in progress. The zero Span records nothing, and its methods cost a comparison.
type Span struct{ recording Recording }

// New returns a Span of a recording.
func New(r Recording) Span { return Span{r} }

// key is the key of the current span in contexts.
type key struct{}

// With returns a context with the current span.
func With(ctx context.Context, s Span) context.Context {
	if s.recording == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, s.recording)
}

// Of returns the current span of a context.
func Of(ctx context.Context) Span {
	r, _ := ctx.Value(key{}).(Recording)
	return Span{r}
}

// Start starts a span below the current one. Without one it records nothing, and returns the same context.
func Start(ctx context.Context, name string) (context.Context, Span) {
	return Of(ctx).Start(ctx, name)
}

// StartRoot starts a span that is below no other, with a Tracer that may be nil.
func StartRoot(ctx context.Context, t Tracer, name string) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	return t.Root(ctx, Root{Name: name})
}

// Start starts a span below this one, whatever the current one of the context is.
func (s Span) Start(ctx context.Context, name string) (context.Context, Span) {
	if s.recording == nil {
		return ctx, Span{}
	}
	return s.recording.Child(ctx, name)
}

// On reports whether the span is recorded.
func (s Span) On() bool { return s.recording != nil }

// Text adds an attribute. No value comes from records.
func (s Span) Text(key, value string) {
	if s.recording != nil {
		s.recording.Text(key, value)
	}
}

// Number adds an attribute.
func (s Span) Number(key string, n int64) {
	if s.recording != nil {
		s.recording.Number(key, n)
	}
}

// Link says that the span also belongs to another one, which may record nothing.
func (s Span) Link(to Span) {
	if s.recording != nil && to.recording != nil {
		s.recording.Link(to.recording)
	}
}

// Header returns the W3C traceparent and tracestate for calls within the span, "" for none.
func (s Span) Header() (parent, state string) {
	if s.recording == nil {
		return "", ""
	}
	return s.recording.Header()
}

// End ends the span, as failed if the error is not nil.
func (s Span) End(err error) {
	if s.recording != nil {
		s.recording.End(err)
	}
}
