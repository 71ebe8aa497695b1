// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/httpapi"
)

// growing holds the flags of a growth plan.
type growing struct {
	to   uint64
	urls []string
}

func (g *growing) flags(c *cobra.Command) {
	c.Flags().Uint64Var(&g.to, "to", 0, "number of cells in the new generation: a multiple of the newest generation's")
	c.Flags().StringArrayVar(&g.urls, "urls", nil, "template of their databases, such as postgres://db3/locus_g{g}_{i}; repeat it to spread them; by default that of the newest generation")
}

// request returns the body of the request.
func (g *growing) request(c *cobra.Command) (*httpapi.GrowRequest, error) {
	if g.to == 0 {
		return nil, usage(c.CommandPath()+" --to 48", "%s: --to is missing: the number of cells of the new generation",
			c.CommandPath())
	}
	request := &httpapi.GrowRequest{Cells: g.to}
	for _, urls := range g.urls {
		request.URLs = append(request.URLs, splitURLs(urls)...)
	}
	return request, nil
}

// nextURL matches where a list of URLs is split: a URL may contain commas between several hosts.
var nextURL = regexp.MustCompile(`,(?:postgres(?:ql)?://|sqlite:)`)

// splitURLs splits a list of URLs.
func splitURLs(text string) (urls []string) {
	for {
		at := nextURL.FindStringIndex(text)
		if at == nil {
			return append(urls, text)
		}
		urls, text = append(urls, text[:at[0]]), text[at[0]+1:]
	}
}

// planned is a growth with the server's plan.
type planned struct {
	*client
	request *httpapi.GrowRequest
	plan    *cell.Plan
	raw     json.RawMessage // JSON of the plan
}

// plan connects and requests a growth plan. The caller closes the connection.
func (a *app) plan(c *cobra.Command, g *growing, to opening) (_ *planned, err error) {
	p := &planned{plan: &cell.Plan{}}
	if p.request, err = g.request(c); err != nil {
		return nil, err
	}
	body, err := json.Marshal(p.request)
	if err != nil {
		return nil, fmt.Errorf("ask for a plan: %w", err)
	}
	if p.client, err = a.connect(c, to); err != nil {
		return nil, err
	}
	if p.raw, err = p.do(c.Context(), http.MethodPost, "/v1/cells/plan", nil, body, p.plan); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (a *app) cellPlan() *cobra.Command {
	var g growing
	c := &cobra.Command{
		Use:   "plan --to N",
		Short: "Show what a new generation of cells would change, or why it is impossible",
		Example: "  locus cell plan --to 48\n" +
			"  locus cell plan --to 96 --urls postgres://db3/locus_g{g}_{i} --json",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.plan(c, &g, reads)
			if err != nil {
				return err
			}
			defer p.close()
			if a.json {
				return a.printRaw(p.raw)
			}
			_, err = fmt.Fprintln(a.stdout, planText(p.plan))
			return err
		},
	}
	g.flags(c)
	return a.connection(c)
}

func (a *app) cellGrow() *cobra.Command {
	var g growing
	var f changing
	var wait bool
	c := &cobra.Command{
		Use:   "grow --to N",
		Short: "Add a generation of cells while reads and writes continue; no row moves",
		Long: "Creates the databases and announces the generation. New keys and ids go to it once it has started, within a minute: the\n" +
			"cell map already covers the ids of that time. Without --wait the command returns after the announcement, and the servers\n" +
			"do the rest. It can be interrupted at any point and repeated.",
		Example: "  locus cell grow --to 48 --wait\n" +
			"  locus cell grow --to 96 --urls postgres://db3/locus_g{g}_{i} --dry-run",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.plan(c, &g, f.access())
			if err != nil {
				return err
			}
			defer p.close()
			if a.json {
				err = a.printRaw(typed("plan", p.raw))
			} else {
				a.say("%s", planText(p.plan))
			}
			if err != nil || f.dryRun {
				return err
			}
			if err := a.confirm(f.yes, fmt.Sprintf("Grow to %d cells? No row moves. A generation cannot be removed.", p.request.Cells)); err != nil {
				return err
			}
			return a.grow(c, p.client, p.request, wait)
		},
	}
	g.flags(c)
	f.flags(c)
	c.Flags().BoolVar(&wait, "wait", false, "wait until the generation has started and the older cells are sealed")
	return a.connection(c)
}

func (a *app) grow(c *cobra.Command, cl *client, request *httpapi.GrowRequest, wait bool) error {
	var starts time.Time
	result, err := a.change(c.Context(), cl, "/v1/cells/grow", request, steps(func(p cell.Progress) (step, line string, err error) {
		line = p.String()
		if p.Step == cell.StepWaiting {
			if line, starts = startsIn(p.Starts), p.Starts; !wait {
				err = errEnough
			}
		}
		return p.Step + fmt.Sprint(p.Generation), line, err
	}))
	if errors.Is(err, errEnough) {
		if a.json {
			return a.printJSON(map[string]any{"type": "summary", "done": false, "starts": starts.UTC()})
		}
		a.say("announced: the generation %s, at %s; the servers finish it then, or this command with --wait",
			startsIn(starts), starts.UTC().Format(time.RFC3339))
		return nil
	}
	if err != nil {
		return err
	}
	changed, err := resultOf[httpapi.Changed](result)
	if err != nil {
		return err
	}
	return a.summary(result, "done: generation %d of %d cells takes new keys, epoch %d", changed.Generation, request.Cells,
		changed.Epoch)
}
