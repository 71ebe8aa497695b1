// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
)

const (
	// effectsShown is how many changes of a group are listed.
	effectsShown = 30
	// readingPatience is how long a page waits for a generation that is just being replaced.
	readingPatience = 500 * time.Millisecond
)

// rollupsPage shows the state of all rollups.
func (p *site) rollupsPage(c *call, body *bytes.Buffer) error {
	all, err := recently(c, p.looks, "rollups", p.svc.Rollups().List)
	if err != nil {
		return err
	}
	schema, err := p.kind(c, "")
	if err != nil {
		return err
	}
	return p.shown(c.r).Rollups(body, console.Rollups{Time: time.Now(), Rollups: p.seenRollups(c, all), Schema: schema})
}

// rollupPage shows the groups of a rollup, or one of them. If they cannot be read, the page shows the reason and the
// state of the rollup.
func (p *site) rollupPage(c *call, body *bytes.Buffer) error {
	shown, err := p.rollup(c)
	if errors.Is(err, rollup.ErrNotFound) {
		return p.noRollup(c, c.r.PathValue("name"))
	}
	if err != nil {
		return err
	}
	return p.shown(c.r).Rollup(body, *shown)
}

// rollupFile sends the table on the page of a rollup as CSV.
func (p *site) rollupFile(c *call, _ *bytes.Buffer) error {
	shown, err := p.rollup(c)
	if errors.Is(err, rollup.ErrNotFound) {
		return p.noRollup(c, c.r.PathValue("name"))
	}
	if err == nil && shown.Problem != "" {
		err = fault(CodeInvalid, "", "%s", shown.Problem)
	}
	if err != nil {
		return err
	}
	writeTable(c, shown.Status.Name, console.RollupTable(*shown))
	return nil
}

// rollup reads the part of a rollup that a page's query requests. The error is rollup.ErrNotFound if there is no such
// rollup.
func (p *site) rollup(c *call) (*console.Rollup, error) {
	name := c.r.PathValue("name")
	if err := p.seenRollup(c, name); err != nil {
		return nil, err
	}
	status, err := recently(c, p.looks, "rollup/"+cut(name, 64), func(ctx context.Context) (*rollups.Status, error) {
		return p.svc.Rollups().Get(ctx, name)
	})
	if err != nil {
		return nil, err
	}
	shown := console.Rollup{Time: time.Now(), Status: status, Query: c.r.URL.RawQuery}
	q := p.question(c, &shown)
	if status.Generation != 0 {
		p.groups(c, &shown, q)
	}
	return &shown, nil
}

// question reads the query. If it is invalid, the page shows the reason and the first groups.
func (p *site) question(c *call, shown *console.Rollup) rollups.Query {
	d := &shown.Status.Definition
	q := rollups.Query{Read: rollups.Read{Partial: true, Patience: readingPatience}}
	values := make([]string, len(d.Group))
	for i := range values {
		values[i] = c.query[console.GroupParam(i)]
	}
	if !slices.Contains(values, "") {
		shown.Group, q.Group = values, values
		return q
	}
	if strings.Join(values, "") != "" {
		shown.Problem = "A group has a value for each of " + strings.Join(d.Group, ", ") + "."
	}
	orders := console.Orders(d)
	switch by := c.query["by"]; {
	case c.query["order"] == "name" || len(orders) == 0:
	case by == "":
		shown.By = orders[0]
	case slices.Contains(orders, by):
		shown.By = by
	default:
		shown.By = orders[0]
		shown.Problem = "Groups cannot be ordered by " + cut(by, 40) + ": want one of " + strings.Join(orders, ", ") + "."
	}
	if shown.By != "" {
		if n, err := strconv.Atoi(c.query["page"]); err == nil && n > 1 {
			shown.Page = min(n, locus.MaxLimit/console.GroupsAtOnce) - 1
		}
		q.Top, q.By = locus.MaxLimit, shown.By
		return q
	}
	q.Limit = console.GroupsAtOnce
	if text := c.query["after"]; text != "" {
		after, ok := console.ParseAfter(text)
		if !ok || len(after) != len(d.Group) {
			shown.Problem = "The list begins with the first group: it cannot begin after " + cut(text, 40) + "."
		} else {
			shown.After, q.After = after, after
		}
	}
	return q
}

// groups reads groups, and the changes of a group.
func (p *site) groups(c *call, shown *console.Rollup, q rollups.Query) {
	name, group := shown.Status.Name, shown.Group
	key := fmt.Sprintf("%q %q %q %q", name, q.By, q.After, group)
	answer, err := recently(c, p.looks, "groups/"+key, func(ctx context.Context) (*rollups.Answer, error) {
		return p.svc.Rollups().Query(ctx, name, q)
	})
	switch {
	case err == nil && mayRead(&access.From(c).Restriction, &answer.Definition) == nil:
		shown.Answer = answer
	case err == nil:
		shown.Problem = "It was replaced by another definition."
	case errors.Is(err, rollup.ErrNotFound) && group != nil: // the group is empty
	default:
		shown.Problem = p.excuse(c, err)
	}
	if group == nil {
		return
	}
	shown.Effects, err = recently(c, p.looks, "effects/"+key, func(ctx context.Context) ([]rollups.CellEffect, error) {
		effects, err := p.svc.Rollups().Explain(ctx, name, group, effectsShown)
		return effects[max(0, len(effects)-effectsShown):], err
	})
	if err != nil {
		shown.Unexplained = "The changes are unavailable: " + p.excuse(c, err)
	}
	shown.Effects = p.viewer(&access.From(c).Restriction).effects(shown.Effects)
}

// excuse returns why a part of the page is missing, and logs errors for operators.
func (p *site) excuse(c *call, err error) string {
	f := toFault(err, "")
	p.note(c.r, problem(f, c.w.Header().Get(requestIDHeader)), err)
	return f.Detail
}

// noRollup reports that there is no such rollup.
func (p *site) noRollup(c *call, name string) error {
	return p.notice(c.w, c.r, http.StatusNotFound, console.Notice{
		Title: "No such rollup", Text: "No rollup has this name, or it was dropped.", Asked: cut(name, 200),
		Command: []string{"locus", "rollup", "list"},
	})
}
