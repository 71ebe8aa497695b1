// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"

	"github.com/locus-db/locus/changelog"
)

// Effect is a change's effect on a group: the dimension values under which it counted before and after; nil for
// none.
type Effect struct {
	changelog.Change
	Before []string `json:"counted,omitempty"`
	After  []string `json:"counts,omitempty"`
}

// Explain returns the changes up to before (0 is the end of the log) that touched a group, in order. It reads only the
// changes after from, a bounded number; more reports whether there are older ones, which a call with before set to from
// reads.
func Explain(ctx context.Context, tx Tx, d *Definition, group []string,
	before changelog.Seq) (effects []Effect, from changelog.Seq, more bool, err error) {
	bounds, err := tx.Bounds(ctx)
	if err != nil {
		return nil, 0, false, err
	}
	if before == 0 {
		before = bounds.Last
	}
	from = max(before-changelog.Seq(scanned), bounds.Trimmed)
	changes, err := tx.Changes(ctx, from, scanned)
	if err != nil {
		return nil, 0, false, err
	}
	key := groupKey(shortened(group))
	for _, c := range changes {
		if c.Seq > before || c.Kind.OfRecord() != (d.Over == Records) {
			continue
		}
		e := Effect{Change: c}
		into := func(list *[]string) func([]string, string) {
			return func(of []string, dimension string) {
				if groupKey(of) == key {
					*list = append(*list, dimension)
				}
			}
		}
		d.Expand(c.Was, into(&e.Before))
		d.Expand(c.Is, into(&e.After))
		if len(e.Before)+len(e.After) > 0 {
			effects = append(effects, e)
		}
	}
	return effects, from, from > bounds.Trimmed, nil
}
