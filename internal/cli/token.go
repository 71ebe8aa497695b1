// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) tokenCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "token",
		Short: "Create, list, rotate and revoke API tokens",
		Long: "Without tokens, a server listens on this machine only and accepts every request. The first token is an\n" +
			"administrator's; from then on every request needs a token. Commands with --data or --map need none.",
		Example: "  locus token create admin --role administrator --output admin.token\n" +
			"  locus token list",
	}
	c.AddCommand(a.tokenCreate(), a.tokenBootstrap(), a.tokenList(), a.tokenRotate(), a.tokenRevoke())
	return c
}

func tokenPath(name string) string { return "/v1/tokens/" + url.PathEscape(name) }

var tokenNames = namesAt("/v1/tokens", "tokens", "name")

func (a *app) tokenCreate() *cobra.Command {
	var request httpapi.TokenRequest
	var output string
	c := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a token and print it once",
		Long: "  reader          reads records, entities, rollups and counters\n" +
			"  writer          puts and deletes records and adds hits; reads nothing\n" +
			"  reviewer        reads, and makes decisions\n" +
			"  operator        manages cells, runs checks, reads metrics; sees no records\n" +
			"  administrator   everything\n\n" +
			"Roles can be combined. --allow adds single permissions: " + strings.Join(access.Permissions(), ", ") + ".\n" +
			"Create the first token with --data or --map on the machine of the databases, or through a server on loopback.",
		Example: "  locus token create crm-import --role writer --output crm.token\n" +
			"  locus token create backup --role reader,operator --expires 8760h --url https://locus.example",
		Args: arguments("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			if flagged(c, "write-sources") && len(request.Sources) == 0 {
				return usage("--write-sources crm,vendor-*, or leave it out for all", "--write-sources names no source")
			}
			for name, list := range map[string][]string{"kinds": request.Kinds, "hide": request.Hide} {
				if flagged(c, name) && len(list) == 0 {
					return usage("--"+name+" NAME,..., or leave it out", "--%s names nothing", name)
				}
			}
			request.Name = args[0]
			to := writes
			if flagged(c, "data") || flagged(c, "map") { // a token may be made before the server first starts
				to = makes
			}
			return a.made(to, output, http.MethodPost, "/v1/tokens", &request)(c, args)
		},
	}
	c.Flags().StringSliceVar(&request.Roles, "role", nil, "roles: "+strings.Join(access.Roles(), ", "))
	c.Flags().StringSliceVar(&request.Allow, "allow", nil, "single permissions besides those of the roles")
	c.Flags().Var(&ratesFlag{&request.Rates}, "rate",
		"limits of each server per second, such as requests=50,records=5000,hits=10000; by default 200, 20000 and 100000")
	c.Flags().StringSliceVar(&request.Sources, "write-sources", nil,
		"sources whose records it may write, such as crm,vendor-*; all by default")
	c.Flags().StringSliceVar(&request.Kinds, "kinds", nil, "kinds that it may see, such as person; all by default")
	c.Flags().StringSliceVar(&request.Hide, "hide", nil, "attributes whose values it may not see, such as phones,emails")
	c.Flags().StringVar(&request.Expires, "expires", "", "validity, at most 8784h, or never; 2160h (90 days) by default")
	c.Flags().StringVarP(&output, "output", "o", "",
		"new file for the token, readable by its owner only; by default the token is printed")
	return a.connection(c)
}

func (a *app) tokenRotate() *cobra.Command {
	var request httpapi.RotateRequest
	var output string
	c := &cobra.Command{
		Use:   "rotate NAME",
		Short: "Give a token a new secret; the old one stays valid for --overlap",
		Example: "  locus token rotate crm-import --overlap 24h --output crm.new.token\n" +
			"  locus token rotate crm-import --json | jq -r .secret",
		Args: arguments("NAME"), ValidArgsFunction: a.names(tokenNames, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.made(writes, output, http.MethodPost, tokenPath(args[0])+"/rotate", &request)(c, args)
		},
	}
	c.Flags().StringVar(&request.Overlap, "overlap", "",
		"how long the old secret stays valid, such as 24h; by default not at all")
	c.Flags().StringVarP(&output, "output", "o", "",
		"new file for the token, readable by its owner only; by default the token is printed")
	return a.connection(c)
}

func (a *app) tokenBootstrap() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "bootstrap",
		Short: "Create a bootstrap token for locus serve --bootstrap-token-file",
		Long: "For orchestrators: start a new installation with the token as a secret file, and use it to create the first token. It\n" +
			"is valid for a day from the first start, and only until there is another token.",
		Example: "  locus token bootstrap --output boot.token\n  locus token bootstrap --json | jq -r .secret",
		Args:    arguments(),
		RunE: func(*cobra.Command, []string) (err error) {
			secret := access.NewBootstrap()
			if output != "" {
				file, err := newTokenFile(output)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(file, secret)
				return errors.Join(err, file.Close())
			}
			if a.json {
				return a.printJSON(map[string]string{"secret": secret})
			}
			_, err = fmt.Fprintln(a.stdout, secret)
			return err
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "",
		"new file for the token, readable by its owner only; by default the token is printed")
	return c
}

// newTokenFile creates a file for a token, which only its owner can read.
func newTokenFile(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, &failure{Code: "invalid", Message: fmt.Sprintf("cannot create the file of the token: %v", err),
			Hint: "name a file that does not exist", Exit: exitInvalid, Err: err}
	}
	return file, nil
}

