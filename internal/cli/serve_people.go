// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
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
	"github.com/locus-db/locus/secret"
)

// people holds the flags for how people sign in to the console, and how services authenticate without a token.
type people struct {
	issuer, client, secretFile string
	roles                      []string
	jwtIssuer                  string
	jwtRoles                   []string
	clientCA                   string // file with the authorities of clients
	certRoles                  []string
}

func (p *people) flags(c *cobra.Command) {
	c.Flags().StringVar(&p.issuer, "oidc-issuer", "",
		"URL of the identity provider (OpenID Connect) through which people sign in to the console")
	c.Flags().StringVar(&p.client, "oidc-client-id", "", "id of this server at the identity provider")
	c.Flags().StringVar(&p.secretFile, "oidc-client-secret-file", "", "file with the secret of --oidc-client-id")
	c.Flags().StringArrayVar(&p.roles, "oidc-role", nil, "GROUP=ROLE,...: roles and limits of a group in the claim groups; limits are kind:NAME, hide:ATTRIBUTE, source:NAME; may be repeated")
	c.Flags().StringVar(&p.jwtIssuer, "jwt-issuer", "",
		"URL of an issuer of JWTs for services, such as CI; their audience is --public-url")
	c.Flags().StringVar(&p.clientCA, "tls-client-ca", "",
		"PEM file with authorities; services may present a certificate of one instead of a token")
	c.Flags().StringArrayVar(&p.certRoles, "cert-role", nil,
		"NAME=ROLE,...: roles and limits of the service with this first URI or DNS name in its certificate; may be repeated")
	c.Flags().StringArrayVar(&p.jwtRoles, "jwt-role", nil,
		"SUBJECT=ROLE,...: roles and limits of a subject of --jwt-issuer; may be repeated")
}

// check returns the faults of the flags, without reading a file. public is the URL of the server for browsers.
func (p *people) check(public string) error {
	if err := errors.Join(p.checkJWT(public), p.checkCerts()); err != nil {
		return err
	}
	given := map[string]bool{"--oidc-issuer": p.issuer != "", "--oidc-client-id": p.client != "",
		"--oidc-client-secret-file": p.secretFile != "", "--oidc-role": len(p.roles) > 0}
	if !given["--oidc-issuer"] && !given["--oidc-client-id"] && !given["--oidc-client-secret-file"] &&
		!given["--oidc-role"] {
		return nil
	}
	for _, flag := range []string{"--oidc-issuer", "--oidc-client-id", "--oidc-client-secret-file", "--oidc-role"} {
		if !given[flag] {
			return usage(flag, "people cannot sign in through an identity provider without %s", flag)
		}
	}
	if public == "" {
		return usage("--public-url https://locus.example",
			"--oidc-issuer needs --public-url: the identity provider leads browsers back there")
	}
	if !secure(public) {
		return usage("--public-url https://locus.example",
			"--public-url %.80q: people sign in over https:// only, or on this machine", public)
	}
	if !secure(p.issuer) {
		return usage("--oidc-issuer https://id.example", "--oidc-issuer %.80q: want https://HOST", p.issuer)
	}
	_, err := granted("--oidc-role", p.roles)
	return err
}

// checkJWT is check for the flags about services.
func (p *people) checkJWT(public string) error {
	switch {
	case p.jwtIssuer == "" && len(p.jwtRoles) == 0:
		return nil
	case p.jwtIssuer == "" || len(p.jwtRoles) == 0:
		return usage("give both", "--jwt-issuer and --jwt-role belong together: without a role a service may do nothing")
	case public == "":
		return usage("--public-url https://locus.example",
			"--jwt-issuer needs --public-url, which is the audience of its tokens")
	}
	if !secure(p.jwtIssuer) {
		return usage("--jwt-issuer https://id.example", "--jwt-issuer %.80q: want https://HOST", p.jwtIssuer)
	}
	_, err := granted("--jwt-role", p.jwtRoles)
	return err
}

// checkCerts is check for the flags about certificates of clients.
func (p *people) checkCerts() error {
	if (p.clientCA == "") != (len(p.certRoles) == 0) {
		return usage("give both", "--tls-client-ca and --cert-role belong together: without a role a service may do nothing")
	}
	_, err := granted("--cert-role", p.certRoles)
	return err
}

// secure reports whether a URL is https://, or http:// on this machine.
func secure(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && listen.Loopback(u.Hostname()))
}

// granted returns the roles and limits of each group or subject of a flag.
func granted(flag string, texts []string) (map[string][]string, error) {
	groups := map[string][]string{}
	for _, text := range texts {
		i := strings.LastIndex(text, "=") // a group may contain one
		if i <= 0 {
			return nil, usage(flag+" crm-team=reviewer", "%s %.80q is not NAME=ROLE", flag, text)
		}
		roles := strings.Split(text[i+1:], ",")
		if _, err := access.ParseGiven(roles); err != nil {
			return nil, usage(flag+" crm-team=reviewer", "%s %.80q: %v", flag, text, err)
		}
		groups[text[:i]] = append(groups[text[:i]], roles...)
	}
	return groups, nil
}

// serve adds to the options how people sign in. An identity provider needs an installation that has a token: without
// one every request is taken.
func (p *people) serve(ctx context.Context, svc *locus.DB, options *httpapi.Options, public string) error {
	if p.issuer == "" && p.jwtIssuer == "" && p.clientCA == "" {
		return nil
	}
	closed, err := svc.Tokens().Closed(ctx)
	if err != nil {
		return fmt.Errorf("read the tokens: %w", err)
	}
	if !closed {
		return usage("locus token create admin --role administrator --output admin.token",
			"--oidc-issuer, --jwt-issuer and --tls-client-ca: there is no token yet, so every request is taken without them")
	}
	for flag, texts := range map[string][]string{"--oidc-role": p.roles, "--jwt-role": p.jwtRoles, "--cert-role": p.certRoles} {
		named, err := granted(flag, texts)
		if err != nil {
			return err
		}
		for name, items := range named {
			given, _ := access.ParseGiven(items) // granted has checked them
			if err := httpapi.KnownRestriction(svc.Kinds().Schemas(), &given.Restriction); err != nil {
				return usage(flag+" crm-team=reviewer,kind:person,hide:emails", "%s %.80q: %v", flag, name, err)
			}
		}
	}
	if options.CertRoles, err = granted("--cert-role", p.certRoles); err != nil {
		return err
	}
	if p.jwtIssuer != "" {
		roles, err := granted("--jwt-role", p.jwtRoles)
		if err != nil {
			return err
		}
		options.Bearers = login.NewBearers(public, nil, login.Issuer{URL: p.jwtIssuer, Roles: roles})
	}
	if p.issuer == "" {
		return nil
	}
	content, err := os.ReadFile(p.secretFile)
	if err != nil {
		return usage("--oidc-client-secret-file FILE", "cannot read the secret: %v", err)
	}
	groups, err := granted("--oidc-role", p.roles)
	if err != nil {
		return err
	}
	options.Login = login.New(login.Config{
		Issuer: p.issuer, ClientID: p.client, ClientSecret: secret.New(strings.TrimSpace(string(content))), PublicURL: public,
		Roles: groups,
	})
	return nil
}
