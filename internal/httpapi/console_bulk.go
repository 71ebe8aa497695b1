// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/review"
)

// reviewFilter is the filter of a page: pairs that are assigned to others are left out by default.
func (c *call) reviewFilter() review.Filter {
	return review.Filter{
		Source: c.query["source"], Kind: c.query["kind"], Attribute: c.query["attribute"], Bits: c.query["bits"],
		Assigned: cmp.Or(c.query["assigned"], review.Open), Person: c.author(),
	}
}

// chosen is the selection of a page or a form: the marked pairs, or else the pairs that the filter selects.
func (c *call) chosen() (*review.Selection, []string, error) {
	chosen := &review.Selection{Filter: c.reviewFilter()}
	if err := ownFilter(c, &chosen.Filter, &chosen.Kinds); err != nil {
		return nil, nil, err
	}
	marks := strings.Fields(c.query["pair"])
	for _, mark := range marks {
		pair, known := console.ParseMark(mark)
		if !known {
			return nil, nil, fault(CodeInvalid, "?pair", "%.100q names no pair", mark)
		}
		chosen.Pairs = append(chosen.Pairs, pair)
	}
	return chosen, marks, nil
}

// bulkPage shows the effect of a verdict about several pairs.
func (p *site) bulkPage(c *call, body *bytes.Buffer) error {
	shown := console.Bulk{Verdict: entity.Verdict(cmp.Or(c.query["verdict"], string(entity.VerdictSame))),
		Filter: c.reviewFilter(), Author: c.author()}
	chosen, marks, err := c.chosen()
	if err == nil {
		shown.Marks = marks
		shown.Effect, err = p.svc.Review().Foresee(c, chosen, shown.Verdict)
		shown.Effect, err = narrowed(p.Server, c, shown.Effect, err)
	}
	if err != nil {
		f := toFault(err, "")
		if codes[f.Code].status >= http.StatusInternalServerError {
			return err
		}
		shown.Problem = f.Detail
	}
	return p.shown(c.r).Bulk(body, shown)
}

// bulkForm decides about several pairs.
func (p *site) bulkForm(c *call, fields values) (string, error) {
	chosen, _, err := c.chosen()
	if err != nil {
		return "", err
	}
	chosen.Filter.Person = fields["author"]
	defer p.looks.drop(reviewLook)
	made, err := p.bulk(c, chosen, fields["stamp"], entity.Verdict(fields["verdict"]),
		decisions.By{Author: fields["author"], Reason: fields["reason"], Principal: proved(c)})
	if err != nil {
		return "", err
	}
	return "/review/team?batch=" + url.QueryEscape(made.Batch), nil
}

// undoForm withdraws a bulk decision.
func (p *site) undoForm(c *call, fields values) (string, error) {
	defer p.looks.drop(reviewLook)
	results, err := p.svc.Decisions().Undo(c, fields["batch"], access.From(c).Restriction.Kinds,
		decisions.By{Author: fields["author"], Principal: proved(c)})
	if err != nil {
		return "", err
	}
	c.results(results)
	for _, r := range results {
		if r.Err != nil {
			return "", r.Err
		}
	}
	return "/review/team", nil
}

// assignForm assigns or releases pairs.
func (p *site) assignForm(c *call, fields values) (string, error) {
	chosen, _, err := c.chosen()
	if err != nil {
		return "", err
	}
	days, err := strconv.Atoi(cmp.Or(fields["days"], "7"))
	if err != nil || days < 1 {
		return "", fault(CodeInvalid, "/days", "the number of days must be a whole number from 1")
	}
	to := strings.TrimSpace(fields["to"])
	made, err := p.assignBy(c, chosen, to, fields["author"], days)
	if err != nil {
		return "", err
	}
	p.looks.drop(reviewLook)
	return "/review/team?assigned=" + strconv.Itoa(made.Pairs) + "&to=" + url.QueryEscape(to), nil
}

func (p *site) teamPage(c *call, body *bytes.Buffer) error {
	kinds := access.From(c).Restriction.Kinds
	team, err := recently(c, p.looks, reviewLook+"team "+strings.Join(kinds, " "), func(ctx context.Context) (*review.Team, error) {
		return p.svc.Review().Team(ctx, kinds)
	})
	if team, err = narrowed(p.Server, c, team, err); err != nil {
		return err
	}
	shown := console.Team{Team: team, Author: c.author(), Batch: c.query["batch"]}
	if n, err := strconv.Atoi(c.query["assigned"]); err == nil {
		if shown.Assigned = fmt.Sprintf("Assigned to %.255s: %d", c.query["to"], n); c.query["to"] == "" {
			shown.Assigned = fmt.Sprintf("Released: %d", n)
		}
	}
	return p.shown(c.r).Team(body, shown)
}
