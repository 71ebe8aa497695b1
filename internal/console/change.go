// SPDX-License-Identifier: Apache-2.0

package console

import (
	"slices"
	"strconv"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
)

// change is a change that affected a group, as a row.
type change struct {
	Key          string // identifies the change
	Time         stamp
	Cell, Seq    string
	Kind         string
	Entity, Name string
	Verb         string
	// From and To are the dimension values under which the thing counted before and after; nil means that it did not
	// count, or that there is no dimension.
	From, To *under
}

// under is a dimension value, "" for things without one.
type under struct{ Value string }

func newEffect(d *rollup.Definition, of *rollups.CellEffect) change {
	e := change{
		Time: stamp(of.Time), Cell: of.Cell.String(), Seq: strconv.FormatInt(int64(of.Seq), 10), Kind: string(of.Kind),
		Entity: of.Entity.String(),
	}
	e.Key = e.Cell + ":" + e.Seq
	for _, im := range []*changelog.Image{of.Is, of.Was} {
		if e.Name == "" && im != nil {
			if names := im.Attributes["name"]; len(names) > 0 {
				e.Name = names[0]
			}
		}
	}
	if e.Name == "" {
		e.Name = e.Entity
	}
	from, to := first(of.Before), first(of.After)
	switch {
	case from == nil:
		e.Verb, e.To = "added", to
	case to == nil:
		e.Verb, e.From = "removed", from
	case slices.Equal(of.Before, of.After):
		e.Verb, e.To = "changed", to
	default:
		e.Verb, e.From, e.To = "moved", from, to
	}
	if d.Dimension == "" {
		e.From, e.To = nil, nil
	}
	return e
}

func first(values []string) *under {
	if len(values) == 0 {
		return nil
	}
	return &under{values[0]}
}
