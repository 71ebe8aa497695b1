// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

const upgradePath = "/v1/upgrade"

func (a *app) upgradeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "upgrade",
		Short: "Upgrade the entities to a newer version of the matcher",
		Long: "A new release of Locus may match differently. It opens data of an older release read-only until all records are resolved\n" +
			"again, in place. Every id stays, or redirects to the entity that it was merged into.",
		Example: "  locus upgrade plan\n" +
			"  locus upgrade run --yes",
	}
	c.AddCommand(a.upgradePlan(), a.upgradeRun())
	return c
}

func (a *app) upgradePlan() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "plan",
		Short: "Show what an upgrade would merge, split and change in each kind, without changing anything",
		Example: "  locus upgrade plan\n" +
			"  locus upgrade plan --json | jq '.kinds[].merged'",
		Args: arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error { return a.planned(c, cl) }),
	})
}

func (a *app) planned(c *cobra.Command, cl *client) error {
	result, err := a.change(c.Context(), cl, upgradePath, httpapi.UpgradeRequest{DryRun: true}, progressOf)
	if err != nil {
		return err
	}
	if a.json {
		return a.printRaw(result)
	}
	u, err := resultOf[httpapi.Upgrade](result)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.stdout, upgradeState(&u))
	for _, d := range u.Kinds {
		fmt.Fprintln(a.stdout)
		if err := a.printDiff(d); err != nil {
			return err
		}
	}
	return nil
}

func upgradeState(u *httpapi.Upgrade) string {
	switch {
	case u.Needed:
		return fmt.Sprintf("made by %s, and this Locus is %s: locus upgrade run resolves all records again",
			term.Escape(u.Matcher), term.Escape(u.Program))
	case u.Running != nil:
		return fmt.Sprintf("being upgraded from %s to %s since %s", term.Escape(u.Running.From), term.Escape(u.Matcher),
			term.Escape(u.Running.Since))
	}
	return fmt.Sprintf("made by %s, as this Locus: there is nothing to upgrade", term.Escape(u.Matcher))
}

func (a *app) upgradeRun() *cobra.Command {
	var f changing
	c := &cobra.Command{
		Use:   "run",
		Short: "Resolve all records by this version of the matcher, while reads continue",
		Long: "Servers of the older version are refused from the start. Records that are put meantime are durable at once, and\n" +
			"resolved once the blocking keys of all records are written. The upgrade can be interrupted at any point; the servers\n" +
			"continue it, or repeat the command.",
		Example: "  locus upgrade run\n" +
			"  locus upgrade run --yes --json",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			cl, err := a.connect(c, f.access())
			if err != nil {
				return err
			}
			defer cl.close()
			if f.dryRun {
				return a.planned(c, cl)
			}
			var u httpapi.Upgrade
			raw, err := cl.get(c.Context(), upgradePath, nil, &u)
			if err != nil {
				return err
			}
			if a.json {
				err = a.printRaw(typed("plan", raw))
			} else {
				a.say("%s", upgradeState(&u))
			}
			if err != nil {
				return err
			}
			if u.Needed {
				if err := a.confirm(f.yes, "Upgrade to "+u.Program+"?"); err != nil {
					return err
				}
			}
			result, err := a.change(c.Context(), cl, upgradePath, httpapi.UpgradeRequest{}, progressOf)
			if err != nil {
				return err
			}
			if u, err = resultOf[httpapi.Upgrade](result); err != nil {
				return err
			}
			return a.summary(result, "done: all records are resolved by %s", u.Matcher)
		},
	}
	f.flags(c)
	return a.connection(c)
}
