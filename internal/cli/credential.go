// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/listen"
	"github.com/locus-db/locus/secret"
)

// maxTokenFile limits the bytes read of a file that should contain a token.
const maxTokenFile = 4 << 10

// credential returns the token for a server from --token-file, LOCUS_TOKEN or LOCUS_TOKEN_FILE, in this order. It is
// empty if none is given. No message contains it.
func (a *app) credential(c *cobra.Command) (secret.Text, error) {
	from, text := "variable LOCUS_TOKEN", a.env["LOCUS_TOKEN"]
	if path := a.tokenFile; path != "" && (text == "" || flagged(c, "token-file")) {
		return tokenIn(path)
	} else if text == "" {
		return secret.Text{}, nil
	}
	return parsed(from, text)
}

// tokenIn returns the token in a file.
func tokenIn(path string) (secret.Text, error) {
	file, err := os.Open(path)
	if err != nil {
		return secret.Text{}, usage("a file with a token", "cannot read the token: %v", err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxTokenFile))
	if err != nil {
		return secret.Text{}, usage("a file with a token", "cannot read the token: %v", err)
	}
	return parsed("the file "+path, string(content))
}

// parsed returns the token in a text that is from somewhere.
func parsed(from, text string) (secret.Text, error) {
	token := strings.TrimSpace(text)
	if _, _, err := access.ParseToken(token); err != nil {
		return secret.Text{}, usage("copy it again, or create another with locus token create", "%s: %v", from, err)
	}
	return secret.New(token), nil
}

// bearer sends a token with every request to one origin.
type bearer struct {
	over   http.RoundTripper
	token  secret.Text
	origin *url.URL
}

// RoundTrip implements http.RoundTripper.
func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != b.origin.Scheme || r.URL.Host != b.origin.Host {
		return nil, fmt.Errorf("the token is for %s, not for %s", b.origin.Redacted(), r.URL.Host)
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token.Reveal())
	return b.over.RoundTrip(r)
}

// prove makes a client send a token. A redirect is not followed, and a token never leaves this machine in clear text.
func (c *client) prove(token secret.Text) error {
	if token.Empty() {
		return nil
	}
	if c.base.Scheme != "https" && !listen.Loopback(c.base.Hostname()) {
		return usage("https://"+c.base.Host,
			"refusing to send the token to %s: others could read it on the way, because that is not https://", c.base.Redacted())
	}
	c.http.Transport = &bearer{c.http.Transport, token, c.base}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return nil
}
