// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"
)

func TestPeople_Flags(t *testing.T) {
	t.Parallel()
	oidc := people{publicURL: "https://Locus.example/", issuer: "https://id.example", client: "locus", secretFile: "f", roles: []string{"a=b=reader", "crm=reviewer,reader"}}
	jwt := people{publicURL: "https://locus.example", jwtIssuer: "https://ci.example", jwtRoles: []string{"repo:crm=writer"}}
	with := func(p people, change func(*people)) people { change(&p); return p }
	for name, test := range map[string]struct {
		flags people
		want  string // in the error, "" if there is none
	}{
		"none":             {people{}, ""},
		"provider":         {oidc, ""},
		"service":          {jwt, ""},
		"on this machine":  {with(oidc, func(p *people) { p.publicURL, p.issuer = "http://127.0.0.1:7070", "http://localhost:1" }), ""},
		"no public URL":    {with(oidc, func(p *people) { p.publicURL = "" }), "--public-url"},
		"clear text":       {with(oidc, func(p *people) { p.publicURL = "http://locus.example" }), "want https://HOST"},
		"a path":           {with(oidc, func(p *people) { p.publicURL = "https://locus.example/x" }), "without a path"},
		"a user":           {with(oidc, func(p *people) { p.publicURL = "https://a:b@locus.example" }), "want https://HOST"},
		"no issuer":        {with(oidc, func(p *people) { p.issuer = "" }), "without --oidc-issuer"},
		"no client":        {with(oidc, func(p *people) { p.client = "" }), "without --oidc-client-id"},
		"no secret":        {with(oidc, func(p *people) { p.secretFile = "" }), "without --oidc-client-secret-file"},
		"no role":          {with(oidc, func(p *people) { p.roles = nil }), "without --oidc-role"},
		"unknown role":     {with(oidc, func(p *people) { p.roles = []string{"crm=boss"} }), "there is no role"},
		"no group":         {with(oidc, func(p *people) { p.roles = []string{"=reader"} }), "not NAME=ROLE"},
		"readable issuer":  {with(oidc, func(p *people) { p.issuer = "http://id.example" }), "--oidc-issuer"},
		"roles of nothing": {people{jwtRoles: []string{"x=reader"}}, "belong together"},
		"no audience":      {with(jwt, func(p *people) { p.publicURL = "" }), "--jwt-issuer needs --public-url"},
		"no such role":     {with(jwt, func(p *people) { p.jwtRoles = []string{"x=boss"} }), "there is no role"},
		"jwt in the clear": {with(jwt, func(p *people) { p.jwtIssuer = "http://ci.example" }), "--jwt-issuer"},
	} {
		err := test.flags.check()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := oidc.check(); err != nil || oidc.publicURL != "https://locus.example" {
		t.Errorf("%q, %v", oidc.publicURL, err)
	}
	if groups, err := granted("--oidc-role", oidc.roles); err != nil || strings.Join(groups["crm"], " ") != "reviewer reader" || len(groups["a=b"]) != 1 {
		t.Errorf("%v, %v", groups, err)
	}
}
