// SPDX-License-Identifier: Apache-2.0

package access_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/access"
)

// TestToken_EveryTypingErrorIsFound changes each character of a token, and swaps each pair of neighbours.
func TestToken_EveryTypingErrorIsFound(t *testing.T) {
	t.Parallel()
	token, id := access.NewToken()
	got, _, err := access.ParseToken(token)
	if err != nil || got != id || !regexp.MustCompile("^"+access.Pattern+"$").MatchString(token) {
		t.Fatalf("%d characters, id %q: %v", len(token), got, err)
	}
	wrong := func(text string) {
		t.Helper()
		if _, _, err := access.ParseToken(text); text != token && !errors.Is(err, access.ErrToken) {
			t.Errorf("taken with an error at some place: %v", err)
		}
	}
	for i := range token {
		for _, c := range "0aZ_ \x00é" {
			wrong(token[:i] + string(c) + token[i+1:])
		}
		wrong(token[:i])
		wrong(token[:i] + token[i+1:])
		if i > 0 {
			wrong(token[:i-1] + token[i:i+1] + token[i-1:i] + token[i+1:])
		}
	}
	wrong(token + "\n")
	wrong(" " + token)
}

// TestToken_ScannersFindIt compares the rule of the documentation with all that begins with locus_.
func TestToken_ScannersFindIt(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/access.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^regex = '(.+)'$`).FindSubmatch(page)
	if found == nil || string(found[1]) != access.Pattern {
		t.Fatalf("the page has the rule %q, not %s", found, access.Pattern)
	}
	rule := regexp.MustCompile(string(found[1]))
	token, _ := access.NewToken()
	boot := access.NewBootstrap()
	session, _ := access.NewSession()
	for _, secret := range []string{token, boot, session} {
		if at := rule.FindString("password=" + secret + "\n"); at != secret {
			t.Errorf("%s: %q", secret, at)
		}
		if rule.MatchString(secret[:len(secret)-1]) || rule.MatchString(secret+"x") {
			t.Error("a part of one, or more than one, is found")
		}
	}
}

func TestToken_AreDifferent(t *testing.T) {
	t.Parallel()
	ids, tokens := map[string]bool{}, map[string]bool{}
	for range 200 {
		token, id := access.NewToken()
		if ids[id] || tokens[token] {
			t.Fatalf("%s comes twice", id)
		}
		ids[id], tokens[token] = true, true
	}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	token, id := access.NewToken()
	for _, text := range []string{token, "Bearer " + token, `{"a":"` + token + `"}`, token[:40]} {
		got := access.Redact("see " + text + " there")
		if strings.Contains(got, token[20:35]) || !strings.Contains(got, id) || !strings.HasSuffix(got, " there") {
			t.Errorf("%s", got)
		}
	}
}

// TestGrant_AddsUp checks the table of roles: which permission each role has.
func TestGrant_AddsUp(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]string{
		"reader": "schema read", "writer": "schema write count", "reviewer": "schema read decide",
		"operator":      "schema operate metrics",
		"administrator": "schema read write count decide define erase operate metrics audit access act_for",
	} {
		s, err := access.Grant([]string{role}, nil)
		if got := strings.Join(s.Names(), " "); err != nil || got != want {
			t.Errorf("%s: %q, %v", role, got, err)
		}
	}
	if s, err := access.Grant([]string{"reader", "writer"}, []string{"erase"}); err != nil || strings.Join(s.Names(), " ") != "schema read write count erase" {
		t.Errorf("%v, %v", s.Names(), err)
	}
	for _, wrong := range [][2][]string{{{"admin"}}, {{""}}, {nil, {"root"}}, {nil, {"reader"}}} {
		if s, err := access.Grant(wrong[0], wrong[1]); err == nil {
			t.Errorf("%v gives %v", wrong, s.Names())
		}
	}
}

// TestRule compares rules with the meaning of their words, for random permissions.
func TestRule(t *testing.T) {
	t.Parallel()
	names := access.Permissions()
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 3, rapid.ID).Draw(t, "rule")
		have := rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(t, "caller")
		s, err := access.Grant(nil, have)
		if err != nil {
			t.Fatal(err)
		}
		var of []access.Permission
		n := 0
		for _, p := range some {
			of = append(of, access.Permission(p))
			if strings.Contains(" "+strings.Join(have, " ")+" ", " "+p+" ") {
				n++
			}
		}
		if all, one := access.All(of...).Admits(s), access.Any(of...).Admits(s); all != (n == len(some)) || one != (n > 0) {
			t.Fatalf("%v for %v: all %v, any %v", some, have, all, one)
		}
	})
	if (access.Rule{}).Admits(access.Everything()) || (access.Rule{}).Valid() || !access.Public().Admits(0) {
		t.Error("the zero rule admits a caller, or a public one does not")
	}
}

func TestPrincipal_OfAContext(t *testing.T) {
	t.Parallel()
	if access.From(context.Background()) != nil {
		t.Error("a context without a request has a principal")
	}
	p := &access.Principal{Name: "ci", ID: "abc", Permissions: access.Of(access.Read)}
	if got := access.From(access.With(context.Background(), p)); got != p || !got.May(access.Read) || got.May(access.Read, access.Write) {
		t.Errorf("%+v", got)
	}
}

func FuzzParseToken(f *testing.F) {
	token, _ := access.NewToken()
	f.Add(token)
	f.Add("locus_tok_")
	f.Fuzz(func(t *testing.T, text string) {
		if id, _, err := access.ParseToken(text); err == nil && !strings.HasPrefix(text, access.Prefix+id+"_") && !strings.HasPrefix(text, access.BootPrefix+id+"_") {
			t.Errorf("%q has the id %q", text, id)
		}
		access.Redact(text)
	})
}
