// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/listen"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/tokens"
)

// loginPatience is how long locus login waits for the person in the browser.
const loginPatience = 5 * time.Minute

func (a *app) loginCommand() *cobra.Command {
	var name, fingerprint string
	var paste bool
	c := &cobra.Command{
		Use:   "login URL",
		Short: "Sign in to a server in the browser, and make it the current context",
		Long: "Prints the URL of a page of the server. After you allow the login there, stores a token that is valid for 12 hours in a\n" +
			"context. With --token-file, stores that token instead. Commands without --url, --data or --map use the current context.\n" +
			"For a server with a self-signed certificate, --ca-fingerprint is the fingerprint that locus serve prints.",
		Example: "  locus login https://locus.example\n" +
			"  locus login https://locus.example:7070 --token-file admin.token --ca-fingerprint sha256:...",
		Args: arguments("URL"),
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := dial(args[0])
			if err != nil {
				return err
			}
			defer cl.close()
			if cl.base.Scheme != "https" && !listen.Loopback(cl.base.Hostname()) {
				return usage("https://"+cl.base.Host,
					"refusing to sign in to %s: others could read the token on the way, because that is not https://",
					cl.base.Redacted())
			}
			entry := contextEntry{Name: cmp.Or(name, cl.base.Host), URL: cl.base.String()}
			if a.contextPath() == "" {
				return a.storeContexts(contextList{}) // reports what is missing before there is a token
			}
			if entry.CA, err = a.authorityOf(c.Context(), cl, fingerprint); err != nil {
				return err
			}
			cl.trust(entry.CA)
			if entry.Token, err = a.credential(c); err != nil {
				return err
			}
			if entry.Token.Empty() {
				if err := a.signIn(c.Context(), cl, paste, &entry); err != nil {
					return err
				}
			}
			return a.entered(c.Context(), cl, entry)
		},
	}
	c.Flags().StringVar(&a.tokenFile, "token-file", "",
		"file with a token to store, instead of signing in; or set LOCUS_TOKEN to the token")
	c.Flags().StringVar(&name, "name", "", "name of the context; by default the host")
	c.Flags().StringVar(&fingerprint, "ca-fingerprint", "",
		"fingerprint of the server's certificate authority, sha256:HEX; this context accepts no other")
	c.Flags().BoolVar(&paste, "paste", false, "read the code that the page shows, for a browser on another machine")
	return c
}

// authorityOf returns the authority of a server in PEM: the one with the fingerprint, or the one in the context of the
// server, or "" for the authorities of this machine.
func (a *app) authorityOf(ctx context.Context, cl *client, fingerprint string) (string, error) {
	if fingerprint == "" {
		old, err := a.context(cl.base.String())
		if old == nil || err != nil {
			return "", err
		}
		return old.CA, nil
	}
	want, err := listen.ParseFingerprint(fingerprint)
	if err != nil || cl.base.Scheme != "https" {
		return "", usage("--ca-fingerprint as locus serve prints it, and https://"+cl.base.Host, "--ca-fingerprint: %v",
			cmp.Or(err, errors.New("the address does not begin with https://")))
	}
	ca, err := listen.FetchAuthority(ctx, net.JoinHostPort(cl.base.Hostname(), cmp.Or(cl.base.Port(), "443")),
		cl.base.Hostname(), want)
	if err != nil {
		return "", fmt.Errorf("--ca-fingerprint: %w", err)
	}
	return string(ca), nil
}

// signIn gets a token from a person in a browser, or none if the server takes every request.
func (a *app) signIn(ctx context.Context, cl *client, paste bool, entry *contextEntry) error {
	var who httpapi.Whoami
	_, err := cl.get(ctx, "/v1/whoami", nil, &who)
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*httpapi.Problem](err); !ok || p.Code != httpapi.CodeUnauthenticated {
		return err
	}
	verifier := rand.Text() + rand.Text()
	ask := url.Values{"challenge": {tokens.Challenge(verifier)}}
	var code string
	if paste {
		code, err = a.pasted(cl.base.String() + "/login/cli?" + ask.Encode())
	} else {
		code, err = a.fromBrowser(ctx, cl, ask)
	}
	if err != nil {
		return err
	}
	body, err := json.Marshal(httpapi.LoginRequest{Code: code, Verifier: verifier})
	if err != nil {
		return err
	}
	var made httpapi.TokenMade
	if _, err := cl.do(ctx, http.MethodPost, "/v1/login", nil, body, &made); err != nil {
		return err
	}
	entry.Token, entry.Expires = secret.New(made.Secret), made.Expires
	return nil
}

