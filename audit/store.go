// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"math"
	"time"
)

// Keep is how long a Store keeps rows at least.
const Keep = 400 * 24 * time.Hour

// Position is the place of a row in the order of time. Rows of several chains are read in this order.
type Position struct {
	At         int64 // milliseconds since 1970
	Chain, Seq int64
}

// End is the position after all rows.
var End = Position{At: math.MaxInt64, Chain: math.MaxInt64, Seq: math.MaxInt64}

// Row is an entry as it is stored.
type Row struct {
	Position
	// Body is the JSON of the entry.
	Body string
}

// Store appends to and reads the audit log in one transaction of the cell that is the authority of the cell map. It
// refuses to change or remove a row before it is as old as Keep.
type Store interface {
	// PutAudit adds rows. Adding an existing row again without changes is allowed.
	PutAudit(ctx context.Context, rows []Row) error
	// AuditAfter returns up to limit rows after a position, the oldest first.
	AuditAfter(ctx context.Context, after Position, limit int) ([]Row, error)
	// AuditBefore returns up to limit rows before a position, the newest first.
	AuditBefore(ctx context.Context, before Position, limit int) ([]Row, error)
	// DropAudit removes rows.
	DropAudit(ctx context.Context, rows []Position) error
}
