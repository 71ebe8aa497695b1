// SPDX-License-Identifier: Apache-2.0

package dedupe

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// Pair is a row of the first file and one of the second that are one thing; places are counted from 0.
type Pair struct {
	A, B   int
	Weight match.Weight
}

// Pairs matches the rows of the second file with the rows of the first, which Add has put with its source as deduplicated.
// The session does not change, and rows of the second file are not compared with each other. A row may be in several
// pairs. Pairs are in the order of B, the best first. It calls refuse for each row that cannot be matched and returns
// how many rows there are.
func (s *Session) Pairs(ctx context.Context, in *Input, refuse func(Refusal) error) (pairs []Pair, rows int, err error) {
	if err := s.resolve(ctx); err != nil {
		return nil, 0, err
	}
	place, err := s.places(ctx)
	if err != nil {
		return nil, 0, err
	}
	var probes []entities.Probe
	var at []int
	flush := func() error {
		if len(probes) == 0 {
			return nil
		}
		found, err := s.DB.Entities().Match(ctx, probes, &entities.MatchOptions{Top: entities.MaxTop, MinMatchWeight: match.Threshold})
		if err != nil {
			return err
		}
		for i := range found {
			if found[i].Err != nil {
				return found[i].Err
			}
			for _, c := range found[i].Candidates {
				if c.Level == entities.LevelSame {
					pairs = append(pairs, Pair{place[c.Record], at[i], c.MatchWeight})
				}
			}
		}
		probes, at = probes[:0], at[:0]
		return nil
	}
	schema := s.DB.Kinds().Schema(in.Kind)
	for ; ; rows++ {
		rec, refused, err := in.next(schema)
		switch {
		case errors.Is(err, io.EOF):
			return pairs, rows, flush()
		case err != nil:
			return nil, 0, err
		case refused != nil:
			if err := refuse(Refusal{rows, refused}); err != nil {
				return nil, 0, err
			}
			continue
		}
		probes, at = append(probes, entities.Probe{Ref: rec.Ref, Kind: rec.Kind, Observed: rec.Observed, Attributes: rec.Attributes}), append(at, rows)
		if len(probes) == entities.MaxProbes {
			if err := flush(); err != nil {
				return nil, 0, err
			}
		}
	}
}

// places returns the rows by the keys of their records.
func (s *Session) places(ctx context.Context) (map[entity.Ref]int, error) {
	rows := make(map[entity.PUID]int, len(s.rows))
	for i, r := range s.rows {
		rows[r.puid] = i
	}
	place := make(map[entity.Ref]int, len(s.rows))
	for rec, err := range s.DB.Records().All(ctx, nil) {
		if err != nil {
			return nil, err
		}
		place[rec.Ref] = rows[rec.PUID]
	}
	return place, nil
}

// Once states which of two files lists nothing twice: a row of the other file has at most one partner in it.
type Once struct{ First, Second bool }

// Best returns the pairs. If a file lists nothing twice, it leaves out all but the best pair of each row of the other
// file. It takes the best match weights first, then the earlier rows. Pairs are in the order of B.
func (o Once) Best(pairs []Pair) []Pair {
	sorted := slices.SortedStableFunc(slices.Values(pairs), func(x, y Pair) int {
		return cmp.Or(cmp.Compare(y.Weight, x.Weight), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	a, b := map[int]bool{}, map[int]bool{}
	var kept []Pair
	for _, p := range sorted {
		if !(o.Second && a[p.A]) && !(o.First && b[p.B]) {
			a[p.A], b[p.B] = true, true
			kept = append(kept, p)
		}
	}
	slices.SortFunc(kept, func(x, y Pair) int { return cmp.Or(cmp.Compare(x.B, y.B), cmp.Compare(x.A, y.A)) })
	return kept
}

// Duplicates in a file are so rare, or so unlike other matches, that a row has one partner there at most: see Distinct.
const (
	mostFurther = 6 // further pairs, as a part of the others
	mostAlike   = 4 // pairs that weigh as much as half of the others, as a share of the further pairs
)

// Distinct returns which files list nothing twice, judging by the pairs: few rows of the other file have a second
// partner in it, and these pairs weigh less than matches. If the second partner were another row of the same thing, its
// pair would weigh like any other match. Then the lesser of two such pairs would be above the median of all matches in
// at least one of four cases.
//
// Pairs of rows with a better partner in a file that lists nothing twice show nothing about the other file. The files
// that are known to list nothing twice are in known.
func Distinct(pairs []Pair, known Once) Once {
	pairs = known.Best(pairs)
	once := known
	once.First = once.First || few(pairs, Once{First: true}.Best(pairs))
	once.Second = once.Second || few(pairs, Once{Second: true}.Best(pairs))
	if once != known {
		return Distinct(pairs, once)
	}
	return once
}

// few reports whether the pairs that are not among the best are few, and weigh less.
func few(pairs, best []Pair) bool {
	further := len(pairs) - len(best)
	if further == 0 || further*mostFurther > len(best) {
		return further == 0
	}
	weights := make([]match.Weight, len(best))
	for i, p := range best {
		weights[i] = p.Weight
	}
	slices.Sort(weights)
	median := weights[len(weights)/2]
	alike := 0
	for _, p := range pairs {
		if p.Weight >= median {
			alike++
		}
	}
	for _, w := range weights {
		if w >= median {
			alike--
		}
	}
	return alike*mostAlike < further
}

// Taken reads the rows of a file that are in pairs, or all of them, and returns them by position.
func Taken(r *bulk.Reader, h *Header, wanted func(row int) bool) (map[int][]bulk.Field, error) {
	rows := map[int][]bulk.Field{}
	for i := 0; ; i++ {
		fields, err := Next(r, h)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		if wanted(i) {
			rows[i] = fields
		}
	}
}
