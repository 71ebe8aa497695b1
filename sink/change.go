// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
)

// Change is an entry of a cell's log, as a target receives it.
type Change struct {
	Cell cell.ID `json:"cell"`
	changelog.Change
}

// ChangeSink is a target of changes: an audit trail of all events, whereas a Sink has the current state.
type ChangeSink interface {
	// DeliverChanges delivers changes of one cell in order, and returns once the target has them durably. It is called
	// for several cells at once. delivered is how many of the first changes it has, also with an error, after which the
	// others are repeated. The target may already have some of these, so a consumer drops changes of a cell whose seq
	// is not higher than the highest it has. The error wraps ErrStop if the target will never accept the next one.
	DeliverChanges(ctx context.Context, changes []Change) (delivered int, err error)
	// Close releases the connections.
	Close() error
}