// made sends a request that makes a token, and prints it or writes it to a file. The file is created first, so that no
// token is made that cannot be stored.
func (a *app) made(to opening, output, method, path string, request any) func(*cobra.Command, []string) error {
	return a.connectedTo(to, func(c *cobra.Command, cl *client, _ []string) (err error) {
		out := a.stdout
		if output != "" {
			file, err := newTokenFile(output)
			if err != nil {
				return err
			}
			defer func() {
				if err != nil {
					err = errors.Join(err, os.Remove(output))
				}
			}()
			defer func() { err = errors.Join(err, file.Close()) }()
			out = file
		}
		body, err := json.Marshal(request)
		if err != nil {
			return err
		}
		var of httpapi.TokenMade
		raw, err := cl.do(c.Context(), method, path, nil, body, &of)
		if err != nil {
			return err
		}
		limit := ""
		if len(of.WriteSources) > 0 {
			limit = " of " + strings.Join(of.WriteSources, ", ")
		}
		if len(of.Kinds) > 0 {
			limit += ", kinds " + strings.Join(of.Kinds, ", ")
		}
		if len(of.Hide) > 0 {
			limit += ", without " + strings.Join(of.Hide, ", ")
		}
		a.say("token %s: %s%s, %s", term.Escape(of.Name), strings.Join(of.Permissions, " "), term.Escape(limit),
			ends(of.Expires))
		if output != "" {
			a.say("written to %s; use it with --token-file or LOCUS_TOKEN_FILE", term.Escape(output))
		} else if a.json {
			return a.printRaw(raw)
		} else {
			a.say("this is the only time it is shown; use it with LOCUS_TOKEN, or in a file with --token-file")
		}
		_, err = fmt.Fprintln(out, of.Secret)
		return err
	})
}

func ends(t time.Time) string {
	if t.IsZero() {
		return "never expires"
	}
	return "until " + t.UTC().Format(time.RFC3339)
}

func (a *app) tokenList() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "list",
		Short: "List tokens with their permissions, expiry and last use",
		Example: "  locus token list\n" +
			"  locus token list --json | jq -r 'select(.expires == null).name'",
		Args: arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			var list httpapi.TokenList
			if _, err := cl.get(c.Context(), "/v1/tokens", nil, &list); err != nil {
				return err
			}
			if a.json {
				return printEach(a, list.Tokens)
			}
			if len(list.Tokens) == 0 {
				a.say("there are no tokens; locus token create NAME --role administrator makes the first")
			}
			t := &term.Table{Header: []string{"name", "id", "roles", "also", "created", "by", "expires", "last used"}}
			for _, k := range list.Tokens {
				expires := "never"
				if !k.Expires.IsZero() {
					expires = moment(k.Expires)
				}
				if k.Expired {
					expires = "expired"
				}
				also := k.Allow
				if len(k.WriteSources) > 0 {
					also = append(also, "sources="+strings.Join(k.WriteSources, ","))
				}
				if len(k.Kinds) > 0 {
					also = append(also, "kinds="+strings.Join(k.Kinds, ","))
				}
				if len(k.Hide) > 0 {
					also = append(also, "hide="+strings.Join(k.Hide, ","))
				}
				t.Add(k.Name, k.ID, strings.Join(k.Roles, " "), strings.Join(also, " "), moment(k.Created), k.By, expires,
					moment(k.Used))
			}
			return a.printTable(t)
		}),
	})
}

func (a *app) tokenRevoke() *cobra.Command {
	var all, yes bool
	c := a.connection(&cobra.Command{
		Use: "revoke NAME | --all", Short: "Revoke all tokens of a name, within a second in every process",
		Long: "The last administrator's token can only be revoked with --data or --map. The server requires tokens even without one.\n" +
			"--all revokes every token and ends every session, with --data or --map only. Use it on a restored backup, in which\n" +
			"tokens that were revoked since are valid again.",
		Example: "  locus token revoke crm-import --url https://locus.example\n  locus token revoke --all --data ./restored",
		Args: func(c *cobra.Command, args []string) error {
			if all {
				return arguments()(c, args)
			}
			return arguments("NAME")(c, args)
		},
		ValidArgsFunction: a.names(tokenNames, 1),
		RunE: func(c *cobra.Command, args []string) error {
			path, name := "/v1/tokens", "all"
			if all {
				if err := a.confirm(yes, "Revoke every token and session?"); err != nil {
					return err
				}
			} else {
				path, name = tokenPath(args[0]), args[0]
			}
			return a.connectedTo(writes, func(c *cobra.Command, cl *client, _ []string) error {
				var of httpapi.TokensRevoked
				if _, err := cl.do(c.Context(), http.MethodDelete, path, nil, nil, &of); err != nil {
					return err
				}
				switch {
				case a.json:
					return a.printJSON(map[string]any{"type": "summary", "token": name, "revoked": of.Revoked})
				case all:
					a.say("revoked %s, and ended every session; locus token create makes the next one, with --data or --map",
						plural(of.Revoked, "token"))
				default:
					a.say("revoked %s of %s", plural(of.Revoked, "token"), term.Escape(name))
				}
				return nil
			})(c, args)
		},
	})
	c.Flags().BoolVar(&all, "all", false, "every token and session")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return c
}
