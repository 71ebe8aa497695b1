// SPDX-License-Identifier: Apache-2.0

package dedupe

import (
	"context"
	"math"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// Clusters are the clusters of the input.
type Clusters struct {
	rows  []row
	sizes []int32               // by cluster
	of    map[entity.PUID]int32 // the cluster of an anchor
}

// Cluster is the cluster of a row.
type Cluster struct {
	ID   int // from 1, in the order of the first rows; 0 for a refused row
	Size int // rows
	// Weight is the weakest join that holds the row: the smallest match weight on the strongest chain of comparisons
	// between the row and the first row of its cluster. For that row itself it is its strongest comparison. Weighed is
	// false for a row that is alone.
	Weight  match.Weight
	Weighed bool
}

// Row returns the cluster of a row of the input, counted from 0.
func (c *Clusters) Row(i int) Cluster {
	r := c.rows[i]
	if r.puid == 0 {
		return Cluster{}
	}
	size := int(c.sizes[r.cluster])
	return Cluster{int(r.cluster) + 1, size, r.weight, size > 1 && r.weight > none}
}

// Of returns the number of the cluster with this anchor; 0 if there is none.
func (c *Clusters) Of(anchor entity.PUID) int {
	if n, ok := c.of[anchor]; ok {
		return int(n) + 1
	}
	return 0
}

// Len returns the number of clusters.
func (c *Clusters) Len() int { return len(c.sizes) }

// none is below every match weight.
const none = match.Weight(math.MinInt16)

// Finish resolves the rows, numbers the clusters, and weighs the rows in them.
func (s *Session) Finish(ctx context.Context) (*Clusters, error) {
	if err := s.resolve(ctx); err != nil {
		return nil, err
	}
	anchors := make(map[entity.PUID]entity.PUID, len(s.rows))
	for rec, err := range s.DB.Records().All(ctx, nil) {
		if err != nil {
			return nil, err
		}
		anchors[rec.PUID] = rec.Anchor
	}
	c := &Clusters{rows: s.rows, of: make(map[entity.PUID]int32)}
	for i := range s.rows {
		r := &s.rows[i]
		if r.puid == 0 {
			continue
		}
		anchor := anchors[r.puid]
		n, seen := c.of[anchor]
		if !seen {
			n = int32(len(c.sizes)) //nolint:gosec // fewer than rows
			c.of[anchor] = n
			c.sizes = append(c.sizes, 0)
		}
		r.cluster, r.weight = n, none
		c.sizes[n]++
	}
	return c, s.weigh(ctx, c)
}

// weighPage is how many rows are weighed at once.
const weighPage = 5000

// weigh sets the weights of the rows of clusters, page by page of whole clusters.
func (s *Session) weigh(ctx context.Context, c *Clusters) error {
	joined := make([]int, 0, len(s.rows))
	for i, r := range s.rows {
		if r.puid != 0 && c.sizes[r.cluster] > 1 {
			joined = append(joined, i)
		}
	}
	slices.SortStableFunc(joined, func(a, b int) int { return int(s.rows[a].cluster - s.rows[b].cluster) })
	for len(joined) > 0 {
		n := min(weighPage, len(joined))
		for n < len(joined) && s.rows[joined[n]].cluster == s.rows[joined[n-1]].cluster {
			n++
		}
		page := joined[:n]
		joined = joined[n:]
		at := make(map[entity.PUID]int, n)
		puids := make([]entity.PUID, n)
		for i, row := range page {
			puids[i] = s.rows[row].puid
			at[puids[i]] = row
		}
		edges, err := s.DB.Explain().Edges(ctx, s.kind, puids)
		if err != nil {
			return err
		}
		s.chain(page, edges, at)
	}
	return nil
}

// chain follows the strongest edges first, as in a maximum spanning tree: the weight of a row is known when its group
// is joined to that of the first row of its cluster.
func (s *Session) chain(page []int, edges []derived.Edge, at map[entity.PUID]int) {
	edges = slices.DeleteFunc(edges, func(e derived.Edge) bool {
		a, known := at[e.A]
		b, too := at[e.B]
		return !known || !too || a >= b || s.rows[a].cluster != s.rows[b].cluster
	})
	slices.SortStableFunc(edges, func(x, y derived.Edge) int { return int(y.Weight - x.Weight) })
	group := make(map[int]int, len(page))     // row → a row of its group
	members := make(map[int][]int, len(page)) // that row → all rows of the group
	first := make(map[int32]int)
	for _, row := range page {
		group[row], members[row] = row, []int{row}
		if f, seen := first[s.rows[row].cluster]; !seen || row < f {
			first[s.rows[row].cluster] = row
		}
	}
	for _, e := range edges {
		a, b := group[at[e.A]], group[at[e.B]]
		if a == b {
			continue
		}
		head := group[first[s.rows[a].cluster]]
		for _, side := range [][2]int{{a, b}, {b, a}} {
			if side[0] == head {
				for _, row := range members[side[1]] {
					s.rows[row].weight = e.Weight
				}
				if f := first[s.rows[a].cluster]; s.rows[f].weight == none {
					s.rows[f].weight = e.Weight
				}
			}
		}
		for _, row := range members[b] {
			group[row] = a
		}
		members[a] = append(members[a], members[b]...)
		delete(members, b)
	}
}
