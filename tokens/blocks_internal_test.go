// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/problem"
)

// TestP10_BlockedEverywhere blocks a principal in one process: its tokens, sessions and work end there at once, and
// after a second in another.
func TestP10_BlockedEverywhere(t *testing.T) {
	t.Parallel()
	f := setup(t)
	if _, err := f.a.Block(t.Context(), access.Local(), "ci"); !errors.Is(err, problem.ErrInvalid) {
		t.Errorf("in an open installation: %v", err)
	}
	f.admin()
	ci, _ := f.create(access.Local(), Request{Name: "ci", Roles: []string{"writer"}})
	other, _ := f.create(access.Local(), Request{Name: "other", Roles: []string{"writer"}})
	session, _ := f.signIn(ci, "")
	person, _, err := f.a.Admit(t.Context(), Person{Name: "oidc:1", Roles: []string{"reader"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	outside := &Principal{Name: "jwt:ci", ID: "jwt", Until: f.now.Add(24 * time.Hour)}
	f.now = f.now.Add(fresh)
	who, err := f.b.Check(t.Context(), ci)
	if err != nil {
		t.Fatal(err)
	}
	check := func(h *Handle, want bool) {
		t.Helper()
		live, err := h.Live(t.Context(), who)
		if err != nil {
			t.Fatal(err)
		}
		jwt, err := h.Live(t.Context(), outside)
		if err != nil {
			t.Fatal(err)
		}
		blocked, err := h.Blocked(t.Context(), "jwt:ci")
		if err != nil {
			t.Fatal(err)
		}
		if f.valid(h, ci) != want || f.signedIn(h, session) != want || f.signedIn(h, person) != want || live != want ||
			jwt != want || blocked == want {
			t.Errorf("token %v, session %v, person %v, work %v, JWT %v, blocked %v: want %v", f.valid(h, ci),
				f.signedIn(h, session), f.signedIn(h, person), live, jwt, blocked, want)
		}
		if !f.valid(h, other) {
			t.Error("another principal is refused")
		}
	}
	check(f.b, true)
	names := []string{"ci", "oidc:1", "jwt:ci"}
	for _, name := range names {
		first, err := f.a.Block(t.Context(), &Principal{Name: "root", ID: "x"}, name)
		if err != nil || first.By != "root" {
			t.Fatal(first, err)
		}
		f.now = f.now.Add(time.Millisecond)
		if again, err := f.a.Block(t.Context(), access.Local(), name); err != nil || *again != *first {
			t.Errorf("blocked again: %+v, %v", again, err)
		}
	}
	check(f.a, false)
	f.now = f.now.Add(fresh)
	check(f.b, false)
	if _, _, err := f.b.Admit(t.Context(), Person{Name: "oidc:1", Roles: []string{"reader"}}, ""); !errors.Is(err, ErrUnknown) {
		t.Errorf("admitted: %v", err)
	}
	if list, err := f.b.Blocks(t.Context()); err != nil || len(list) != len(names) || list[0].Name != "ci" {
		t.Errorf("%+v, %v", list, err)
	}
	for _, name := range names {
		if b, err := f.b.Unblock(t.Context(), name); err != nil || b.Name != name {
			t.Fatal(b, err)
		}
	}
	check(f.b, true)
	if _, err := f.b.Unblock(t.Context(), "ci"); !errors.Is(err, ErrNotBlocked) {
		t.Errorf("not blocked: %v", err)
	}
}

// TestBlock_LeavesAnAdministrator refuses names that are none, and to lock all administrators out, except to the
// operator.
func TestBlock_LeavesAnAdministrator(t *testing.T) {
	t.Parallel()
	f := setup(t)
	root := f.admin()
	for _, name := range []string{"", strings.Repeat("x", maxPrincipal+1), "a\nb", "\xff"} {
		if _, err := f.a.Block(t.Context(), access.Local(), name); !errors.Is(err, problem.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	by, err := f.a.Check(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.a.Block(t.Context(), by, "root"); !errors.Is(err, ErrLast) || !f.valid(f.a, root) {
		t.Errorf("the last administrator blocks itself: %v", err)
	}
	if _, err := f.a.Block(t.Context(), access.Local(), "root"); err != nil || f.valid(f.a, root) {
		t.Errorf("the operator blocks it: %v", err)
	}
}
