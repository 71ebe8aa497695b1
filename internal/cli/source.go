// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) sourceCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "source",
		Short: "List sources, read them from streams, delete the records of a source",
		Example: "  locus source create crm --from kafka://b1:9092/customers --mapping crm.yaml\n" +
			"  locus source delete old-crm --dry-run",
	}
	c.AddCommand(a.sourceList(), a.sourceShow(), a.sourceCreate(), a.sourcePause(), a.sourceResume(), a.sourceDead(),
		a.sourceDrop(), a.sourceDelete())
	return c
}

func (a *app) sourceList() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "list",
		Short: "List the sources that have records, by kind and outcome, with the last import, and their streams",
		Example: "  locus source list\n" +
			"  locus source list --json | jq .records",
		Args: arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			var list httpapi.SourceList
			if _, err := cl.get(c.Context(), "/v1/sources", nil, &list); err != nil {
				return err
			}
			if a.json {
				for _, s := range list.Sources {
					line, err := json.Marshal(s)
					if err != nil {
						return err
					}
					if err := a.printRaw(typed("result", line)); err != nil {
						return err
					}
				}
				return a.listed(len(list.Sources), "")
			}
			return a.printSources(list.Sources)
		}),
	})
}

func (a *app) sourceShow() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "show NAME",
		Short: "Show the records of a source by kind and outcome, its last import with reasons of refusals, and its stream",
		Example: "  locus source show crm\n" +
			"  locus source show crm --json | jq .kinds",
		Args:              arguments("NAME"),
		ValidArgsFunction: a.names(sourceNames, 1),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			var s httpapi.Source
			raw, err := cl.get(c.Context(), "/v1/sources/"+url.PathEscape(args[0]), nil, &s)
			if _, ok := gone(err); ok {
				return noRecords("source " + args[0])
			}
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(raw)
			}
			if err := a.printSources([]httpapi.Source{s}); err != nil {
				return err
			}
			return a.printImport(s.Import)
		}),
	})
}

func noRecords(of string) error {
	return &failure{Code: "not_found", Message: of + " has no records", Hint: "locus source list lists all",
		Exit: exitNotFound}
}

func (a *app) printSources(sources []httpapi.Source) error {
	t := &term.Table{Header: []string{"source", "kind", "records", "created", "matched", "newest", "last import", "file",
		"rows", "refused"}, Right: map[int]bool{2: true, 3: true, 4: true, 8: true, 9: true}}
	var streams []httpapi.Source
	for _, s := range sources {
		last := lastImport(s.Import)
		for _, k := range s.Kinds {
			t.Add(append([]string{s.Source, k.Kind, fmt.Sprint(k.Records), fmt.Sprint(k.Created),
				fmt.Sprint(k.Records - k.Created), k.Newest.Format(time.RFC3339)}, last...)...)
			last = lastImport(nil)
		}
		if len(s.Kinds) == 0 && s.Import != nil {
			t.Add(append([]string{s.Source, "", "0", "0", "0", ""}, last...)...)
		}
		if s.Stream != nil {
			streams = append(streams, s)
		}
	}
	if len(streams) == 0 {
		return a.printTable(t)
	}
	if t.Len() > 0 {
		if err := a.printTable(t); err != nil {
			return err
		}
	}
	return a.printStreams(streams)
}

var sourceNames = namesAt("/v1/sources", "sources", "source")

func (a *app) sourceDelete() *cobra.Command {
	var kind string
	var yes, dryRun bool
	c := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete all records of a source, or those of one kind",
		Long: "Prints the number of records to delete and asks. Records that were connected only by deleted ones are separated.\n" +
			"Records that are written after the count are kept. The command can be interrupted and repeated. Ids of the records and\n" +
			"decisions about them stay; locus record erase removes these too.",
		Example: "  locus source delete old-crm --dry-run\n" +
			"  locus source delete crm --kind person --yes",
		Args:              arguments("NAME"),
		ValidArgsFunction: a.names(sourceNames, 1),
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := a.connect(c, unless(dryRun, writes))
			if err != nil {
				return err
			}
			defer cl.close()
			return a.deleteSource(c.Context(), cl, args[0], kind, yes, dryRun)
		},
	}
	c.Flags().StringVar(&kind, "kind", "", "only records of this kind")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be deleted, and stop")
	return a.connection(c)
}

// deleteSource deletes what a snapshot without rows lacks: everything.
func (a *app) deleteSource(ctx context.Context, cl *client, name, kind string, yes, dryRun bool) error {
	all := bulk.NewSnapshot(name)
	defer all.Close() //nolint:errcheck // temporary files
	if err := cl.listStored(ctx, name, kind, all.Store); err != nil {
		return err
	}
	if err := all.Compare(0, bulk.MaxDelete{}); err != nil {
		return err
	}
	of := "source " + name
	if kind != "" {
		of += " of kind " + kind
	}
	if all.Missing == 0 {
		return noRecords(of)
	}
	kinds := make([]string, 0, len(all.MissingKinds))
	for _, kind := range slices.Sorted(maps.Keys(all.MissingKinds)) {
		kinds = append(kinds, fmt.Sprintf("%s %s", term.Count(all.MissingKinds[kind]), kind))
	}
	verb := "will"
	if dryRun {
		verb = "would"
	}
	a.say("%s delete %s of source %s: %s", verb, counted(all.Missing, "record", "records"), name,
		strings.Join(kinds, ", "))
	d := &deleting{app: a, client: cl, source: name, total: all.Missing}
	if !dryRun {
		if err := a.confirm(yes, "Delete them?"); err != nil {
			return err
		}
		if err := d.run(ctx, all.All()); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(map[string]any{
			"type": "summary", "source": name, "records": all.Missing, "kinds": all.MissingKinds, "deleted": d.deleted,
			"kept": d.kept,
			"gone": d.gone, "pending": d.pending, "watermark": d.watermark, "dry_run": dryRun,
		})
	}
	t := &term.Table{Header: []string{"source", "records", "deleted", "kept"},
		Right: map[int]bool{1: true, 2: true, 3: true}}
	t.Add(name, fmt.Sprint(all.Missing), fmt.Sprint(d.deleted), fmt.Sprint(d.kept))
	return a.printTable(t)
}
