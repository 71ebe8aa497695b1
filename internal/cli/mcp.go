// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/mcp"
)

func (a *app) mcpCommand() *cobra.Command {
	var o mcp.Options
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve an agent over standard input and output, by the Model Context Protocol",
		Long: "The agent can search, read, compare and match. It stores nothing unless --allow names a tool that stores: remember puts\n" +
			"records of the source agent.NAME, and decide makes decisions by agent:NAME, which locus decision withdraw --author\n" +
			"agent:NAME withdraws. A data directory stays open for the whole session; with --url, others can use it too.",
		Example: "  locus mcp --url http://127.0.0.1:7070\n" +
			"  locus mcp --agent helpdesk --allow remember,decide",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			to := reads
			for _, name := range o.Allow {
				if !slices.Contains(mcp.Writing, name) {
					return usage("--allow "+strings.Join(mcp.Writing, ","), "--allow %.60q is not a tool that stores", name)
				}
				to = writes
			}
			if o.Agent != "" || to == writes {
				if err := mcp.CheckAgent(o.Agent); err != nil {
					return usage("--agent helpdesk", "--agent: %v", err)
				}
			}
			return a.connectedTo(to, func(c *cobra.Command, cl *client, _ []string) error {
				o.Version, o.Logger = version(), a.logger(slog.LevelWarn)
				server, err := mcp.New(c.Context(), cl.call, &o)
				if err != nil {
					return err
				}
				return server.Serve(c.Context(), a.stdin, a.stdout)
			})(c, nil)
		},
	}
	c.Flags().StringVar(&o.Agent, "agent", "", "name of the agent in sources and authors; required with --allow")
	c.Flags().StringSliceVar(&o.Allow, "allow", nil, "tools that store: remember, decide; none by default")
	return a.connection(c)
}

// call is do without the JSON of the answer.
func (c *client) call(ctx context.Context, method, path string, query url.Values, body []byte, out any) error {
	_, err := c.do(ctx, method, path, query, body, out)
	return err
}
