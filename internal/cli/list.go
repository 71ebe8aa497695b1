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
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

// paging holds the flags of a list.
type paging struct {
	limit  int
	cursor string
	all    bool
}

func (p *paging) flags(c *cobra.Command) {
	c.Flags().IntVar(&p.limit, "limit", 100, "number of items, at most 1000; with --all the size of a page")
	c.Flags().StringVar(&p.cursor, "cursor", "", "continue where an earlier list ended, with the cursor that it printed")
	c.Flags().BoolVar(&p.all, "all", false, "list all")
}

// list requests pages and passes their rows to row; with --json it prints them as lines. field is the name of the list
// in the answer. At the end it prints how to continue.
func (p *paging) list(ctx context.Context, a *app, cl *client, path, field string, query url.Values,
	row func(json.RawMessage) error) error {
	if p.limit < 1 || p.limit > locus.MaxLimit {
		return usage("--limit 100", "--limit %d: want 1 to %d", p.limit, locus.MaxLimit)
	}
	if a.json {
		row = func(raw json.RawMessage) error { return a.printRaw(typed("result", raw)) }
	}
	got, err := p.read(ctx, a, cl, path, field, query, row)
	if err != nil {
		return err
	}
	if err := a.listed(got.rows, got.cursor); err != nil {
		return err
	}
	return incomplete(field, got.damaged)
}

// listing is the result of paging.
type listing struct {
	rows    int
	cursor  string // of the rest, "" if there is none
	damaged int    // rows that are left out
}

// read requests one page, or all, and passes the rows to row.
func (p *paging) read(ctx context.Context, a *app, cl *client, path, field string, query url.Values,
	row func(json.RawMessage) error) (got listing, err error) {
	got.cursor = p.cursor
	for {
		query.Set("limit", strconv.Itoa(p.limit))
		query.Del("cursor")
		if got.cursor != "" {
			query.Set("cursor", got.cursor)
		}
		var page map[string]json.RawMessage
		if _, err := cl.get(ctx, path, query, &page); err != nil {
			return got, err
		}
		var rows []json.RawMessage
		var damaged []httpapi.Damage
		got.cursor = ""
		for name, to := range map[string]any{field: &rows, "damaged": &damaged, "cursor": &got.cursor} {
			raw, ok := page[name]
			if !ok && name != field {
				continue
			}
			if err := json.Unmarshal(raw, to); err != nil {
				return got, fmt.Errorf("read a page of %s: %w", field, err)
			}
		}
		for _, raw := range rows {
			if err := row(raw); err != nil {
				return got, err
			}
		}
		if err := a.corrected(page["corrections"]); err != nil {
			return got, err
		}
		for _, d := range damaged {
			a.say("left out: row %s of table %s of cell %s is damaged", d.Row, d.Table, d.Cell)
		}
		got.rows, got.damaged = got.rows+len(rows), got.damaged+len(damaged)
		if !p.all || got.cursor == "" {
			return got, nil
		}
	}
}

// incomplete returns the failure of a list from which damaged rows are left out, nil if there are none.
func incomplete(field string, damaged int) error {
	if damaged == 0 {
		return nil
	}
	return &failure{Code: string(httpapi.CodeDamaged),
		Message: fmt.Sprintf("the list of %s is incomplete: %s damaged", field, plural(damaged, "row")), Exit: exitPartly,
		Hint: hints[httpapi.CodeDamaged]}
}

// corrected says which words of a search were taken for others.
func (a *app) corrected(raw json.RawMessage) error {
	var list []entities.Correction
	if raw == nil || a.json { // each result has its own
		return nil
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("read the corrected words: %w", err)
	}
	var shown []string
	for _, c := range list {
		shown = append(shown, term.Escape(c.As)+" for "+term.Escape(c.Word))
	}
	if n := len(shown); n > shownCorrections {
		shown = append(shown[:shownCorrections], fmt.Sprintf("%d others", n-shownCorrections))
	}
	a.say("showing %s", strings.Join(shown, ", "))
	return nil
}

// shownCorrections is the maximum number of corrected words that a list names.
const shownCorrections = 5

// listed prints the number of rows and the cursor of the rest.
func (a *app) listed(count int, cursor string) error {
	if a.json {
		return a.printJSON(struct {
			Type   string `json:"type"`
			Count  int    `json:"count"`
			Cursor string `json:"cursor"`
		}{"summary", count, cursor})
	}
	if cursor != "" {
		a.say("more follow: --cursor %s, or --all", cursor)
	}
	return nil
}
