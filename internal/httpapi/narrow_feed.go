// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"

	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/mirror"
)

// Data for followers of the whole installation, without hidden attributes. Changes and tombstones do not name their
// kind, so these routes refuse principals that see only some kinds.

// shownChanges returns changes as the principal may see them.
func (s *Server) shownChanges(c *call, list []changes.Change) []changes.Change {
	who := &access.From(c).Restriction
	if who.Hide == nil {
		return list
	}
	r := s.viewer(who)
	return only(list, all, func(one changes.Change) changes.Change {
		one.Change = r.change(one.Change)
		return one
	})
}

// states lose attributes, and get a stamp of the remaining content: the stamp of an entity is a hash of records with
// hidden values.
func (r *viewer) states(list []mirror.State) []mirror.State {
	return only(list, all, func(st mirror.State) mirror.State {
		if st.Thing == nil || r.Hide == nil {
			return st
		}
		left := *st.Thing
		left.Attributes = only(left.Attributes, func(a mirror.Attribute) bool { return !r.Hides(a.Name) }, asIs)
		left.Stamp = 0
		text, err := json.Marshal(left)
		if err != nil {
			panic(err) // numbers and texts only
		}
		sum := sha256.Sum256(text)
		left.Stamp = binary.BigEndian.Uint64(sum[:])
		st.Thing = &left
		return st
	})
}
