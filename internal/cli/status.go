// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) statusCommand() *cobra.Command {
	var ready bool
	show := a.connected(func(c *cobra.Command, cl *client, _ []string) error {
		var s cells.Status
		raw, err := cl.get(c.Context(), "/v1/status", nil, &s)
		if err != nil {
			return err
		}
		if a.json {
			err = a.printRaw(raw)
		} else {
			err = a.printStatus(&s)
		}
		if err == nil && !s.Ready {
			err = notReady(s.Reason)
		}
		return err
	})
	c := a.connection(&cobra.Command{
		Use:   "status",
		Short: "Show whether all cells work, their counts and their sizes",
		Example: "  locus status --url http://127.0.0.1:7070\n" +
			"  locus status --json | jq .counts.records",
		Args: arguments(),
		RunE: func(c *cobra.Command, args []string) error {
			if ready {
				return a.ready(c)
			}
			return show(c, args)
		},
	})
	c.Flags().BoolVar(&ready, "ready", false,
		"only check whether the server is ready; needs no token and does not open the data: exit code 0 or 6")
	return c
}

// probing limits how long a server may take to report whether it is ready.
const probing = 5 * time.Second

// ready asks /readyz of a server: the one at --url, or the one that has the data directory open.
func (a *app) ready(c *cobra.Command) error {
	w, err := a.locate(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context(), probing)
	defer cancel()
	var cl *client
	switch {
	case w.server != "":
		if cl, err = dial(w.server); err != nil {
			return err
		}
		of, err := a.context(w.server)
		if err != nil {
			return err
		}
		if of != nil {
			cl.trust(of.CA)
		}
	case w.shared:
		return usage("--url http://127.0.0.1:7070", "--ready needs the URL of a server")
	default:
		if cl = dialSocket(ctx, w); cl == nil {
			return notReady("no server has " + w.place + " open")
		}
	}
	defer cl.close() //nolint:errcheck // idle connections
	response, err := cl.send(ctx, cl.http, question{method: http.MethodGet, path: "/readyz"})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusServiceUnavailable:
		return notReady("/readyz says so")
	}
	raw, err := readAnswer(response)
	if err != nil {
		return err
	}
	return notReady(fmt.Sprintf("status %d, %d bytes", response.StatusCode, len(raw)))
}

func notReady(why string) error {
	return &failure{Code: "unavailable", Message: "not ready: " + why, Exit: exitUnavailable,
		Hint: "try again in a moment"}
}

func (a *app) printStatus(s *cells.Status) error {
	ready := a.talk.Paint("32", "ready")
	if !s.Ready {
		ready = a.talk.Paint("31", "not ready")
	}
	a.say("%s   %s records, %s entities, %s merges, %s splits   rules %s   generation %d, epoch %d   redo %d, queue %d",
		ready, term.Count(s.Counts.Records), term.Count(s.Counts.Entities), term.Count(s.Counts.Merges),
		term.Count(s.Counts.Splits),
		s.Rules, s.Generation, s.Epoch, s.Redo, s.Queue)
	if s.Ready && s.Reason != "" {
		a.say("%s   %s", a.talk.Paint("33", "missing"), term.Escape(s.Reason))
	}
	if len(s.Down) > 0 {
		a.say("%s   sums of %d of %d cells, without %s", a.talk.Paint("33", "incomplete"), len(s.Cells)-len(s.Down),
			len(s.Cells), someCells(s.Down))
	}
	if s.Documents != "" {
		a.say("documents   %s", term.Escape(s.Documents))
	}
	if s.Migrating != "" {
		a.say("%s   kind %s: %s records resolved again", a.talk.Paint("33", "migrating"), term.Escape(s.Migrating),
			term.Count(int64(s.Migrated)))
	}
	switch s.Upgrade {
	case "":
	case "needed":
		a.say("%s   made by an older matcher: read-only until locus upgrade run", a.talk.Paint("33", "outdated"))
	default:
		a.say("%s   step %s: %s done", a.talk.Paint("33", "upgrading"), term.Escape(s.Upgrade), term.Count(int64(s.Migrated)))
	}
	t := &term.Table{Header: []string{"cell", "records", "entities", "redo", "puids", "bytes", "url"},
		Right: map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true}}
	for _, c := range s.Cells {
		if c.Down {
			t.Add(c.Cell.String(), "?", "?", "?", "?", "?", c.URL)
			continue
		}
		t.Add(c.Cell.String(), fmt.Sprint(c.Counts.Records), fmt.Sprint(c.Counts.Entities), fmt.Sprint(c.Redo),
			fmt.Sprint(c.PUIDs), fmt.Sprint(c.Bytes), c.URL)
	}
	return a.printTable(t)
}

// someCells lists up to ten cells.
func someCells(ids []cell.ID) string {
	const most = 10
	var names []string
	for _, id := range ids[:min(len(ids), most)] {
		names = append(names, id.String())
	}
	text := strings.Join(names, ", ")
	if more := len(ids) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
