// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"slices"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
)

// seenRollup returns why the principal may not read a rollup. A rollup over another kind does not exist for it, and one
// over a hidden attribute would show its values as groups and measures.
func (s *Server) seenRollup(c *call, name string) error {
	who := &access.From(c).Restriction
	if !who.Narrow() {
		return nil
	}
	list, err := s.svc.Rollups().Definitions(c, name)
	if err != nil {
		return err
	}
	for i := range list {
		if err := mayRead(who, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

func mayRead(who *access.Restriction, d *rollup.Definition) error {
	if !who.Sees(d.Kind) {
		return fmt.Errorf("rollup %.64q: %w", d.Name, rollup.ErrNotFound)
	}
	for _, name := range d.Attributes() {
		if who.Hides(name) {
			return fault(CodeForbidden, "", "the rollup %s is over %s, which the token may not see", d.Name, name)
		}
	}
	return nil
}

// seenRollups returns the rollups that the principal may read.
func (s *Server) seenRollups(c *call, all []rollups.Status) []rollups.Status {
	if !access.From(c).Restriction.Narrow() {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(of rollups.Status) bool {
		return mayRead(&access.From(c).Restriction, &of.Definition) != nil || s.seenRollup(c, of.Name) != nil
	})
}

// change loses the values of hidden attributes, which it has for the rollups over them.
func (r *viewer) change(c changelog.Change) changelog.Change {
	c.Was, c.Is = r.image(c.Was), r.image(c.Is)
	return c
}

func (r *viewer) image(im *changelog.Image) *changelog.Image {
	if im == nil || r.Hide == nil {
		return im
	}
	left := *im
	left.Attributes = r.values(im.Attributes)
	return &left
}

func (r *viewer) effects(list []rollups.CellEffect) []rollups.CellEffect {
	return only(list, all, func(e rollups.CellEffect) rollups.CellEffect {
		e.Change = r.change(e.Change)
		return e
	})
}
