// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/httpapi"
)

func (a *app) subjectCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "subject",
		Short:   "Collect everything about one thing, for example to answer a request for personal data",
		Example: "  locus subject export crm:4711 > subject.jsonl\n  locus subject export crm:4711 --token-file admin.token",
	}
	c.AddCommand(a.subjectExport())
	return c
}

func (a *app) subjectExport() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "export ADDRESS",
		Short: "Write an entity, its records, changes, decisions and entries of the audit log as JSON lines",
		Long: "Each line has a type: entity, record, change, decision or audit. Contains only changes that are still in the logs.\n" +
			"Needs the permissions read and audit.",
		Example: "  locus subject export crm:4711 > subject.jsonl\n" +
			"  locus subject export crm:4711 | jq -c 'select(.type == \"record\")'",
		Args: arguments("ADDRESS"),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			e, raw, err := a.find(c, cl, args[0])
			if err != nil {
				return err
			}
			s := &subject{app: a, cl: cl, counts: map[string]int{}}
			if err := s.line("entity", raw); err != nil {
				return err
			}
			if err := s.collect(c.Context(), e); err != nil {
				return err
			}
			a.say("%s, %s, %s, %s", plural(s.counts["record"], "record"), plural(s.counts["change"], "change"),
				plural(s.counts["decision"], "decision"), plural(s.counts["audit"], "audit line"))
			return nil
		}),
	})
}

// subject is an export of everything about an entity.
type subject struct {
	app    *app
	cl     *client
	counts map[string]int
}

func (s *subject) line(kind string, raw json.RawMessage) error {
	s.counts[kind]++
	return s.app.printRaw(typed(kind, raw))
}

// list writes all rows of a list.
func (s *subject) list(ctx context.Context, kind, path, field string, query url.Values) error {
	all := paging{limit: locus.MaxLimit, all: true}
	got, err := all.read(ctx, s.app, s.cl, path, field, query, func(raw json.RawMessage) error {
		return s.line(kind, raw)
	})
	return cmp.Or(err, incomplete(field, got.damaged))
}

func (s *subject) collect(ctx context.Context, e *httpapi.Entity) error {
	for _, member := range e.Members {
		raw, err := s.cl.get(ctx, "/v1/records/"+url.PathEscape(member.Source)+"/"+url.PathEscape(member.Key), nil, nil)
		if err != nil {
			return err
		}
		if err := s.line("record", raw); err != nil {
			return err
		}
	}
	var history struct{ Events []json.RawMessage }
	if _, err := s.cl.get(ctx, "/v1/entities/"+e.ID.String()+"/history", nil, &history); err != nil {
		return err
	}
	for _, raw := range history.Events {
		if err := s.line("change", raw); err != nil {
			return err
		}
	}
	if err := s.list(ctx, "decision", "/v1/decisions", "decisions", url.Values{"of": {e.ID.String()}, "withdrawn": {"true"}}); err != nil {
		return err
	}
	for _, member := range e.Members {
		if err := s.list(ctx, "audit", "/v1/audit", "entries", url.Values{"record": {member.String()}}); err != nil {
			return fmt.Errorf("the audit log about %s: %w", member, err)
		}
	}
	return nil
}
