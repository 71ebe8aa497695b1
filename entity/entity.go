// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/locus-db/locus/locality"
)

// Member is a record of an entity.
type Member struct {
	PUID PUID `json:"puid"`
	Ref
	// Version is the record version that the view was made from.
	Version int64 `json:"version"`
}

// Entity is a cluster of records and their merged view.
type Entity struct {
	// ID is the birth id of the anchor: the earliest record, or the one that a decision chose.
	ID locality.ID `json:"id"`
	// Kind of the thing, the same for all members.
	Kind string `json:"kind"`
	// Members are in order of birth, except that the anchor comes first.
	Members []Member `json:"members"`
	View    View     `json:"view"`
	// Rank measures how complete and well supported the view is; see RankOf.
	Rank Rank `json:"rank"`
	// Stamp is a hash of all inputs of the entity: equal stamps mean equal entities. Writing an entity whose
	// stamp is already stored changes nothing.
	Stamp uint64 `json:"stamp,string"`
}

// Anchor returns the puid of the first member, which the entity is stored under.
func (e *Entity) Anchor() PUID { return e.Members[0].PUID }

// PUIDs returns the puids of the members in their order.
func (e *Entity) PUIDs() []PUID {
	puids := make([]PUID, len(e.Members))
	for i, m := range e.Members {
		puids[i] = m.PUID
	}
	return puids
}

// Stamp hashes the members, the rules (schema and term-frequency table) and the decisions that an entity was made from:
// pins are its chosen anchor and values.
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
