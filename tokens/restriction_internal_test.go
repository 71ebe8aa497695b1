// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"errors"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/problem"
)

// TestP10_RestrictionsAreKept tries to pass on a restricted token: no other token, and no second secret, sees more.
func TestP10_RestrictionsAreKept(t *testing.T) {
	t.Parallel()
	f := setup(t)
	narrow := Restriction{Kinds: []string{"person"}, Hide: []string{"emails"}}
	if _, _, err := f.a.Create(t.Context(), access.Local(), Request{Name: "first", Roles: []string{"administrator"}, Restriction: narrow}); !errors.As(err, new(*problem.InvalidError)) {
		t.Errorf("the first token is one that can give no others: %v", err)
	}
	f.admin()
	f.create(access.Local(), Request{Name: "ann", Roles: []string{"administrator"}, Restriction: narrow})
	secret, _, err := f.a.Rotate(t.Context(), access.Local(), "ann", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ann, err := f.a.Check(t.Context(), secret)
	if err != nil || ann.Restriction.Sees("place") || !ann.Restriction.Hides("emails") {
		t.Fatalf("rotated: %+v, %v", ann, err)
	}
	for _, wider := range []Restriction{{}, {Kinds: narrow.Kinds}, {Hide: narrow.Hide}} {
		if _, _, err := f.a.Create(t.Context(), ann, Request{Name: "bob", Roles: []string{"reader"}, Restriction: wider}); !errors.Is(err, ErrLacks) {
			t.Errorf("%+v: %v", wider, err)
		}
	}
	if _, _, err := f.a.Rotate(t.Context(), ann, "root", 0); !errors.Is(err, ErrLacks) {
		t.Errorf("a secret of root: %v", err)
	}
}
