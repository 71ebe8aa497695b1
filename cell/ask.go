// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"

	"github.com/locus-db/locus/internal/protocol"
)

// ask carries out a request for keys of one cell in one transaction. It returns the reply for each key, and the cell's
// head after the transaction. An error means that the cell could not be read, never that a key is absent.
func ask[T Store](ctx context.Context, db Database[T], r protocol.Request, keys []Key) ([]protocol.Reply, Head, error) {
	var replies []protocol.Reply
	var head Head
	fn := func(tx T) (err error) {
		replies, head, err = run(ctx, tx, r, keys)
		return err
	}
	var err error
	switch r.Do {
	case protocol.ActionSeal:
		err = db.Exclusive(ctx, fn)
	case protocol.ActionPut:
		err = db.Update(ctx, fn)
	default:
		err = db.View(ctx, fn)
	}
	switch {
	case err == nil:
		return replies, head, nil
	case errors.Is(err, ErrMoved):
		return fenced(len(keys)), head, nil
	}
	return nil, head, err
}

// run is the body of the transaction. In an update the head stays valid until the end. A view reads the rows first,
// because a database may read the head in the same round trip.
func run(ctx context.Context, tx Store, r protocol.Request, keys []Key) ([]protocol.Reply, Head, error) {
	var rows []int64
	var head Head
	var err error
	if views := r.Do != protocol.ActionPut && r.Do != protocol.ActionSeal; views {
		rows, err = tx.Lookup(ctx, keys)
	}
	if err == nil {
		head, err = tx.Head(ctx)
	}
	if err != nil {
		return nil, head, err
	}
	switch writes := r.Do == protocol.ActionPut; {
	case writes && !head.admits(r.Epoch), !writes && head.Home != Serving:
		return fenced(len(keys)), head, nil
	case writes:
		return put(ctx, tx, head, keys)
	case r.Do == protocol.ActionSeal:
		if sealed := head.Seal(r.Epoch); sealed != head {
			head, err = sealed, tx.SetHead(ctx, sealed)
		}
		if err == nil {
			rows, err = tx.Lookup(ctx, keys)
		}
	}
	if err != nil {
		return nil, head, err
	}
	replies := make([]protocol.Reply, len(rows))
	for i, row := range rows {
		replies[i] = protocol.Reply{Keys: protocol.State(head.Keys), Row: row}
	}
	return replies, head, err
}

func put(ctx context.Context, tx Store, head Head, keys []Key) ([]protocol.Reply, Head, error) {
	rows, err := tx.Allocate(ctx, keys)
	replies := make([]protocol.Reply, len(rows))
	for i, row := range rows {
		replies[i] = protocol.Reply{Keys: protocol.State(head.Keys), Row: row.PUID, Fresh: row.Fresh}
	}
	return replies, head, err
}

// fenced returns n replies of a cell that refuses.
func fenced(n int) []protocol.Reply {
	replies := make([]protocol.Reply, n)
	for i := range replies {
		replies[i].Fenced = true
	}
	return replies
}
