// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/tokens"
)

func TestPeople_Flags(t *testing.T) {
	t.Parallel()
	oidc := people{issuer: "https://id.example", client: "locus", secretFile: "f",
		roles: []string{"a=b=reader", "crm=reviewer,reader"}}
	jwt := people{jwtIssuer: "https://ci.example", jwtRoles: []string{"repo:crm=writer"}}
	with := func(p people, change func(*people)) people { change(&p); return p }
	for name, test := range map[string]struct {
		flags  people
		public string
		want   string // in the error, "" if there is none
	}{
		"none":             {people{}, "", ""},
		"provider":         {oidc, "https://locus.example", ""},
		"service":          {jwt, "https://locus.example", ""},
		"on this machine":  {with(oidc, func(p *people) { p.issuer = "http://localhost:1" }), "http://127.0.0.1:7070", ""},
		"no public URL":    {oidc, "", "--public-url"},
		"clear text":       {oidc, "http://locus.example", "over https://"},
		"no issuer":        {with(oidc, func(p *people) { p.issuer = "" }), "https://locus.example", "without --oidc-issuer"},
		"no client":        {with(oidc, func(p *people) { p.client = "" }), "https://locus.example", "without --oidc-client-id"},
		"no secret":        {with(oidc, func(p *people) { p.secretFile = "" }), "https://locus.example", "without --oidc-client-secret-file"},
		"no role":          {with(oidc, func(p *people) { p.roles = nil }), "https://locus.example", "without --oidc-role"},
		"unknown role":     {with(oidc, func(p *people) { p.roles = []string{"crm=boss"} }), "https://locus.example", "there is no role"},
		"limits":           {with(oidc, func(p *people) { p.roles = []string{"crm=reviewer,kind:person,hide:ssn,source:crm", "all=hide:ssn"} }), "https://locus.example", ""},
		"unknown limit":    {with(oidc, func(p *people) { p.roles = []string{"crm=reviewer,attribute:ssn"} }), "https://locus.example", "not a limit"},
		"no group":         {with(oidc, func(p *people) { p.roles = []string{"=reader"} }), "https://locus.example", "not NAME=ROLE"},
		"readable issuer":  {with(oidc, func(p *people) { p.issuer = "http://id.example" }), "https://locus.example", "--oidc-issuer"},
		"roles of nothing": {people{jwtRoles: []string{"x=reader"}}, "https://locus.example", "belong together"},
		"no audience":      {jwt, "", "--jwt-issuer needs --public-url"},
		"no such role":     {with(jwt, func(p *people) { p.jwtRoles = []string{"x=boss"} }), "https://locus.example", "there is no role"},
		"jwt in the clear": {with(jwt, func(p *people) { p.jwtIssuer = "http://ci.example" }), "https://locus.example", "--jwt-issuer"},
	} {
		err := test.flags.check(test.public)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if groups, err := granted("--oidc-role", oidc.roles); err != nil || strings.Join(groups["crm"], " ") != "reviewer reader" || len(groups["a=b"]) != 1 {
		t.Errorf("%v, %v", groups, err)
	}
}

// TestP10_LimitsAreNotMistyped starts with limits of kinds and attributes that do not exist, which would hide nothing.
func TestP10_LimitsAreNotMistyped(t *testing.T) {
	t.Parallel()
	db, err := locus.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, _, err := db.Tokens().Create(t.Context(), tokens.Operator(), tokens.Request{Name: "root", Roles: []string{"administrator"}}); err != nil {
		t.Fatal(err)
	}
	for items, want := range map[string]string{
		"x=reader,kind:person,hide:emails,source:any": "", "x=reader,hide:email": `no kind has an attribute "email"`,
		"x=reader,kind:people": `there is no kind "people"`,
	} {
		p := people{clientCA: "clients.pem", certRoles: []string{items}}
		var options httpapi.Options
		err := p.serve(t.Context(), db, &options, "https://locus.example")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil &&
			len(options.CertRoles["x"]) != 4 {
			t.Errorf("%s: %v", items, err)
		}
	}
}
