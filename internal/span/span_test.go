// SPDX-License-Identifier: Apache-2.0

package span_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/locus-db/locus/internal/span"
)

// written is a Recording that writes down its calls.
type written struct {
	name string
	told *[]string
}

func (w *written) say(text string) { *w.told = append(*w.told, w.name+": "+text) }

func (w *written) Child(ctx context.Context, name string) (context.Context, span.Span) {
	s := span.New(&written{w.name + "/" + name, w.told})
	return span.With(ctx, s), s
}
func (w *written) Text(key, value string)         { w.say(key + "=" + value) }
func (w *written) Number(key string, _ int64)     { w.say(key) }
func (w *written) Link(to span.Recording)         { w.say("link " + to.(*written).name) } //nolint:forcetypeassert // of this test
func (w *written) Header() (parent, state string) { return "of " + w.name, "" }
func (w *written) End(err error) {
	if err != nil {
		w.say(err.Error())
		return
	}
	w.say("end")
}

func (w *written) Root(ctx context.Context, r span.Root) (context.Context, span.Span) {
	s := span.New(&written{r.Name, w.told})
	return span.With(ctx, s), s
}

func TestSpan_Nests(t *testing.T) {
	t.Parallel()
	var told []string
	ctx, root := span.StartRoot(t.Context(), &written{"", &told}, "request")
	inner, child := span.Start(ctx, "write")
	child.Text("cell", "3")
	child.Number("rows", 2)
	child.Link(root)
	child.Link(span.Span{})
	if parent, _ := span.Of(inner).Header(); parent != "of request/write" {
		t.Errorf("the context has the span %q", parent)
	}
	_, sibling := root.Start(inner, "beside")
	sibling.End(nil)
	child.End(errors.New("full"))
	root.End(nil)
	want := []string{"request/write: cell=3", "request/write: rows", "request/write: link request", "request/beside: end",
		"request/write: full", "request: end"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// Without a recorder nothing is allocated.
func TestStart_OffAllocatesNothing(t *testing.T) { //nolint:paralleltest // counts allocations of the process
	ctx := context.WithValue(t.Context(), new(int), 1)
	if n := testing.AllocsPerRun(1000, func() { work(ctx, nil) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkStart_Off(b *testing.B) {
	ctx := context.WithValue(b.Context(), new(int), 1)
	b.ReportAllocs()
	for b.Loop() {
		work(ctx, nil)
	}
}

// work makes every call that occurs in requests, writes and deliveries.
func work(ctx context.Context, t span.Tracer) {
	ctx, root := span.StartRoot(ctx, t, "request")
	ctx, s := span.Start(ctx, "write")
	s.Text("db.system.name", "sqlite")
	s.Number("rows", 3)
	s.Link(root)
	if parent, _ := span.Of(ctx).Header(); parent != "" {
		panic("a span without a tracer")
	}
	for range 20 { // as many statements as a put may have
		of := s.Statements(ctx, "sqlite", 1, func(int) string { panic("looked at without a tracer") })
		of.End(nil)
	}
	s.End(nil)
	root.End(nil)
}
