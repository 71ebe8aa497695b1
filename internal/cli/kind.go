// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
)

func (a *app) kindCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "kind",
		Short: "Create kinds of things, and change how they are resolved",
		Example: "  locus kind show place > place.yaml\n" +
			"  locus kind migrate place.yaml --dry-run",
	}
	c.AddCommand(a.kindList(), a.kindShow(), a.kindCreate(), a.kindSuggest(), a.kindLearn(), a.kindDiff(), a.kindMigrate())
	return c
}

func kindPath(kind string) string { return "/v1/kinds/" + url.PathEscape(kind) }

func (a *app) kindList() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "list",
		Short: "List the kinds with their versions and term-frequency tables",
		Example: "  locus kind list\n" +
			"  locus kind list --json | jq -r .term_frequencies",
		Args: arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			var list struct {
				Kinds []json.RawMessage `json:"kinds"`
			}
			if _, err := cl.get(c.Context(), "/v1/kinds", nil, &list); err != nil {
				return err
			}
			t := &term.Table{Header: []string{"kind", "version", "default", "terms", "migrating"}, Right: map[int]bool{1: true}}
			for _, raw := range list.Kinds {
				if a.json {
					if err := a.printRaw(typed("result", raw)); err != nil {
						return err
					}
					continue
				}
				var k httpapi.Kind
				if err := json.Unmarshal(raw, &k); err != nil {
					return fmt.Errorf("read a kind: %w", err)
				}
				first, state := "", ""
				if k.Default {
					first = "yes"
				}
				if k.Migration != nil {
					state = fmt.Sprintf("%d records, since %s", k.Migration.Records, k.Migration.Since)
				}
				t.Add(k.Kind, fmt.Sprint(k.Version), first, k.Terms, state)
			}
			if a.json {
				return a.listed(len(list.Kinds), "")
			}
			return a.printTable(t)
		}),
	})
}

func (a *app) kindShow() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "show KIND",
		Short: "Print the schema of a kind as YAML",
		Example: "  locus kind show place > place.yaml\n" +
			"  locus kind show place --json | jq .version",
		Args: arguments("KIND"),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			var k httpapi.Kind
			raw, err := cl.get(c.Context(), kindPath(args[0]), nil, &k)
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(raw)
			}
			_, err = fmt.Fprint(a.stdout, k.Schema)
			return err
		}),
	})
}

func (a *app) schemaOf(path string) (*match.Schema, []byte, error) {
	file, text, err := a.definition(path, "locus kind show place prints one")
	if err != nil {
		return nil, nil, err
	}
	schema, err := match.ParseSchema(text)
	if invalid, ok := errors.AsType[*match.InvalidError](err); ok {
		return nil, nil, a.wrongDefinition(file, text, invalid.Problems)
	}
	return schema, text, err
}

func (a *app) kindCreate() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "create FILE|-",
		Short: "Create a kind from a YAML schema, while reads and writes continue",
		Long:  "Creating the same kind again changes nothing. To change an existing kind, use locus kind migrate.",
		Example: "  locus kind create ship.yaml\n" +
			"  locus kind create - < ship.yaml",
		Args: arguments("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			schema, text, err := a.schemaOf(args[0])
			if err != nil {
				return err
			}
			cl, err := a.connect(c, makes)
			if err != nil {
				return err
			}
			defer cl.close()
			raw, status, err := cl.exchange(c.Context(),
				question{method: http.MethodPut, path: kindPath(schema.Kind), body: text, media: "application/yaml"}, nil)
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(raw)
			}
			outcome := "unchanged"
			if status == http.StatusCreated {
				outcome = "created"
			}
			a.say("%s: kind %s, version %d", outcome, schema.Kind, schema.Version)
			return nil
		},
	})
}

func (a *app) kindDiff() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "diff FILE|-",
		Short: "Show what would merge, split and change if a kind had this schema, without changing anything",
		Example: "  locus kind diff place.yaml\n" +
			"  locus kind diff place.yaml --json | jq .merged",
		Args: arguments("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			schema, text, err := a.schemaOf(args[0])
			if err != nil {
				return err
			}
			return a.diffRules(c, schema.Kind, httpapi.KindRequest{Schema: string(text)})
		},
	})
}

func (a *app) kindMigrate() *cobra.Command {
	var f changing
	c := &cobra.Command{
		Use:   "migrate FILE|-",
		Short: "Migrate a kind to another schema, while reads and writes continue",
		Long: "New writes use the schema at once, and existing records are resolved again, cell by cell; ids stay. The migration\n" +
			"can be interrupted at any point; the servers continue it, or repeat the command.",
		Example: "  locus kind migrate place.yaml --dry-run\n" +
			"  locus kind migrate place.yaml --yes",
		Args: arguments("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			schema, text, err := a.schemaOf(args[0])
			if err != nil {
				return err
			}
			return a.migrateRules(c, schema.Kind, httpapi.KindRequest{Schema: string(text)}, &f)
		},
	}
	f.flags(c)
	return a.connection(c)
}
