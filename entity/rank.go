// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"math"
	"slices"
)

// MaxRank is the highest rank of an entity.
const MaxRank = maxSources + maxKnown

const (
	maxSources  = 15
	maxKnown    = 16
	sourcePoint = 0.25 // trust per point of Sources
)

// Rank measures how complete and well supported an entity is, in points. "Best first" orders by rank,
// highest first, then by anchor. It is a function of the members' sources and the view and does not depend
// on the day of reading, so lists are stable. The range is small on purpose: each rank is its own list in
// the index, so an additional member rarely changes index entries.
type Rank struct {
	// Sources counts one point per quarter of the summed trust in the distinct sources: 2 for an undeclared
	// source, 4 for a fully trusted one. At most 15.
	Sources int `json:"sources"`
	// Known counts one point per attribute of the view, at most 16.
	Known int `json:"known"`
}

// RankOf returns the rank of an entity with these members and this view.
func RankOf(members []Member, view View, policy Policy) Rank {
	var trust float64
	for i, m := range members {
		if !slices.ContainsFunc(members[:i], func(earlier Member) bool { return earlier.Source == m.Source }) {
			trust += math.Round(1000 * policy.Trust(m.Source, "")) // integers: exact in any order
		}
	}
	return Rank{min(int(trust/(1000*sourcePoint)), maxSources), min(len(view), maxKnown)}
}

// Points returns the rank as one number.
func (r Rank) Points() int { return r.Sources + r.Known }

// Place is a position in a list of entities, by edits, points and anchor or by anchor alone. The zero Place is the
// beginning of the list.
type Place struct {
	Points int
	Anchor PUID
	Edits  int // typing errors that were assumed in a word of the search; 0 for exact hits
}
