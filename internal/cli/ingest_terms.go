// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"os"
	"slices"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// countFirst counts the words of the names in files of a kind that has no records yet, and makes the kind weigh by
// these counts: later the records would have to be resolved again for that, see locus terms. An error only leaves the
// built-in tables in place.
func (a *app) countFirst(ctx context.Context, cl *client, kinds []*match.Schema, plans []*bulk.Plan) {
	files := map[string][]*bulk.Plan{}
	for _, p := range plans {
		if info, err := os.Stat(p.Name); err != nil || !info.Mode().IsRegular() || hasKinds(p) {
			continue // the file can be read only once, or has rows of several kinds
		}
		kind := cmp.Or(p.Kind, kinds[0].Kind)
		files[kind] = append(files[kind], p)
	}
	for _, kind := range kinds {
		if len(files[kind.Kind]) == 0 {
			continue
		}
		if err := a.countKind(ctx, cl, kind.Kind, files[kind.Kind]); err != nil && ctx.Err() == nil {
			a.say("words of names are weighted by built-in tables, because a table of these files cannot be stored: %s",
				term.Escape(explainFailure(ctx, err).Message))
		}
	}
}

// hasKinds reports whether a column has the kinds of the rows.
func hasKinds(p *bulk.Plan) bool {
	return slices.ContainsFunc(p.Columns, func(c bulk.Column) bool { return slices.Contains(c.To, "kind") })
}

// countKind is countFirst for the files of one kind.
func (a *app) countKind(ctx context.Context, cl *client, kind string, plans []*bulk.Plan) error {
	if !cl.uncounted(ctx, kind) {
		return nil
	}
	var k httpapi.Kind
	if _, err := cl.get(ctx, "/v1/kinds/"+url.PathEscape(kind), nil, &k); err != nil {
		return err
	}
	schema, err := match.ParseSchema([]byte(k.Schema))
	if err != nil {
		return err
	}
	terms, _, err := a.countNames(ctx, schema, plans)
	if err != nil || terms.Records() == 0 {
		return err
	}
	table, err := terms.MarshalBinary()
	if err != nil {
		return err
	}
	quiet := func(json.RawMessage) error { return nil }
	raw, err := cl.stream(ctx, "/v1/term-frequencies", httpapi.TermsRequest{Kind: kind, Table: table}, quiet)
	if err != nil {
		return err
	}
	stored, err := resultOf[httpapi.Terms](raw)
	if err != nil {
		return err
	}
	_, err = cl.stream(ctx, "/v1/kinds/"+url.PathEscape(kind)+"/migrate", httpapi.KindRequest{Terms: stored.Hash}, quiet)
	return err
}

// uncounted reports whether a kind has no records and uses the built-in tables. It returns false if the token may not
// read that, because then it may not change it either.
func (c *client) uncounted(ctx context.Context, kind string) bool {
	var of httpapi.KindList
	var sources httpapi.SourceList
	for path, to := range map[string]any{"/v1/kinds": &of, "/v1/sources": &sources} {
		if _, err := c.get(ctx, path, nil, to); err != nil {
			return false
		}
	}
	if recordsOf(&sources)[kind] > 0 {
		return false
	}
	builtIn := resolve.HashText(match.DefaultTermFrequencies().Hash())
	return slices.ContainsFunc(of.Kinds, func(k httpapi.Kind) bool { return k.Kind == kind && k.Terms == builtIn && k.Migration == nil })
}
