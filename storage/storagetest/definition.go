// SPDX-License-Identifier: Apache-2.0

package storagetest

import (
	"bytes"
	"context"

	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/storage"
)

func definition(t tester, c Cell, name string) []byte {
	t.Helper()
	return view(t, c, func(ctx context.Context, tx storage.Tx) ([]byte, error) { return tx.Definition(ctx, name) })
}

// definitionsByName stores arbitrary and large bodies, under names that differ in one byte.
func definitionsByName(t tester, c Cell) {
	if body := definition(t, c, "rules"); body != nil {
		t.Fatalf("an empty cell has the definition %q", body)
	}
	large := bytes.Repeat([]byte{0, 0xff, '\'', 'a'}, 300_000)
	for _, d := range []struct {
		name string
		body []byte
	}{{"rules", []byte("{}")}, {"Rules", large}, {"pack/'\"寿", []byte{0}}, {"rules", []byte{0xff, 0}}} {
		conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error {
			return tx.PutDefinition(ctx, d.name, d.body)
		})
		if got := definition(t, c, d.name); !bytes.Equal(got, d.body) {
			t.Fatalf("definition %q has %d bytes, want %d", d.name, len(got), len(d.body))
		}
	}
	if got := definition(t, c, "Rules"); !bytes.Equal(got, large) {
		t.Fatalf("a definition was changed by the one of another name")
	}
	if got := definition(t, c, "pack"); got != nil {
		t.Fatalf("the definition of no name that was put has %d bytes", len(got))
	}
}
