// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) sinkCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "sink",
		Short: "Deliver entities to webhooks, brokers and databases, and keep these current",
		Example: "  locus sink create golden --to 'postgres://crm@db/crm?table=golden' --secret-env CRM_PASSWORD\n" +
			"  locus sink list",
	}
	c.AddCommand(a.sinkCreate(), a.sinkList(), a.sinkShow(), a.sinkTurn("pause", "Stop delivering to a sink", ""),
		a.sinkTurn("resume", "Resume a sink where it stopped",
			"A sink pauses if the receiver returns 410, if the target belongs to another installation, or at 10,000 dead letters;\n"+
				"locus sink show NAME shows the reason. If the logs do not reach back to where it stopped, it delivers all ids again."),
		a.sinkAdopt(), a.sinkVerify(), a.sinkDelete(), a.sinkDead())
	return c
}

func sinkPath(name string) string { return "/v1/sinks/" + url.PathEscape(name) }

var sinkNames = namesAt("/v1/sinks", "sinks", "name")

func (a *app) sinkCreate() *cobra.Command {
	var request httpapi.SinkRequest
	c := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a sink: the servers deliver all entities to a target, then every change",
		Long: "The servers deliver the state of each id: an entity, a redirect or a deletion. First all ids, then each id that changes.\n\n" +
			"  https://HOST/PATH                                   a request for each event, signed by the secret (Standard Webhooks)\n" +
			"  postgres://USER@HOST/DATABASE?table=[SCHEMA.]TABLE  a row for each id; the secret is the password\n" +
			"  mongodb://USER@HOST/DATABASE?collection=NAME        a document for each id; the secret is the password\n" +
			"  kafka://BROKER,BROKER/TOPIC                         a message for each event, in transactions, into a compacted topic\n" +
			"  nats://HOST/STREAM?subject=PREFIX                   a message for each event on PREFIX.ID of a stream of JetStream\n" +
			"  file:NAME?format=jsonl|parquet                      parts in the directory NAME below --sink-files of the servers\n\n" +
			"kafka: takes USER@, sasl=plain|scram-sha-256|scram-sha-512 and tls=true; nats: takes USER@, or a token as secret, and tls=true.\n\n" +
			"The servers read the secret from an environment variable; only the name of the variable is stored. Repeat the command\n" +
			"to change the secret or the hold; the position stays.",
		Example: "  locus sink create golden --to 'postgres://crm@db/crm?table=golden' --kind place --secret-env CRM_PASSWORD\n" +
			"  locus sink create bus --to 'nats://bus.example/CRM?subject=crm.golden&tls=true' --secret-env NATS_TOKEN",
		Args: arguments("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			if request.To == "" {
				return usage("--to https://HOST/PATH, or a postgres:, mongodb:, kafka:, nats: or file: URL; see locus sink create --help", "--to is missing")
			}
			var of httpapi.Sink
			raw, err := a.putDefinition(c, sinkPath(args[0]), request, &of, "this sink exists already; nothing changed")
			if err != nil {
				return err
			}
			return a.printSink(raw, &of)
		},
	}
	c.Flags().StringVar(&request.To, "to", "", "URL of the target, without a password")
	c.Flags().StringVar(&request.Kind, "kind", "",
		"deliver only the entities of this kind; redirects and deletions are of all kinds")
	c.Flags().StringVar(&request.Feed, "feed", "",
		"states (default), or changes: every change of every log from now on, to all targets but MongoDB")
	c.Flags().StringVar(&request.SecretEnv, "secret-env", "", "environment variable of the servers with the secret")
	c.Flags().StringVar(&request.Hold, "hold", "72h",
		"how long the logs keep undelivered changes, at most 72h; after that the sink delivers all ids again")
	return a.connection(c)
}

func (a *app) sinkList() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "list",
		Short: "List the sinks with their states and dead letters",
		Example: "  locus sink list\n" +
			"  locus sink list --json | jq -r 'select(.dead > 0).name'",
		Args: arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			var list httpapi.SinkList
			if _, err := cl.get(c.Context(), "/v1/sinks", nil, &list); err != nil {
				return err
			}
			if a.json {
				return printEach(a, list.Sinks)
			}
			if len(list.Sinks) == 0 {
				a.say("there are no sinks; locus sink create makes one")
			}
			return a.printSinks(list.Sinks)
		}),
	})
}

// printEach prints a list as lines of JSON.
func printEach[T any](a *app, list []T) error {
	for _, one := range list {
		line, err := json.Marshal(one)
		if err != nil {
			return err
		}
		if err := a.printRaw(typed("result", line)); err != nil {
			return err
		}
	}
	return a.listed(len(list), "")
}

