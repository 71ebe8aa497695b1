// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) auditCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "audit",
		Short: "List, export and verify the audit log",
		Long: "The audit log records every change to tokens, cells, kinds, rollups, sinks and streams, every erasure and every\n" +
			"decision, before it happens; locus serve --audit write,read adds the other requests. An entry contains the principal,\n" +
			"the address, the action and its outcome, but no content of records. Entries are kept for 400 days.",
		Example: "  locus audit list --class decision\n" +
			"  locus audit verify --json > heads.json",
	}
	c.AddCommand(a.auditList(), a.auditExport(), a.auditVerify())
	return c
}

func (a *app) auditList() *cobra.Command {
	var class, principal, record string
	var p paging
	c := &cobra.Command{
		Use:   "list",
		Short: "List entries, the newest first",
		Example: "  locus audit list --principal ann --all\n" +
			"  locus audit list --record crm:4711 --json",
		Args: arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			query := url.Values{}
			for name, value := range map[string]string{"class": class, "principal": principal, "record": record} {
				if value != "" {
					query.Set(name, value)
				}
			}
			t := &term.Table{Header: []string{"time", "principal", "address", "action", "what", "outcome"}}
			ended := map[audit.Head]bool{} // the table shows an action once, by its end if that is known
			err := p.list(c.Context(), a, cl, "/v1/audit", "entries", query, func(raw json.RawMessage) error {
				var e audit.Entry
				if err := json.Unmarshal(raw, &e); err != nil {
					return fmt.Errorf("read an entry: %w", err)
				}
				if e.Of != nil {
					ended[audit.Head{Chain: e.Of.Chain, Seq: e.Of.Seq}] = true
				} else if ended[audit.Head{Chain: e.Chain, Seq: e.Seq}] {
					return nil
				}
				outcome := e.Outcome
				if outcome == "" {
					outcome = string(e.Phase)
				}
				t.Add(moment(e.At), e.Principal, e.Address, e.Action, strings.Join(e.Targets, " "), outcome)
				return nil
			})
			if err != nil || a.json {
				return err
			}
			return a.printTable(t)
		}),
	}
	c.Flags().StringVar(&class, "class", "", "only entries of this class: access, admin, decision, write, read")
	c.Flags().StringVar(&principal, "principal", "", "only entries of this principal: the name of a token, or local")
	c.Flags().StringVar(&record, "record", "", "only entries about this record, SOURCE:KEY, even if it is erased")
	p.flags(c)
	return a.connection(c)
}

func (a *app) auditExport() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "export -o FILE",
		Short: "Write the whole log as JSON lines, the oldest entry first",
		Example: "  locus audit export -o audit.jsonl\n" +
			"  locus audit export -o - | jq -r 'select(.outcome == \"forbidden\") | .principal' | sort | uniq -c",
		Args: arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			if out == "" {
				return usage("locus audit export -o audit.jsonl", "name the file to write with -o, or - for a pipe")
			}
			n, err := a.download(c.Context(), cl, "/v1/audit/export", out, "audit log", nil)
			if err != nil || isStdout(out) {
				return err
			}
			a.say("%s: %s bytes", term.Escape(out), term.Count(n))
			return nil
		}),
	}
	c.Flags().StringVarP(&out, "output", "o", "", "file to write; - is standard output")
	return a.connection(c)
}
