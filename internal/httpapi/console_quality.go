// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/quality"
)

// quality estimates the quality of the kinds that the caller may see.
func (s *Server) quality(c *call) (any, error) {
	return s.svc.Quality().Estimate(c, access.From(c).Restriction.Kinds)
}

// profile describes the records of the kinds that the caller may see.
func (s *Server) profile(c *call) (any, error) {
	q, err := s.profiled(c)
	if err != nil {
		return nil, err
	}
	return s.svc.Quality().Profile(c, q)
}

// profiled reads the parameters of a profile.
func (s *Server) profiled(c *call) (q quality.ProfileQuery, err error) {
	who := &access.From(c).Restriction
	q.Kinds = who.Kinds
	if kind := c.query["kind"]; kind != "" {
		if !who.Sees(kind) || s.svc.Kinds().Schema(kind) == nil {
			return q, errNoKind
		}
		q.Kinds = []string{kind}
	}
	if text := c.query["threshold"]; text != "" {
		bits, err := strconv.ParseFloat(text, 64)
		if err != nil || !(bits > 0 && bits <= 100) {
			return q, fault(CodeInvalid, "?threshold", "%.40q is not a threshold: want bits, above 0 and at most 100", text)
		}
		q.Threshold = match.Weight(bits*100 + .5)
	}
	return q, nil
}

// qualityPage shows the estimate and the profile of a kind.
func (p *site) qualityPage(c *call, body *bytes.Buffer) error {
	if c.query.unfilled(); c.query == nil {
		c.query = values{}
	}
	who := &access.From(c).Restriction
	var names []string
	for _, s := range p.svc.Kinds().Schemas() {
		if who.Sees(s.Kind) {
			names = append(names, s.Kind)
		}
	}
	if len(names) == 0 {
		return fault(CodeForbidden, "", "you may not see any kind of this installation")
	}
	shown := console.Quality{Kinds: names, Asked: c.query["threshold"]}
	if shown.Kind = c.query["kind"]; shown.Kind == "" {
		shown.Kind = names[0]
		if home := p.svc.Kinds().Schema("").Kind; slices.Contains(names, home) {
			shown.Kind = home
		}
		c.query["kind"] = shown.Kind
	}
	q, err := p.profiled(c)
	if err != nil {
		if toFault(err, "").Code != CodeInvalid || !slices.Contains(names, shown.Kind) {
			return err
		}
		shown.Problem, q.Kinds = toFault(err, "").Detail, []string{shown.Kind}
	}
	profile, err := recently(c, p.looks, "profile "+strings.Join(q.Kinds, " ")+" "+q.Threshold.String(),
		func(ctx context.Context) (*quality.Profile, error) { return p.svc.Quality().Profile(ctx, q) })
	if shown.Profile, err = narrowed(p.Server, c, profile, err); err != nil {
		return err
	}
	estimate, err := recently(c, p.looks, "quality "+shown.Kind, func(ctx context.Context) (*quality.Estimate, error) {
		return p.svc.Quality().Estimate(ctx, q.Kinds)
	})
	if shown.Estimate, err = narrowed(p.Server, c, estimate, err); err != nil {
		return err
	}
	return p.shown(c.r).Quality(body, shown)
}
