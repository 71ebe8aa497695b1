// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func sourcePath(name string) string { return "/v1/sources/" + url.PathEscape(name) }

func (a *app) sourceCreate() *cobra.Command {
	var request httpapi.StreamRequest
	var mapping string
	c := &cobra.Command{
		Use:   "create NAME",
		Short: "Read a source from a stream, or change its mapping",
		Long: "The servers read the stream from its oldest message. They store the position beside the records, once these are\n" +
			"durable. Messages that cannot become records are dead letters: locus source dead list shows the reasons.\n\n" +
			"  kafka://[USER@]BROKER:9092[,BROKER:9092]/TOPIC[?tls=true][&sasl=plain|scram-sha-256|scram-sha-512]\n" +
			"  nats://[USER@]HOST:4222[,HOST:4222]/STREAM[?subject=FILTER][&tls=true]\n" +
			"  postgres://USER@HOST/DATABASE?table=[SCHEMA.]TABLE[&slot=NAME]\n\n" +
			"Repeat the command to change the format, the mapping or the secret; the position stays.",
		Example: "  locus source create crm --from kafka://b1:9092,b2:9092/customers --mapping crm.yaml --format debezium\n" +
			"  locus source create shop --from nats://n1:4222/ORDERS?subject=customer.%3E --secret-env NATS_TOKEN",
		Args: arguments("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			if request.From == "" {
				return usage("--from kafka://broker1:9092/topic, nats://host:4222/stream or 'postgres://user@host/database?table=name'", "--from is missing")
			}
			if mapping != "" {
				_, text, err := a.definition(mapping, "docs/streams-in.md shows one")
				if err != nil {
					return err
				}
				request.Mapping = string(text)
			}
			var of httpapi.Source
			raw, err := a.putDefinition(c, sourcePath(args[0]), request, &of,
				"the source reads this stream already; nothing changed")
			if err != nil {
				return err
			}
			return a.printStream(raw, of)
		},
	}
	c.Flags().StringVar(&request.From, "from", "", "URL of the stream, without a password")
	c.Flags().StringVar(&request.Format, "format", "json", "json or debezium")
	c.Flags().StringVar(&mapping, "mapping", "", "mapping file, as of locus ingest")
	c.Flags().StringVar(&request.SecretEnv, "secret-env", "",
		"environment variable of the servers with the password or token")
	return a.connection(c)
}

func (a *app) sourcePause() *cobra.Command {
	return a.connection(&cobra.Command{
		Use: "pause NAME", Short: "Stop reading the stream of a source",
		Example: "  locus source pause crm\n  locus source pause crm --json",
		Args:    arguments("NAME"), ValidArgsFunction: a.names(sourceNames, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.turnSource(c, args[0], "pause", nil) },
	})
}

func (a *app) sourceResume() *cobra.Command {
	var request httpapi.ResumeRequest
	c := &cobra.Command{
		Use: "resume NAME", Short: "Resume the stream of a source where it stopped",
		Long: "A source pauses if unread messages are gone, if a table was truncated, or at 1000 dead letters; locus source show NAME\n" +
			"shows the reason. --from-start begins with the oldest message in the stream; older versions of records change nothing.",
		Example: "  locus source resume crm\n  locus source resume crm --from-start",
		Args:    arguments("NAME"), ValidArgsFunction: a.names(sourceNames, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.turnSource(c, args[0], "resume", request) },
	}
	c.Flags().BoolVar(&request.FromStart, "from-start", false, "start over with the oldest message of the stream")
	return a.connection(c)
}

// turnSource pauses or resumes a source.
func (a *app) turnSource(c *cobra.Command, name, verb string, request any) error {
	cl, err := a.connect(c, writes)
	if err != nil {
		return err
	}
	defer cl.close()
	var body []byte
	if request != nil {
		if body, err = json.Marshal(request); err != nil {
			return err
		}
	}
	var of httpapi.Source
	raw, err := cl.do(c.Context(), http.MethodPost, sourcePath(name)+"/"+verb, nil, body, &of)
	if err != nil {
		return err
	}
	return a.printStream(raw, of)
}

func (a *app) sourceDrop() *cobra.Command {
	return a.connection(&cobra.Command{
		Use: "drop NAME", Short: "Drop the stream of a source; its records stay",
		Long:    "Removes the definition, the position and the dead letters. To delete the records, use locus source delete.",
		Example: "  locus source drop crm\n  locus source drop crm && locus source delete crm",
		Args:    arguments("NAME"), ValidArgsFunction: a.names(sourceNames, 1),
		RunE: a.connectedTo(writes, func(c *cobra.Command, cl *client, args []string) error {
			if _, err := cl.do(c.Context(), http.MethodDelete, sourcePath(args[0]), nil, nil, nil); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"type": "result", "source": args[0], "dropped": true})
			}
			a.say("dropped the stream of source %s; its records stay", term.Escape(args[0]))
			return nil
		}),
	})
}

func (a *app) printStream(raw json.RawMessage, s httpapi.Source) error {
	if a.json {
		return a.printRaw(raw)
	}
	return a.printStreams([]httpapi.Source{s})
}

func (a *app) printStreams(streams []httpapi.Source) error {
	t := &term.Table{Header: []string{"source", "state", "stream", "messages", "lag", "dead", "saved"},
		Right: map[int]bool{3: true, 4: true, 5: true}}
	for _, s := range streams {
		of, saved := s.Stream, ""
		if !of.SavedAt.IsZero() {
			saved = of.SavedAt.Format(time.RFC3339)
		}
		t.Add(s.Source, of.State, of.From, fmt.Sprint(of.Messages), fmt.Sprint(of.Lag), fmt.Sprint(of.Dead), saved)
	}
	if err := a.printTable(t); err != nil {
		return err
	}
	for _, s := range streams {
		if s.Stream.Reason != "" {
			a.say("%s: %s", term.Escape(s.Source), term.Escape(s.Stream.Reason))
		}
	}
	return nil
}
