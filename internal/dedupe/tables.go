// SPDX-License-Identifier: Apache-2.0

package dedupe

import (
	"cmp"
	"context"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/internal/export"
	"github.com/locus-db/locus/review"
)

// Len returns how many rows the input has, including refused ones.
func (s *Session) Len() int { return len(s.rows) }

// eachPage is how many rows are read at once.
const eachPage = 1000

// EachLink calls fn for each row that is a record, in the order of the input.
func (s *Session) EachLink(ctx context.Context, c *Clusters, fn func(source, key string, cluster int) error) error {
	for page := range slices.Chunk(s.rows, eachPage) {
		var puids []entity.PUID
		var clusters []int32
		for _, r := range page {
			if r.puid != 0 {
				puids, clusters = append(puids, r.puid), append(clusters, r.cluster)
			}
		}
		found, err := s.DB.Records().ByPUID(ctx, puids)
		if err != nil {
			return err
		}
		for i, rec := range found {
			if err := fn(rec.Source, rec.Key, int(clusters[i])+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// EachGolden calls fn for each cluster, in the order of their numbers: its number, then the columns of the table of
// entities after id and kind. The records of a cluster, in the first of these columns, are in input order, because the
// order of their births depends on the clock.
func (s *Session) EachGolden(ctx context.Context, c *Clusters, t *export.Table, fn func(exchange.Row) error) error {
	of := map[string]int{} // ids of entities
	for rec, err := range s.DB.Records().All(ctx, nil) {
		if err != nil {
			return err
		}
		if rec.Anchor == rec.PUID {
			of[rec.Entity.String()] = c.Of(rec.PUID)
		}
	}
	place := make(map[string]int, len(s.rows))
	if err := s.EachLink(ctx, c, func(source, key string, _ int) error {
		place[entity.Ref{Source: source, Key: key}.String()] = len(place)
		return nil
	}); err != nil {
		return err
	}
	rows := make([]exchange.Row, c.Len())
	for row, err := range t.Rows {
		if err != nil {
			return err
		}
		id := of[row[0][0]]
		golden := exchange.Row{exchange.FormatInt(int64(id))}
		for _, values := range row[2:] {
			golden = append(golden, slices.Clone(values))
		}
		slices.SortFunc(golden[1], func(x, y string) int { return place[x] - place[y] })
		rows[id-1] = golden
	}
	for _, row := range rows {
		if err := fn(row); err != nil {
			return err
		}
	}
	return nil
}

// EachDoubt calls fn for each pair of rows that may be one thing and are in two clusters, the best first.
func (s *Session) EachDoubt(ctx context.Context, c *Clusters, fn func(p review.Pair, a, b int) error) error {
	type doubt struct {
		review.Pair
		a, b int
	}
	of := map[entity.Ref]int{}
	if err := s.EachLink(ctx, c, func(source, key string, cluster int) error {
		of[entity.Ref{Source: source, Key: key}] = cluster
		return nil
	}); err != nil {
		return err
	}
	var doubts []doubt
	for q := (review.Query{Limit: review.MaxPage}); ; {
		page, err := s.DB.Review().List(ctx, q)
		if err != nil {
			return err
		}
		for _, p := range page.Pairs {
			d := doubt{p, of[p.A], of[p.B]}
			if d.a > d.b {
				d.A, d.B, d.a, d.b = d.B, d.A, d.b, d.a
			}
			doubts = append(doubts, d)
		}
		if q.After = page.Next; page.Next == "" {
			break
		}
	}
	slices.SortStableFunc(doubts, func(x, y doubt) int {
		return cmp.Or(cmp.Compare(y.Explanation.Weight, x.Explanation.Weight), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	for _, d := range doubts {
		if err := fn(d.Pair, d.a, d.b); err != nil {
			return err
		}
	}
	return nil
}
