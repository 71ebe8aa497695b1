// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/storage"
)

// told is a Recording that keeps names and texts.
type told struct {
	name string
	mu   *sync.Mutex
	all  *[]string
}

func (r told) Child(ctx context.Context, name string) (context.Context, span.Span) {
	s := span.New(told{r.name + "/" + name, r.mu, r.all})
	return span.With(ctx, s), s
}

func (r told) Text(key, value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*r.all = append(*r.all, r.name+" "+key+"="+value)
}
func (told) Number(string, int64)           {}
func (told) Link(span.Recording)            {}
func (told) Header() (parent, state string) { return "", "" }
func (told) End(error)                      {}

// Each round trip to the server is a span with the text of its statements, and without their values.
func TestSpans_OfStatements(t *testing.T) {
	t.Parallel()
	_, _, opened := opens(t, 1, nil)
	var all []string
	ctx := span.With(t.Context(), span.New(told{"", new(sync.Mutex), &all}))
	const key = "of-a-person"
	if err := opened[0].Update(ctx, func(tx storage.Tx) error {
		_, err := tx.ListRecords(ctx, key, 0, 10)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"/cell write db.system.name=postgresql", "/statements db.query.text=BEGIN", "SELECT", "FROM record", "COMMIT"} {
		if !strings.Contains(text, want) {
			t.Errorf("no span has %q: %s", want, text)
		}
	}
	if strings.Contains(text, key) {
		t.Errorf("a span has a value: %s", text)
	}
}
