// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changes"
)

func (a *app) changeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "change",
		Short: "Read the change logs of the cells",
		Example: "  locus change tail --follow\n" +
			"  locus change tail --cell g0-0 --after g0-0:17",
	}
	c.AddCommand(a.changeTail())
	return c
}

// tailing holds the flags of reading logs, and the position.
type tailing struct {
	*app
	limit  int
	all    bool
	cells  []string
	after  string
	follow bool

	at    string // watermark after the last printed line
	count int
}

func (a *app) changeTail() *cobra.Command {
	t := &tailing{app: a}
	c := &cobra.Command{
		Use:   "tail",
		Short: "Print changes from the beginning of the logs or from a watermark, or follow them",
		Long: "Changes of one cell are in the order of its log; changes of different cells have no order. A reader that continues\n" +
			"from the last printed watermark sees every change at least once. --follow starts at the end of the logs unless\n" +
			"--after is given, reconnects after a failure, and runs until Ctrl-C.\n" +
			"Changes contain the values before and after them only while a rollup needs these.",
		Example: "  locus change tail --follow\n" +
			"  locus change tail --after g0-0:17,g0-3:4 --all --json",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := t.check(c); err != nil {
				return err
			}
			cl, err := a.connect(c, reads)
			if err != nil {
				return err
			}
			defer cl.close()
			if t.follow {
				return t.feed(c.Context(), cl)
			}
			return t.pages(c.Context(), cl)
		},
	}
	c.Flags().IntVar(&t.limit, "limit", 100, "number of changes, at most 1000; with --all the size of a page")
	c.Flags().BoolVar(&t.all, "all", false, "print everything up to the end of the logs")
	c.Flags().StringSliceVar(&t.cells, "cell", nil, "only the logs of these cells, such as g0-0,g0-3")
	c.Flags().StringVar(&t.after, "after", "",
		"start after this watermark, such as g0-0:17,g0-3:4; cells not in it start at the beginning")
	c.Flags().BoolVar(&t.follow, "follow", false, "print changes as they happen")
	return a.connection(c)
}

func (t *tailing) check(c *cobra.Command) error {
	_, err := changelog.ParseWatermark(t.after)
	switch {
	case err != nil:
		return usage("--after g0-0:17,g0-3:4, the last one printed", "--after %.60q is not a watermark", t.after)
	case t.follow && (t.all || c.Flags().Changed("limit")):
		return usage("leave out one of them", "locus change tail: --follow runs until Ctrl-C and takes no --limit or --all")
	case t.limit < 1 || t.limit > locus.MaxLimit:
		return usage("--limit 100", "--limit %d: want 1 to %d", t.limit, locus.MaxLimit)
	}
	t.at = t.after
	return nil
}

// query returns the query for the changes after the last line.
func (t *tailing) query() url.Values {
	q := url.Values{}
	if len(t.cells) > 0 {
		q.Set("cell", strings.Join(t.cells, ","))
	}
	if t.at != "" {
		q.Set("after", t.at)
	}
	return q
}

// pages prints the existing changes.
func (t *tailing) pages(ctx context.Context, cl *client) error {
	for {
		var page struct {
			Changes []json.RawMessage `json:"changes"`
			Next    string            `json:"next"`
		}
		query := t.query()
		query.Set("limit", strconv.Itoa(t.limit))
		if _, err := cl.get(ctx, "/v1/changes", query, &page); err != nil {
			if ctx.Err() != nil {
				return t.interrupted()
			}
			return err
		}
		for _, raw := range page.Changes {
			if err := t.print(raw); err != nil {
				return err
			}
		}
		t.at = page.Next
		if !t.all || len(page.Changes) == 0 {
			return t.end(len(page.Changes) > 0)
		}
	}
}

// print prints one change on one line.
func (t *tailing) print(raw json.RawMessage) error {
	t.count++
	if t.json {
		return t.printRaw(typed("result", raw))
	}
	var c changes.Change
	if err := json.Unmarshal(raw, &c); err != nil {
		return fmt.Errorf("read a change: %w", err)
	}
	if t.count == 1 {
		if err := t.line("cell", "seq", "time", "kind", "entity", "what"); err != nil {
			return err
		}
	}
	return t.line(c.Cell.String(), fmt.Sprint(c.Seq), c.Time.UTC().Format(timeMilli), string(c.Kind), c.Entity.String(),
		what(&c.Change))
}

// line prints one row of a table whose later rows are not known yet.
func (t *tailing) line(cell, seq, time, kind, entity, what string) error {
	format := "%s\t%s\t%s\t%s\t%s\t%s\n"
	if t.out.Terminal {
		format = "%-7s  %7s  %-24s  %-8s  %-36s  %s\n"
	}
	_, err := fmt.Fprintf(t.stdout, format, cell, seq, time, kind, entity, what)
	return err
}

// end prints how to continue.
func (t *tailing) end(more bool) error {
	if t.json {
		return t.printJSON(struct {
			Type      string `json:"type"`
			Count     int    `json:"count"`
			Watermark string `json:"watermark"`
		}{"summary", t.count, t.at})
	}
	switch {
	case t.at == "":
		t.say("there is nothing")
	case more:
		t.say("continue with --after %s, or use --all", t.at)
	default:
		t.say("end of the logs; continue with --after %s", t.at)
	}
	return nil
}

// interrupted returns the error that ends a follow, with a hint to continue.
func (t *tailing) interrupted() error {
	f := &failure{Code: "interrupted", Message: "interrupted", Exit: exitInterrupted}
	if t.at == "" {
		return f
	}
	f.Hint = "locus change tail --after " + t.at + " continues"
	if t.follow {
		f.Hint = "locus change tail --follow --after " + t.at + " continues"
	}
	if t.json {
		if err := t.end(false); err != nil {
			return err
		}
	}
	return f
}

// what describes a change: the values before and after as far as they differ, if the change carries images; otherwise
// the members.
func what(c *changelog.Change) string {
	switch {
	case c.Was != nil || c.Is != nil:
		return imageText(c)
	case c.Kind.OfRecord():
		return versionsText(c.Before) + arrow + versionsText(c.After)
	case c.Kind == changelog.Retired:
		return retiredText(c)
	default:
		return memberText(len(c.Before)) + arrow + memberText(len(c.After))
	}
}
