// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) recordCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "record",
		Short: "Read, list and erase records by SOURCE:KEY",
		Example: "  locus record get vendor:88231\n" +
			"  locus record list --source vendor --all",
	}
	c.AddCommand(a.recordGet(), a.recordList(), a.recordErase())
	return c
}

// parseRef parses SOURCE:KEY at the first colon.
func parseRef(text string) (entity.Ref, error) {
	source, key, ok := strings.Cut(text, ":")
	if !ok || source == "" || key == "" {
		return entity.Ref{}, usage("locus record get vendor:88231", "%.80q is not SOURCE:KEY", text)
	}
	return entity.Ref{Source: source, Key: key}, nil
}

func (a *app) recordGet() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "get SOURCE:KEY",
		Short: "Show a record and its entity",
		Example: "  locus record get vendor:88231\n" +
			"  locus record get vendor:88231 --json | jq .attributes.phones",
		Args: arguments("SOURCE:KEY"),
		RunE: func(c *cobra.Command, args []string) error {
			ref, err := parseRef(args[0])
			if err != nil {
				return err
			}
			cl, err := a.connect(c, reads)
			if err != nil {
				return err
			}
			defer cl.close()
			var r httpapi.Record
			raw, err := cl.get(c.Context(), httpapi.RecordPath(ref.Source, ref.Key), nil, &r)
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(raw)
			}
			a.say("record %s   %s   version %d   observed %s   puid %s   entity %s", term.Escape(ref.String()), r.Kind, r.Version,
				r.ObservedAt.Format(time.RFC3339), r.PUID, r.Entity)
			t := &term.Table{Header: []string{"attribute", "value"}}
			for _, name := range slices.Sorted(maps.Keys(r.Attributes)) {
				for _, value := range r.Attributes[name] {
					t.Add(name, value)
				}
			}
			return a.printTable(t)
		},
	})
}

func (a *app) recordList() *cobra.Command {
	var pages paging
	var source, kind string
	c := &cobra.Command{
		Use:   "list",
		Short: "List live records, cell by cell, in the order of their puids",
		Example: "  locus record list --source vendor\n" +
			"  locus record list --all --json > records.jsonl",
		Args: arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			query := url.Values{}
			if source != "" {
				query.Set("source", source)
			}
			if kind != "" {
				query.Set("kind", kind)
			}
			t := &term.Table{Header: []string{"source", "key", "version", "entity", "name"}, Right: map[int]bool{2: true}}
			err := pages.list(c.Context(), a, cl, "/v1/records", "records", query, func(raw json.RawMessage) error {
				var r httpapi.Record
				if err := json.Unmarshal(raw, &r); err != nil {
					return fmt.Errorf("read a record: %w", err)
				}
				t.Add(r.Source, r.Key, fmt.Sprint(r.Version), r.Entity.String(), strings.Join(r.Attributes["name"], " | "))
				return nil
			})
			if f, ok := errors.AsType[*failure](err); a.json || err != nil && (!ok || f.Exit != exitPartly) {
				return err
			}
			if err := a.printTable(t); err != nil {
				return err
			}
			return err
		}),
	}
	c.Flags().StringVar(&source, "source", "", "only records of this source")
	c.Flags().StringVar(&kind, "kind", "", "only records of this kind")
	pages.flags(c)
	return a.connection(c)
}

func (a *app) recordErase() *cobra.Command {
	var yes, dryRun bool
	c := &cobra.Command{
		Use:   "erase SOURCE:KEY...",
		Short: "Delete records and their content in the logs; records that only they connected are separated",
		Example: "  locus record erase vendor:88231 --dry-run\n" +
			"  locus record erase vendor:88231 vendor:88232 --yes",
		Args: atLeast("SOURCE:KEY"),
		RunE: func(c *cobra.Command, args []string) error {
			refs := make([]entity.Ref, 0, len(args))
			for _, text := range args {
				ref, err := parseRef(text)
				if err != nil {
					return err
				}
				refs = append(refs, ref)
			}
			cl, err := a.connect(c, unless(dryRun, writes))
			if err != nil {
				return err
			}
			defer cl.close()
			return a.erase(c, cl, refs, yes, dryRun)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be erased, and stop")
	return a.connection(c)
}

// erase prints the plan, asks for confirmation, and deletes the records one by one. A missing record is reported and
// the rest are deleted.
func (a *app) erase(c *cobra.Command, cl *client, refs []entity.Ref, yes, dryRun bool) error {
	plan, missing := []httpapi.Record{}, 0
	for _, ref := range refs {
		var r httpapi.Record
		_, err := cl.get(c.Context(), httpapi.RecordPath(ref.Source, ref.Key), nil, &r)
		switch refusal, ok := gone(err); {
		case ok:
			missing++
			a.say("%s: %s", term.Escape(ref.String()), term.Escape(refusal.Detail))
		case err != nil:
			return err
		default:
			plan = append(plan, r)
			a.say("will erase %s   version %d of entity %s   %s", term.Escape(ref.String()), r.Version, r.Entity,
				term.Clip(strings.Join(r.Attributes["name"], " | "), 60))
		}
	}
	if len(plan) > 0 && !dryRun {
		if err := a.confirm(yes, fmt.Sprintf("Erase %s? It cannot be undone.", plural(len(plan), "record"))); err != nil {
			return err
		}
	}
	for _, r := range plan {
		if dryRun {
			if a.json {
				if err := a.printJSON(map[string]any{"type": "result", "source": r.Source, "key": r.Key, "entity": r.Entity, "outcome": "would_be_erased"}); err != nil {
					return err
				}
			}
			continue
		}
		raw, err := cl.do(c.Context(), http.MethodDelete, httpapi.RecordPath(r.Source, r.Key),
			url.Values{"erase": {"true"}}, nil, nil)
		if err != nil {
			return err
		}
		if a.json {
			if err := a.printRaw(typed("result", raw)); err != nil {
				return err
			}
		} else if _, err := fmt.Fprintf(a.stdout, "erased\t%s\n", term.Escape(r.Source+":"+r.Key)); err != nil {
			return err
		}
	}
	if missing > 0 {
		exit := exitPartly
		if len(plan) == 0 {
			exit = exitNotFound
		}
		return &failure{Code: "not_found", Message: plural(missing, "record") + " not found", Exit: exit}
	}
	return nil
}

// confirm asks the user. Without a terminal a missing --yes is an error; it never waits for input.
func (a *app) confirm(yes bool, question string) error {
	if yes {
		return nil
	}
	if !isTerminal(a.stdin) || !a.talk.Terminal {
		return usage("--yes, or --dry-run to only see the plan", "no terminal to ask for confirmation: --yes is missing")
	}
	fmt.Fprint(a.stderr, question, " [y/N] ")
	answer, _ := bufio.NewReader(a.stdin).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return &failure{Code: "interrupted", Message: "nothing was done", Exit: exitFailed}
	}
	return nil
}
