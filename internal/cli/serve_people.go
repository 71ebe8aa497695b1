// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/listen"
	"github.com/locus-db/locus/internal/login"
)

// people holds the flags about how people sign in to the console.
type people struct {
	issuer, client, secretFile string
	roles                      []string
}

func (p *people) flags(c *cobra.Command) {
	c.Flags().StringVar(&p.issuer, "oidc-issuer", "", "URL of the identity provider (OpenID Connect) through which people sign in to the console")
	c.Flags().StringVar(&p.client, "oidc-client-id", "", "id of this server at the identity provider")
	c.Flags().StringVar(&p.secretFile, "oidc-client-secret-file", "", "file with the secret of --oidc-client-id")
	c.Flags().StringArrayVar(&p.roles, "oidc-role", nil, "GROUP=ROLE,...: the roles of a group in the claim groups; may be repeated")
}

// check returns what is wrong with the flags, without reading a file. public is the URL of the server for browsers.
func (p *people) check(public string) error {
	given := map[string]bool{"--oidc-issuer": p.issuer != "", "--oidc-client-id": p.client != "", "--oidc-client-secret-file": p.secretFile != "", "--oidc-role": len(p.roles) > 0}
	if !given["--oidc-issuer"] && !given["--oidc-client-id"] && !given["--oidc-client-secret-file"] && !given["--oidc-role"] {
		return nil
	}
	for _, flag := range []string{"--oidc-issuer", "--oidc-client-id", "--oidc-client-secret-file", "--oidc-role"} {
		if !given[flag] {
			return usage(flag, "people cannot sign in through an identity provider without %s", flag)
		}
	}
	if public == "" {
		return usage("--public-url https://locus.example", "--oidc-issuer needs --public-url: the identity provider leads browsers back there")
	}
	if u, err := url.Parse(public); err != nil || u.Scheme != "https" && !listen.Loopback(u.Hostname()) {
		return usage("--public-url https://locus.example", "--public-url %.80q: people sign in over https:// only, or on this machine", public)
	}
	if u, err := url.Parse(p.issuer); err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !listen.Loopback(u.Hostname())) {
		return usage("--oidc-issuer https://id.example", "--oidc-issuer %.80q: want https://HOST", p.issuer)
	}
	_, err := p.groups()
	return err
}

// groups returns the roles of each group.
func (p *people) groups() (map[string][]string, error) {
	groups := map[string][]string{}
	for _, text := range p.roles {
		i := strings.LastIndex(text, "=") // a group may contain one
		if i <= 0 {
			return nil, usage("--oidc-role crm-team=reviewer", "--oidc-role %.80q is not GROUP=ROLE", text)
		}
		roles := strings.Split(text[i+1:], ",")
		if _, err := access.Grant(roles, nil); err != nil {
			return nil, usage("--oidc-role crm-team=reviewer", "--oidc-role %.80q: %v", text, err)
		}
		groups[text[:i]] = append(groups[text[:i]], roles...)
	}
	return groups, nil
}

// serve adds to the options how people sign in. An identity provider needs an installation that has a token: without one every
// request is taken.
func (p *people) serve(ctx context.Context, svc *locus.DB, options *httpapi.Options, public string) error {
	if p.issuer == "" {
		return nil
	}
	closed, err := svc.Tokens().Closed(ctx)
	if err != nil {
		return fmt.Errorf("read the tokens: %w", err)
	}
	if !closed {
		return usage("locus token create admin --role administrator --output admin.token", "--oidc-issuer: there is no token yet, so every request is taken without signing in")
	}
	secret, err := os.ReadFile(p.secretFile)
	if err != nil {
		return usage("--oidc-client-secret-file FILE", "cannot read the secret: %v", err)
	}
	groups, err := p.groups()
	if err != nil {
		return err
	}
	options.Login = login.New(login.Config{
		Issuer: p.issuer, ClientID: p.client, ClientSecret: strings.TrimSpace(string(secret)), PublicURL: public, Roles: groups,
	})
	return nil
}
