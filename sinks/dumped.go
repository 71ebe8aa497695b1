// SPDX-License-Identifier: Apache-2.0

package sinks

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/storage"
)

// Dumped is a sink in a dump. Its position is not: it names logs that a dump has none of.
type Dumped struct {
	Definition
	// Token is the highest that the sink had: no event has a rev of a higher one.
	Token int64 `json:"token,string"`
}

// restoredReason is why a restored sink is paused.
const restoredReason = "restored from a dump, and the former installation may still deliver: locus sink adopt takes the target over"

// Dump reads the sinks from the authority, for a dump.
func Dump(ctx context.Context, tx storage.Tx) ([]Dumped, error) {
	c, err := rows.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	head, err := tx.Head(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Dumped, len(c.All))
	for i, d := range c.All {
		l, err := tx.Lease(ctx, sink.LeaseName(d.Name))
		if err != nil {
			return nil, err
		}
		all[i] = Dumped{d, sink.Token(d.Above, int64(head.Incarnation), l.Token)}
	}
	return all, nil
}

// Restore stores the sinks of a dump in the authority of a new installation, paused, so that a copy delivers nothing of
// its own accord. Their revs are above all revs that the former installation used up to the dump, and will use for long
// after it unless it is restored from a backup.
func Restore(ctx context.Context, tx storage.Tx, all []Dumped) error {
	c, err := rows.Read(ctx, tx)
	if err != nil {
		return err
	}
	if len(c.All) > 0 {
		return fmt.Errorf("there are sinks already")
	}
	for _, s := range all {
		c.Revision++
		d := s.Definition
		d.Adopt, d.Above, d.Revision = "", sink.Token(s.Token, 1, 0), c.Revision
		if !d.Paused || d.Reason != "" {
			d.Paused, d.Reason = true, restoredReason
		}
		c.Add(d)
	}
	return rows.Put(ctx, tx, c)
}
