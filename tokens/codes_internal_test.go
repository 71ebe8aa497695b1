// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/problem"
)

var verifier = strings.Repeat("v", 43)

// person signs a token in and returns the principal of the session.
func (f *fixture) person(token string) *Principal {
	f.Helper()
	secret, _ := f.signIn(token, "")
	who, err := f.a.CheckSession(f.Context(), secret)
	if err != nil {
		f.Fatal(err)
	}
	return who
}

func (f *fixture) code(who *Principal) string {
	f.Helper()
	code, err := f.a.Code(f.Context(), who, Challenge(verifier))
	if err != nil {
		f.Fatal(err)
	}
	return code
}

// TestP10_CodesOnce uses codes in two processes, with other verifiers, too late, and after the session.
func TestP10_CodesOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.admin()
	ann, _ := f.create(access.Local(), Request{Name: "ann", Roles: []string{"reviewer"}, Allow: []string{"erase"}, WriteSources: []string{"crm"}, Restriction: Restriction{Kinds: []string{"person"}, Hide: []string{"emails"}}, Rates: Rates{Records: 7}, Life: 24 * time.Hour})
	who := f.person(ann)
	if who.Writes("shop") || !who.Writes("crm") || who.Restriction.Sees("place") || !who.Restriction.Hides("emails") ||
		who.Rates.Records != 7 {
		t.Errorf("the session of a limited token: %+v", who)
	}
	refused := func(h *Handle, code, verifier string) {
		t.Helper()
		if _, token, err := h.Redeem(t.Context(), code, verifier); !errors.Is(err, ErrUnknown) {
			t.Errorf("%+v, %v", token, err)
		}
	}
	code := f.code(who)
	secret, token, err := f.b.Redeem(t.Context(), code, verifier)
	if err != nil || token.Name != "ann" || !token.Login || !token.Expires.Equal(f.now.Add(loginLife)) ||
		!slices.Equal(token.Allow, []string{"erase"}) {
		t.Fatalf("%+v, %v", token, err)
	}
	refused(f.a, code, verifier)
	refused(f.b, code, verifier)
	got, err := f.b.Check(t.Context(), secret)
	if err != nil || got.Name != "ann" || !got.May(access.Decide, access.Erase) || got.May(access.Write) || got.Session ||
		got.Writes("shop") || got.Restriction.Sees("place") || !got.Restriction.Hides("emails") || got.Rates.Records != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	code = f.code(who)
	refused(f.a, code, strings.Repeat("w", 43))
	refused(f.a, code, verifier) // used up by the wrong verifier
	refused(f.a, "", verifier)
	code = f.code(who)
	f.now = f.now.Add(codeLife)
	refused(f.a, code, verifier)
	code = f.code(who)
	if _, err := f.b.EndSession(t.Context(), who.ID); err != nil {
		t.Fatal(err)
	}
	refused(f.a, code, verifier)
	if _, err := f.a.Code(t.Context(), who, Challenge(verifier)); !errors.Is(err, ErrUnknown) {
		t.Errorf("a code of a session that has ended: %v", err)
	}
	if _, err := f.a.Code(t.Context(), got, Challenge(verifier)); !errors.Is(err, ErrUnknown) {
		t.Errorf("a code of a token: %v", err)
	}
	if _, err := f.a.Code(t.Context(), f.person(ann), "x"); !errors.Is(err, problem.ErrInvalid) {
		t.Errorf("a code without a verifier: %v", err)
	}
}

// TestP10_LoginsDoNotLast checks that a login ends with the token behind it, and cannot make it last longer.
func TestP10_LoginsDoNotLast(t *testing.T) {
	t.Parallel()
	f := setup(t)
	root := f.admin()
	short, of := f.create(access.Local(), Request{Name: "short", Roles: []string{"administrator"}, Life: time.Hour})
	secret, token, err := f.a.Redeem(t.Context(), f.code(f.person(short)), verifier)
	if err != nil || !token.Expires.Equal(of.Expires) {
		t.Errorf("%+v, %v", token, err)
	}
	again, token, err := f.a.Redeem(t.Context(), f.code(f.person(secret)), verifier)
	if err != nil || !token.Expires.Equal(of.Expires) {
		t.Errorf("%+v, %v", token, err)
	}
	// A rotation follows the token, not the logins of its name.
	if _, token, err := f.a.Rotate(t.Context(), access.Local(), "short", time.Minute); err != nil || !token.Expires.Equal(f.now.Add(time.Hour)) || token.Login {
		t.Errorf("%+v, %v", token, err)
	}
	f.now = f.now.Add(time.Minute)
	if f.valid(f.a, secret) || f.valid(f.a, again) {
		t.Error("valid after the rotation")
	}
	mine, login, err := f.a.Redeem(t.Context(), f.code(f.person(root)), verifier)
	if err != nil || !login.Expires.Equal(f.now.Add(loginLife)) {
		t.Fatalf("%+v, %v", login, err)
	}
	// A login is not the administrator that has to remain.
	if _, err := f.a.Revoke(t.Context(), access.Local(), "short"); err != nil {
		t.Fatal(err)
	}
	keeper := &Principal{Name: "keeper", ID: "k", Permissions: access.Of(access.Access)}
	if _, err := f.a.Revoke(t.Context(), keeper, "root"); !errors.Is(err, ErrLast) {
		t.Errorf("revoked the last: %v", err)
	}
	who, err := f.a.Check(t.Context(), mine)
	if err != nil {
		t.Fatal(err)
	}
	if ended, err := f.b.Quit(t.Context(), who); !ended || err != nil {
		t.Errorf("%v, %v", ended, err)
	}
	f.now = f.now.Add(fresh)
	if f.valid(f.a, mine) || !f.valid(f.a, root) {
		t.Error("valid after the logout, or too much was ended")
	}
	if who, err = f.a.Check(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	if ended, err := f.a.Quit(t.Context(), who); ended || err != nil || !f.valid(f.a, root) {
		t.Errorf("a token that was created is ended: %v, %v", ended, err)
	}
}

func TestLoginSecret_IsOne(t *testing.T) {
	t.Parallel()
	f := setup(t)
	if _, err := f.a.LoginSecret(t.Context()); !errors.Is(err, problem.ErrInvalid) {
		t.Errorf("in an open installation: %v", err)
	}
	f.admin()
	f.valid(f.b, "") // has a copy without a secret
	a, err := f.a.LoginSecret(t.Context())
	b, other := f.b.LoginSecret(t.Context())
	again, third := f.a.LoginSecret(t.Context())
	if err != nil || other != nil || third != nil || len(a) != secretBytes || !bytes.Equal(a, b) ||
		!bytes.Equal(a, again) || bytes.Equal(a, make([]byte, secretBytes)) {
		t.Errorf("%x, %x, %v, %v", a, b, err, other)
	}
}
