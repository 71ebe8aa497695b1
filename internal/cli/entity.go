// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/locality"
)

func (a *app) entityCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "entity",
		Short: "Read, search, explain, merge and unmerge entities",
		Example: "  locus entity list \"joes pizza\"\n" +
			"  locus entity why vendor:88231",
	}
	c.AddCommand(
		a.entityGet(), a.entityList(), a.entityWhy(), a.entityWhyNot(), a.entityHow(), a.entityWhatIf(), a.entityRelations(),
		a.entityHistory(), a.entityMerge(), a.entityUnmerge(), a.entityPin(),
	)
	return c
}

// find requests the entity at an address, and prints a note if the address was a former id.
func (a *app) find(c *cobra.Command, cl *client, address string) (*httpapi.Entity, json.RawMessage, error) {
	var e httpapi.Entity
	raw, err := cl.get(c.Context(), "/v1/find", url.Values{"address": {address}}, &e)
	if p, ok := gone(err); ok { // for several addresses, names the one
		named := *p
		named.Detail = fmt.Sprintf("%.80s: %s", address, p.Detail)
		err = &named
	}
	if err != nil {
		return nil, nil, err
	}
	if e.RedirectedFrom != (locality.ID{}) {
		a.say("%s was merged into %s", e.RedirectedFrom, e.ID)
	}
	return &e, raw, nil
}

func (a *app) entityGet() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "get ADDRESS",
		Short: "Show the merged view of an entity, with the records behind each value",
		Example: "  locus entity get vendor:88231\n" +
			"  locus entity get 80e51ef9-7a7f-bd53-7a50-01a1f8660d00 --json",
		Args: arguments("ADDRESS"),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			e, raw, err := a.find(c, cl, args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(raw)
			}
			a.say("entity %s   %s: %s", a.talk.Paint("1", e.ID.String()), plural(e.Records, "record"),
				term.Escape(joined(e.Members)))
			t := &term.Table{Header: []string{"attribute", "value", "records"}}
			for _, attribute := range e.View {
				for i, v := range attribute.Values {
					name := attribute.Name
					if i > 0 && attribute.Value != nil {
						name += " (lost)"
					}
					t.Add(name, v.Value, joined(v.Records))
				}
			}
			return a.printTable(t)
		}),
	})
}

func joined[T fmt.Stringer](list []T) string {
	names := make([]string, 0, len(list))
	for _, item := range list {
		names = append(names, item.String())
	}
	return strings.Join(names, " ")
}

func (a *app) entityList() *cobra.Command {
	var pages paging
	var where, has, without []string
	var kind, order, typos string
	c := &cobra.Command{
		Use:   "list [WORDS...]",
		Short: "List or search entities",
		Long: "Every word of the search must occur in a name, a category or a city; the last word may be a prefix. Results are\n" +
			"ordered by points for the number of sources and for completeness. If no entity has all words, entities with similar\n" +
			"words are listed; --typos auto always lists them, after the others, --typos 0 never. Without a search, entities are\n" +
			"listed in the order of ids, in which pages are stable, unless --order best is given.",
		Example: "  locus entity list trampoline --where city=\"San Francisco\" --has phones\n" +
			"  locus entity list \"blue dorr\" --typos auto --json",
		Args: cobra.ArbitraryArgs,
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			query := url.Values{"has": has, "without": without}
			for name, text := range map[string]string{"q": strings.Join(args, " "), "kind": kind, "order": order, "typos": typos} {
				if text != "" {
					query.Set(name, text)
				}
			}
			for _, filter := range where {
				attribute, value, found := strings.Cut(filter, "=")
				if !found {
					return usage(`for example --where city="San Francisco"`, "--where %.60q is not ATTRIBUTE=VALUE", filter)
				}
				query.Add("filter", attribute+":"+value)
			}
			t := &term.Table{Header: []string{"entity", "records", "rank", "name", "address", "city"},
				Right: map[int]bool{1: true, 2: true}}
			err := pages.list(c.Context(), a, cl, "/v1/entities", "entities", query, func(raw json.RawMessage) error {
				var e httpapi.Entity
				if err := json.Unmarshal(raw, &e); err != nil {
					return fmt.Errorf("read an entity: %w", err)
				}
				t.Add(e.ID.String(), fmt.Sprint(e.Records), fmt.Sprint(e.Rank.Points), winner(e.View, "name"),
					winner(e.View, "address"), winner(e.View, "city"))
				return nil
			})
			if err != nil || a.json {
				return err
			}
			return a.printTable(t)
		}),
	}
	c.Flags().StringArrayVar(&where, "where", nil,
		"ATTRIBUTE=VALUE, with the value in any notation; if repeated, all must match")
	c.Flags().StringArrayVar(&has, "has", nil, "attribute that must have a value; if repeated, all must have one")
	c.Flags().StringArrayVar(&without, "without", nil, "attribute that must have no value; if repeated, none may have one")
	c.Flags().StringVar(&kind, "kind", "", "only entities of this kind")
	c.Flags().StringVar(&order, "order", "", "best or id; best by default if there is a search or a filter")
	c.Flags().StringVar(&typos, "typos", "", "typing errors allowed in each word: 0, 1, 2, or auto for one from 3 letters and two from 6; by default auto if nothing has the words")
	pages.flags(c)
	return a.connection(c)
}

// winner returns the value that a view shows for an attribute.
func winner(v httpapi.View, name string) string {
	if attribute := v.Get(name); attribute != nil && len(attribute.Values) > 0 {
		return attribute.Values[0].Value
	}
	return ""
}