func (a *app) sinkShow() *cobra.Command {
	return a.connection(&cobra.Command{
		Use: "show NAME", Short: "Show the state of a sink: how much it has delivered, how far it lags, and why it fails",
		Example: "  locus sink show golden\n  locus sink show golden --json | jq .lag_ms",
		Args:    arguments("NAME"), ValidArgsFunction: a.names(sinkNames, 1),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			var of httpapi.Sink
			raw, err := cl.get(c.Context(), sinkPath(args[0]), nil, &of)
			if err != nil {
				return err
			}
			return a.printSink(raw, &of)
		}),
	})
}

func (a *app) sinkTurn(verb, short, long string) *cobra.Command {
	return a.connection(&cobra.Command{
		Use: verb + " NAME", Short: short, Long: long,
		Example: "  locus sink " + verb + " golden\n  locus sink " + verb + " golden --json | jq .state",
		Args:    arguments("NAME"), ValidArgsFunction: a.names(sinkNames, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.connectedTo(writes, func(c *cobra.Command, cl *client, args []string) error {
				var of httpapi.Sink
				raw, err := cl.do(c.Context(), http.MethodPost, sinkPath(args[0])+"/"+verb, nil, nil, &of)
				if err != nil {
					return err
				}
				return a.printSink(raw, &of)
			})(c, args)
		},
	})
}

func (a *app) sinkAdopt() *cobra.Command {
	var request httpapi.SinkAdoptRequest
	c := &cobra.Command{
		Use: "adopt NAME", Short: "Take over the target of a sink from another installation",
		Long: "A target belongs to the installation that filled it, and the sinks of other installations, such as one restored from a\n" +
			"dump, are paused. After the adoption every id is delivered again with a higher rev, ids that this installation does not\n" +
			"have are marked as deleted, and the former installation is refused. Webhooks and NATS store no position: give the\n" +
			"highest rev that they have with --rev.",
		Example: "  locus sink adopt golden\n  locus sink adopt hook --rev 1125899906842625",
		Args:    arguments("NAME"), ValidArgsFunction: a.names(sinkNames, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.connectedTo(writes, func(c *cobra.Command, cl *client, args []string) error {
				body, err := json.Marshal(request)
				if err != nil {
					return err
				}
				var of httpapi.Sink
				raw, err := cl.do(c.Context(), http.MethodPost, sinkPath(args[0])+"/adopt", nil, body, &of)
				if err != nil {
					return err
				}
				return a.printSink(raw, &of)
			})(c, args)
		},
	}
	c.Flags().StringVar(&request.Rev, "rev", "", "highest rev that the target has, of a webhook or of NATS")
	return a.connection(c)
}

func (a *app) sinkDelete() *cobra.Command {
	return a.connection(&cobra.Command{
		Use: "delete NAME", Short: "Delete a sink; the content of the target stays",
		Long:    "Removes the definition, the position and the dead letters. Nothing is deleted in the target.",
		Example: "  locus sink delete golden\n  locus sink delete golden --url http://127.0.0.1:7070",
		Args:    arguments("NAME"), ValidArgsFunction: a.names(sinkNames, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.connectedTo(writes, func(c *cobra.Command, cl *client, args []string) error {
				if _, err := cl.do(c.Context(), http.MethodDelete, sinkPath(args[0]), nil, nil, nil); err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"type": "summary", "sink": args[0], "outcome": "deleted"})
				}
				a.say("deleted sink %s; the content of the target stays", term.Escape(args[0]))
				return nil
			})(c, args)
		},
	})
}

func (a *app) printSink(raw json.RawMessage, s *httpapi.Sink) error {
	if a.json {
		return a.printRaw(raw)
	}
	return a.printSinks([]httpapi.Sink{*s})
}

func (a *app) printSinks(list []httpapi.Sink) error {
	t := &term.Table{Header: []string{"sink", "state", "to", "kind", "delivered", "failed", "dead", "lag", "saved"},
		Right: map[int]bool{4: true, 5: true, 6: true, 7: true}}
	for _, s := range list {
		lag := ""
		if s.LagMS != nil {
			lag = millis(*s.LagMS)
		}
		t.Add(s.Name, s.State, s.To, s.Kind, fmt.Sprint(s.Delivered), fmt.Sprint(s.Failed), fmt.Sprint(s.Dead), lag,
			moment(s.SavedAt))
	}
	if err := a.printTable(t); err != nil {
		return err
	}
	for _, s := range list {
		if s.Reason != "" {
			a.say("%s: %s", term.Escape(s.Name), term.Escape(s.Reason))
		}
	}
	return nil
}
