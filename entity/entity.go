// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/locus-db/locus/locality"
)

// Member is a record's place in an entity.
type Member struct {
	PUID PUID `json:"puid"`
	Ref
	// Version is the version of the record that the view was made from.
	Version int64 `json:"version"`
}

// Entity is the thing itself: a cluster of records and the merged view of them.
type Entity struct {
	// ID is the birth id of the anchor: the record that was born first, or that people chose.
	ID locality.ID `json:"id"`
	// Kind of the thing, that of all its members.
	Kind string `json:"kind"`
	// Members in the order of birth, but for the anchor, which is the first.
	Members []Member `json:"members"`
	// View is the merged view; see Merge.
	View View `json:"view"`
	// Rank tells how good the view is; see RankOf.
	Rank Rank `json:"rank"`
	// Stamp is a hash of everything that the entity is a function of: equal stamps, equal
	// entities. Writing an entity whose stamp is stored already changes nothing.
	Stamp uint64 `json:"stamp,string"`
}

// Anchor is the puid of the first member, under which the entity is stored.
func (e *Entity) Anchor() PUID { return e.Members[0].PUID }

// PUIDs returns the puids of the members, in their order.
func (e *Entity) PUIDs() []PUID {
	puids := make([]PUID, len(e.Members))
	for i, m := range e.Members {
		puids[i] = m.PUID
	}
	return puids
}

// Stamp hashes the members and the rules (schema and pack) that an entity was made with, and what people
// chose for it: its anchor, and values.
func Stamp(members []Member, rules uint64, pins ...Decision) uint64 {
	sorted := slices.Clone(members)
	slices.SortFunc(sorted, func(a, b Member) int { return cmp.Compare(a.PUID, b.PUID) })
	buf := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+16*len(sorted)), rules)
	for _, m := range sorted {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(m.PUID))
		buf = binary.LittleEndian.AppendUint64(buf, uint64(m.Version))
	}
	for _, d := range slices.SortedFunc(slices.Values(pins), func(a, b Decision) int { return a.Key().Compare(b.Key()) }) {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(d.A))
		for _, text := range []string{string(d.Verdict), d.Attribute, d.Value} {
			buf = append(binary.LittleEndian.AppendUint64(buf, uint64(len(text))), text...)
		}
	}
	return xxhash.Sum64(buf)
}
