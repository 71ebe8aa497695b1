// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"fmt"
)

// Elsewhere keeps the groups of rollups that are stored outside the cell, where they cannot be written in the cell's
// transactions. Each group has its own watermark, at which it is correct. The log and the generation, with its
// watermark, stay in the cell. Package documents implements it.
type Elsewhere interface {
	// StoreID returns an ID of the database that is unique and changes when the database is emptied, so that groups
	// are not looked up in a database that never had them.
	StoreID() string
	// Fill writes groups of a generation that is being built. Groups of other builds of it are not changed.
	Fill(ctx context.Context, g *Generation, rows []Row) error
	// Advance brings every group that the changes touch to their end, also an empty or unchanged one, and returns the
	// net number of groups added. A group is written only if it is unchanged since it was read. done is false if
	// another process writes the groups: the next Step reads how far it got. After an error any of them may be written.
	Advance(ctx context.Context, g *Generation, c *CatchUp) (groups int64, done bool, err error)
	// Groups returns the groups with these keys, in the same order.
	Groups(ctx context.Context, g *Generation, keys [][]byte) ([]Moved, error)
	// Scan returns groups after a key (nil is the beginning) in key order until more than limit of them are not empty;
	// a limit of 0 is none. end is the last key read, nil if no more follow.
	Scan(ctx context.Context, g *Generation, after []byte, limit int) (groups []Moved, end []byte, err error)
	// Drop deletes all groups of a generation, whatever build wrote them.
	Drop(ctx context.Context, generation int64) error
}

// elsewhere returns where a generation keeps its groups, or ErrNoDocuments if this process has no access to it.
func (db Database) elsewhere(g *Generation) (Elsewhere, error) {
	switch {
	case db.Elsewhere == nil:
		return nil, fmt.Errorf("%w: groups of rollup %s: start the process with --mongodb", ErrNoDocuments, g.Definition.Name)
	case db.Elsewhere.StoreID() != g.StoreID:
		return nil, fmt.Errorf("%w: groups of rollup %s are in another MongoDB database than that of --mongodb: give that one, or rebuild the rollup",
			ErrNoDocuments, g.Definition.Name)
	}
	return db.Elsewhere, nil
}

// generations returns the generations of the cell. Groups elsewhere that contain changes of a history lost in a restore
// are unusable, so their generation is reported as Building.
func generations(ctx context.Context, tx Tx) ([]Generation, error) {
	all, err := tx.Generations(ctx)
	for i := range all {
		g := &all[i]
		if !g.Definition.external() || !g.readable() || g.Watermark == unbuilt {
			continue
		}
		history, err := tx.History(ctx)
		if err != nil {
			return nil, err
		}
		if g.History != history {
			g.State = Building
		}
	}
	return all, err
}

// pending limits how many changes groups elsewhere may be ahead of their generation's watermark. All followers and
// readers must use the same number; otherwise one could find a group ahead of its own target position. A
// variable so that tests can lower it.
var pending = 20_000
