// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/storage"
)

func (f *fixture) signIn(token, former string) (string, *Session) {
	f.Helper()
	secret, s, err := f.a.SignIn(f.Context(), token, former)
	if err != nil {
		f.Fatal(err)
	}
	return secret, s
}

// signedIn reports whether a process takes a session.
func (f *fixture) signedIn(h *Handle, secret string) bool {
	f.Helper()
	_, err := h.CheckSession(f.Context(), secret)
	if err != nil && !errors.Is(err, ErrUnknown) {
		f.Fatal(err)
	}
	return err == nil
}

func TestP10_SessionOfAToken(t *testing.T) {
	t.Parallel()
	f := setup(t)
	if _, _, err := f.a.Admit(t.Context(), Person{Name: "oidc:1", Roles: []string{"reader"}}, ""); !errors.Is(err, problem.ErrInvalid) {
		t.Errorf("a session in an open installation: %v", err)
	}
	if closed, err := f.a.Closed(t.Context()); closed || err != nil {
		t.Fatalf("it closed the installation: %v", err)
	}
	root := f.admin()
	ann, token := f.create(access.Local(), Request{Name: "ann", Roles: []string{"reviewer"}})
	if _, _, err := f.a.SignIn(t.Context(), ann[:67]+"_", ""); !errors.Is(err, ErrUnknown) {
		t.Errorf("signed in without a token: %v", err)
	}
	secret, s := f.signIn(ann, "")
	f.now = f.now.Add(fresh)
	who, err := f.b.CheckSession(t.Context(), secret)
	if err != nil || who.Name != "ann" || who.ID != s.ID || s.Token != token.ID || !who.May(access.Decide) ||
		who.May(access.Write) || !who.Session {
		t.Fatalf("%+v, %v", who, err)
	}
	if f.valid(f.b, secret) || f.signedIn(f.b, ann) {
		t.Error("a session is a token, or a token a session")
	}
	list, err := f.b.Sessions(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != s.ID {
		t.Errorf("%+v, %v", list, err)
	}
	if err := f.a.engine.View(t.Context(), f.a.engine.Map().Authority(), func(tx storage.Tx) error {
		body, err := tx.Definition(t.Context(), catalogName)
		if strings.Contains(string(body), secret[20:40]) || !strings.Contains(string(body), s.ID) {
			t.Errorf("stored: %s", body)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	// The session ends with its token, in every process.
	if _, err := f.a.Revoke(t.Context(), access.Local(), "ann"); err != nil {
		t.Fatal(err)
	}
	f.now = f.now.Add(fresh)
	if live, err := f.b.Live(t.Context(), who); f.signedIn(f.a, secret) || f.signedIn(f.b, secret) || live || err != nil || !f.valid(f.b, root) {
		t.Errorf("the session outlives its token: %v", err)
	}
}

// TestP10_SessionsEnd ends sessions in every way, and looks at both processes.
func TestP10_SessionsEnd(t *testing.T) {
	t.Parallel()
	f := setup(t)
	root := f.admin()
	first, _ := f.signIn(root, "")
	second, s := f.signIn(root, first)
	if f.signedIn(f.a, first) || !f.signedIn(f.a, second) {
		t.Error("a login keeps the session before it")
	}
	third, _ := f.signIn(root, "")
	if _, err := f.b.EndSession(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := f.b.EndSession(t.Context(), s.ID); !errors.Is(err, ErrNoSession) {
		t.Errorf("ended again: %v", err)
	}
	if f.signedIn(f.b, second) {
		t.Error("it goes on where it was ended")
	}
	f.now = f.now.Add(fresh)
	if f.signedIn(f.a, second) || !f.signedIn(f.a, third) {
		t.Error("a second later in another process")
	}
	for range 2 {
		if _, err := f.a.SignOut(t.Context(), third); err != nil {
			t.Fatal(err)
		}
	}
	if f.signedIn(f.a, third) {
		t.Error("signed out")
	}
	// Unused for eight hours, and 24 hours in all.
	idle, _ := f.signIn(root, "")
	busy, _ := f.signIn(root, "")
	for range 47 {
		f.now = f.now.Add(30 * time.Minute)
		if !f.signedIn(f.b, busy) {
			t.Fatalf("ended at %v", f.now)
		}
		f.now = f.now.Add(fresh)
		f.signedIn(f.b, busy) // stores the use
	}
	if f.signedIn(f.a, idle) || !f.signedIn(f.a, busy) {
		t.Error("after a day but half an hour")
	}
	f.now = f.now.Add(30 * time.Minute)
	if f.signedIn(f.a, busy) || f.signedIn(f.b, busy) {
		t.Error("after a day")
	}
	if list, err := f.a.Sessions(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestP10_SessionOfAPerson(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.admin()
	secret, _, err := f.a.Admit(t.Context(),
		Person{Name: "oidc:7", Author: "ann@example.com", Roles: []string{"reviewer"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	who, err := f.b.CheckSession(t.Context(), secret)
	if err != nil || who.Name != "oidc:7" || who.Signs() != "ann@example.com" || !who.May(access.Decide) ||
		who.May(access.Write) {
		t.Errorf("%+v, %v", who, err)
	}
	limited, _, err := f.a.Admit(t.Context(),
		Person{Name: "oidc:9", Roles: []string{"reviewer", "hide:emails", "kind:person", "source:crm"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	is := func(who *Principal, err error) {
		t.Helper()
		if err != nil || !who.May(access.Decide) || who.Writes("shop") || !who.Writes("crm") ||
			who.Restriction.Sees("place") || !who.Restriction.Hides("emails") {
			t.Errorf("%+v, %v", who, err)
		}
	}
	of, err := f.a.CheckSession(t.Context(), limited)
	is(of, err)
	login, _, err := f.a.Redeem(t.Context(), f.code(of), verifier)
	if err != nil {
		t.Fatal(err)
	}
	is(f.a.Check(t.Context(), login))
	for _, p := range []Person{{Name: "oidc:8"}, {Roles: []string{"reader"}}, {Name: "oidc:8", Roles: []string{"root"}}, {Name: "oidc:8", Roles: []string{"hide:emails"}}, {Name: "oidc:8", Roles: []string{"reader", "hide:"}}} {
		if _, _, err := f.a.Admit(t.Context(), p, ""); !errors.Is(err, problem.ErrInvalid) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// TestLive_UntilItsEnd checks a principal whose credential is not stored.
func TestLive_UntilItsEnd(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.admin()
	who := &Principal{Name: "jwt:ci", ID: "jwt", Until: f.now.Add(time.Minute)}
	for _, want := range []bool{true, false} {
		if live, err := f.a.Live(t.Context(), who); live != want || err != nil {
			t.Errorf("%v, %v", live, err)
		}
		f.now = f.now.Add(time.Minute)
	}
}

// TestSessions_AreLimited begins more sessions than a principal may have: the oldest ends.
func TestSessions_AreLimited(t *testing.T) {
	t.Parallel()
	f := setup(t)
	root := f.admin()
	first, _ := f.signIn(root, "")
	second, _ := f.signIn(root, "")
	for range maxOwn - 1 {
		f.signIn(root, "")
	}
	if f.signedIn(f.a, first) || !f.signedIn(f.a, second) {
		t.Error("the oldest did not end, or another did")
	}
}