// pasted asks for the code that the page shows.
func (a *app) pasted(address string) (string, error) {
	a.say("open this page, and paste its code here:\n%s", address)
	line, err := bufio.NewReader(a.stdin).ReadString('\n')
	if code := strings.TrimSpace(line); code != "" {
		return code, nil
	}
	return "", usage("--token-file FILE", "no code was pasted: %v", cmp.Or(err, errors.New("the input is empty")))
}

// fromBrowser prints the address of the page and waits at a port for the code. It does not start a browser: terminals
// open links, and Locus starts no programs.
func (a *app) fromBrowser(ctx context.Context, cl *client, ask url.Values) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen for the browser: %w", err)
	}
	state, codes := rand.Text(), make(chan string, 1)
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		if r.Method != http.MethodGet || r.URL.Path != "/" ||
			subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 || q.Get("code") == "" {
			http.Error(w, "This is not the page that locus login waits for.", http.StatusBadRequest)
			return
		}
		_, _ = fmt.Fprintln(w, "Signed in. You can close this page and go back to the terminal.")
		select {
		case codes <- q.Get("code"):
		default: // the session has one
		}
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(listener) }()
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second) // the answer is still on its way
		defer cancel()
		_ = server.Shutdown(end)
		<-done
	}()
	port := listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // it listens on tcp
	at := url.Values{"challenge": ask["challenge"], "port": {strconv.Itoa(port)}, "state": {state}}
	address := cl.base.String() + "/login/cli?" + at.Encode()
	a.say("open this page in a browser on this machine (for a browser elsewhere: locus login --paste):\n%s", address)
	ctx, cancel := context.WithTimeout(ctx, loginPatience)
	defer cancel()
	select {
	case code := <-codes:
		return code, nil
	case <-ctx.Done():
		return "", usage("locus login --paste "+cl.base.String(), "the browser has not come back within %v", loginPatience)
	}
}

// entered stores a context with the principal that the server reports for the token.
func (a *app) entered(ctx context.Context, cl *client, entry contextEntry) error {
	if err := cl.prove(entry.Token); err != nil {
		return err
	}
	var who httpapi.Whoami
	if _, err := cl.get(ctx, "/v1/whoami", nil, &who); err != nil {
		return err
	}
	entry.Principal = cmp.Or(who.Author, who.Name)
	list, err := a.contexts()
	if err != nil {
		return err
	}
	list.put(entry)
	if err := a.storeContexts(list); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"type": "summary", "context": entry.Name, "url": entry.URL, "name": who.Name,
			"permissions": who.Permissions})
	}
	if entry.Token.Empty() {
		a.say("%s accepts requests without a token: no login is needed; it is the current context now", entry.URL)
		return nil
	}
	a.say("signed in to %s as %s%s; it is the current context now", entry.URL, term.Escape(entry.Principal),
		until(entry.Expires))
	return nil
}

func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " until " + moment(t)
}

func (a *app) logoutCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "logout",
		Short: "Log out of the current context, and remove it",
		Example: "  locus logout\n" +
			"  locus logout --name locus.example",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := a.contexts()
			if err != nil {
				return err
			}
			entry := list.find(cmp.Or(name, list.Current))
			if entry == nil {
				return usage("locus context list", "there is no such context to log out of")
			}
			old := *entry
			ended, failed := a.quit(c.Context(), old)
			list.drop(old.Name)
			if err := a.storeContexts(list); err != nil {
				return errors.Join(err, failed)
			}
			switch {
			case failed != nil:
				a.say("forgot %s, but its token may still be valid: %v", term.Escape(old.Name), failed)
			case !old.Token.Empty() && !ended:
				a.say("forgot %s; its token was not made by locus login and stays valid: locus token revoke ends it",
					term.Escape(old.Name))
			default:
				a.say("logged out of %s", term.Escape(old.Name))
			}
			return nil
		},
	}
	c.Flags().StringVar(&name, "name", "", "name of the context; by default the current one")
	return c
}

// quit ends the token of a context at its server.
func (a *app) quit(ctx context.Context, of contextEntry) (ended bool, err error) {
	if of.Token.Empty() || !of.Expires.IsZero() && !time.Now().Before(of.Expires) {
		return true, nil
	}
	cl, err := dial(of.URL)
	if err != nil {
		return false, err
	}
	defer cl.close()
	cl.trust(of.CA)
	if err := cl.prove(of.Token); err != nil {
		return false, err
	}
	var out httpapi.LoggedOut
	_, err = cl.do(ctx, http.MethodDelete, "/v1/login", nil, nil, &out)
	if p, ok := errors.AsType[*httpapi.Problem](err); ok && p.Code == httpapi.CodeUnauthenticated {
		return true, nil // the session has ended already
	}
	return out.Ended, err
}
