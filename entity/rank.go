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
	sourcePoint = 0.25 // of trust
)

// Rank tells how good the picture is that an entity gives of its thing, as points: "best first" is the
// order of ranks, the highest first, and of anchors within one rank. It is a function of the members'
// sources and the view, and does not depend on the day of reading, so lists are stable. Few values are
// enough: each is a list of its own in the index, and a member more rarely changes all there is to find.
type Rank struct {
	// Sources has a point for every quarter of the trust in the distinct sources, summed: 2 for a
	// source that nobody declared, 4 for one that is trusted wholly. At most 15.
	Sources int `json:"sources"`
	// Known has a point for every attribute that the view shows, at most 16.
	Known int `json:"known"`
}

// RankOf is the rank of an entity of these members with this view.
func RankOf(members []Member, view View, policy Policy) Rank {
	var trust float64
	for i, m := range members {
		if !slices.ContainsFunc(members[:i], func(earlier Member) bool { return earlier.Source == m.Source }) {
			trust += math.Round(1000 * policy.Trust(m.Source, "")) // whole numbers: a sum in any order
		}
	}
	return Rank{min(int(trust/(1000*sourcePoint)), maxSources), min(len(view), maxKnown)}
}

// Points are the rank as one number.
func (r Rank) Points() int { return r.Sources + r.Known }

// Place is where an entity stands in a list, by its points and its anchor or by its anchor alone. The zero
// place is before all of them, since no record has puid 0.
type Place struct {
	Points int
	Anchor PUID
}
