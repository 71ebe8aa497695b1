// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus"
)

// paging are the flags of a list.
type paging struct {
	limit  int
	cursor string
	all    bool
}

func (p *paging) flags(c *cobra.Command) {
	c.Flags().IntVar(&p.limit, "limit", 100, "how many to list, at most 1000; with --all how many to ask for at once")
	c.Flags().StringVar(&p.cursor, "cursor", "", "go on where an earlier list ended, as it said")
	c.Flags().BoolVar(&p.all, "all", false, "list all")
}

// list fetches pages and hands out their rows, in JSON as lines of a stream. Field is the name of
// the list in the answers. At its end it says how to go on.
func (p *paging) list(ctx context.Context, a *app, cl *client, path, field string, query url.Values, row func(json.RawMessage) error) error {
	if p.limit < 1 || p.limit > locus.MaxLimit {
		return usage("--limit 100", "--limit %d: want 1 to %d", p.limit, locus.MaxLimit)
	}
	count, cursor := 0, p.cursor
	for {
		query.Set("limit", strconv.Itoa(p.limit))
		query.Del("cursor")
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		var page map[string]json.RawMessage
		if _, err := cl.get(ctx, path, query, &page); err != nil {
			return err
		}
		var rows []json.RawMessage
		if err := json.Unmarshal(page[field], &rows); err != nil {
			return fmt.Errorf("read a page of %s: %w", field, err)
		}
		for _, raw := range rows {
			if a.json {
				if err := a.printRaw(typed("result", raw)); err != nil {
					return err
				}
			} else if err := row(raw); err != nil {
				return err
			}
		}
		count += len(rows)
		cursor = ""
		if raw, ok := page["cursor"]; ok {
			if err := json.Unmarshal(raw, &cursor); err != nil {
				return fmt.Errorf("read a page of %s: %w", field, err)
			}
		}
		if !p.all || cursor == "" {
			return a.listed(count, cursor)
		}
	}
}

// listed tells how many there were and where the rest begins.
func (a *app) listed(count int, cursor string) error {
	if a.json {
		return a.printJSON(struct {
			Type   string `json:"type"`
			Count  int    `json:"count"`
			Cursor string `json:"cursor"`
		}{"summary", count, cursor})
	}
	if cursor != "" {
		a.say("there are more: --cursor %s, or --all", cursor)
	}
	return nil
}
