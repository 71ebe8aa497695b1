// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/secret"
)

func (a *app) contextCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "context",
		Short:   "List the servers that locus login has stored, and choose the one that commands use",
		Example: "  locus context list\n  locus context use locus.example",
	}
	c.AddCommand(a.contextList(), a.contextUse(), a.contextShow())
	return c
}

func (a *app) contextList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the contexts; * is the current one",
		Example: "  locus context list\n  locus context list --json | jq -r .url",
		Args:    arguments(),
		RunE: func(*cobra.Command, []string) error {
			list, err := a.contexts()
			if err != nil {
				return err
			}
			for i := range list.Contexts {
				list.Contexts[i].Token = secret.Text{} // never printed
			}
			if a.json {
				return printEach(a, list.Contexts)
			}
			if len(list.Contexts) == 0 {
				a.say("there are no contexts; locus login URL creates one")
			}
			t := &term.Table{Header: []string{"", "name", "url", "signed in as", "until"}}
			for _, c := range list.Contexts {
				mark := ""
				if c.Name == list.Current {
					mark = "*"
				}
				t.Add(mark, c.Name, c.URL, c.Principal, moment(c.Expires))
			}
			return a.printTable(t)
		},
	}
}

func (a *app) contextUse() *cobra.Command {
	return &cobra.Command{
		Use:               "use NAME",
		Short:             "Make a context the current one, or none with the name -",
		Example:           "  locus context use locus.example\n  locus context use -",
		Args:              arguments("NAME"),
		ValidArgsFunction: a.contextNames,
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := a.contexts()
			if err != nil {
				return err
			}
			if args[0] == "-" {
				list.Current = ""
			} else if c := list.find(args[0]); c != nil {
				list.Current = c.Name
			} else {
				return usage("locus context list", "there is no context %.60q", args[0])
			}
			return a.storeContexts(list)
		},
	}
}

func (a *app) contextShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show",
		Short:   "Show the current context",
		Example: "  locus context show\n  locus context show --json | jq -r .url",
		Args:    arguments(),
		RunE: func(*cobra.Command, []string) error {
			list, err := a.contexts()
			if err != nil {
				return err
			}
			c := list.find(list.Current)
			if c == nil {
				return usage("locus login URL; or locus context use NAME", "there is no current context")
			}
			c.Token = secret.Text{}
			if a.json {
				return a.printJSON(c)
			}
			t := &term.Table{Header: []string{"name", "url", "signed in as", "until"}}
			t.Add(c.Name, c.URL, c.Principal, cmp.Or(moment(c.Expires), "no end"))
			return a.printTable(t)
		},
	}
}

func (a *app) contextNames(_ *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
	list, err := a.contexts()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, c := range list.Contexts {
		if strings.HasPrefix(c.Name, begun) {
			names = append(names, c.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
