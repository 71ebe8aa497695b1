// SPDX-License-Identifier: Apache-2.0

package login_test

import (
	"errors"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/login"
	"github.com/locus-db/locus/internal/login/logintest"
)

const audience = "https://locus.example"

// TestP10_OldJWT checks JWTs at the edges of their times, with wrong claims, and by faulty issuers.
func TestP10_OldJWT(t *testing.T) {
	t.Parallel()
	idp := logintest.New(t, nil)
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	b := login.NewBearers(audience, clock, login.Issuer{URL: idp.URL, Roles: map[string][]string{"ci": {"writer"}}})
	at := func(iat, exp time.Duration) map[string]any {
		return map[string]any{"iss": idp.URL, "aud": audience, "sub": "ci", "iat": now.Add(iat).Unix(),
			"exp": now.Add(exp).Unix()}
	}
	with := func(name string, value any) map[string]any {
		claims := at(0, time.Minute)
		claims[name] = value
		if value == nil {
			delete(claims, name)
		}
		return claims
	}
	for name, test := range map[string]struct {
		claims map[string]any
		fault  logintest.Fault
		right  bool
	}{
		"fresh":                 {at(0, time.Hour), "", true},
		"longer than an hour":   {at(0, time.Hour+time.Second), "", false},
		"just expired":          {at(-time.Minute, -29*time.Second), "", true},
		"expired":               {at(-time.Minute, -30*time.Second), "", false},
		"issued soon":           {at(30*time.Second, time.Minute), "", true},
		"issued later":          {at(31*time.Second, time.Minute), "", false},
		"never issued":          {with("iat", nil), "", false},
		"without an end":        {with("exp", nil), "", false},
		"valid later":           {with("nbf", now.Add(31*time.Second).Unix()), "", false},
		"valid soon":            {with("nbf", now.Add(30*time.Second).Unix()), "", true},
		"for others":            {with("aud", "https://another.example"), "", false},
		"for several":           {with("aud", []string{"https://another.example", audience}), "", true},
		"for none":              {with("aud", nil), "", false},
		"by others":             {with("iss", "https://another.example"), "", false},
		"of others":             {with("sub", "another"), "", false},
		"without a subject":     {with("sub", nil), "", false},
		"unsigned":              {at(0, time.Minute), logintest.Unsigned, false},
		"signed by another key": {at(0, time.Minute), logintest.Signature, false},
	} {
		idp.Misbehave(test.fault)
		who, until, err := b.Check(t.Context(), idp.Sign(test.claims))
		switch {
		case test.right && (err != nil || who.Name != "jwt:ci" || !slices.Equal(who.Roles, []string{"writer"}) || !until.After(now)):
			t.Errorf("%s: %+v, %v", name, who, err)
		case !test.right && !errors.Is(err, login.ErrBearer):
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
	idp.Misbehave(logintest.None)
	for _, text := range []string{"", "a.b.c", "..", idp.Sign(at(0, time.Minute)) + "x", "locus_tok_"} {
		if _, _, err := b.Check(t.Context(), text); !errors.Is(err, login.ErrBearer) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestP10_UnknownKeysAreAskedForSeldom sends tokens of keys that the issuer does not show: it is asked once a minute.
func TestP10_UnknownKeysAreAskedForSeldom(t *testing.T) {
	t.Parallel()
	idp, forger := logintest.New(t, nil), logintest.New(t, nil)
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	b := login.NewBearers(audience, func() time.Time { return now }, login.Issuer{URL: idp.URL, Roles: map[string][]string{"ci": {"writer"}}})
	claims := map[string]any{"iss": idp.URL, "aud": audience, "sub": "ci", "iat": now.Unix(),
		"exp": now.Add(time.Hour).Unix()}
	valid := func(p *logintest.Provider) bool {
		t.Helper()
		_, _, err := b.Check(t.Context(), p.Sign(maps.Clone(claims)))
		if err != nil && !errors.Is(err, login.ErrBearer) {
			t.Error(err)
		}
		return err == nil
	}
	if !valid(idp) {
		t.Fatal("not valid")
	}
	for range 20 {
		if valid(forger) {
			t.Fatal("a forged one is valid")
		}
	}
	idp.Rotate()
	if idp.KeysAsked() != 1 || valid(idp) {
		t.Errorf("asked %d times within a minute", idp.KeysAsked())
	}
	now = now.Add(time.Minute)
	known := valid(idp)
	for range 1000 { // until the library has taken the result of the last request away
		if known {
			break
		}
		runtime.Gosched()
		known = valid(idp)
	}
	if !known || idp.KeysAsked() != 2 {
		t.Errorf("the new key is not known after a minute; asked %d times", idp.KeysAsked())
	}
}

func FuzzBearer(f *testing.F) {
	b := login.NewBearers(audience, nil,
		login.Issuer{URL: "http://127.0.0.1:1", Roles: map[string][]string{"ci": {"writer"}}})
	f.Add("a.b.c")
	f.Add("eyJhbGciOiJub25lIn0.eyJpc3MiOiJ4In0.")
	f.Fuzz(func(t *testing.T, text string) {
		if who, _, err := b.Check(t.Context(), text); err == nil {
			t.Errorf("%q is %+v", text, who)
		}
	})
}
