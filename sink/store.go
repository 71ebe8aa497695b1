// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"time"

	"github.com/locus-db/locus/locality"
)

// Store keeps the progress of a sink in the installation. Loading and saving are atomic.
type Store interface {
	// Load returns the progress saved last, the zero value if there is none or if it was saved before the cell that
	// stores it was restored from a backup.
	Load(ctx context.Context) (Progress, error)
	// Save replaces the progress. The error wraps lease.ErrLost, and nothing is saved, unless the lease of the sink
	// still has this token and this process's name. asked are the requests made since the last call, each returned
	// once.
	Save(ctx context.Context, token int64, p Progress) (asked []Request, err error)
}

// Progress is the stored progress of a sink.
type Progress struct {
	// Position is how far the sink is; the target's own, if it stores one, takes precedence.
	Position Position `json:"position"`
	// Dead are the dead letters, in the order of their IDs, at most one for each.
	Dead []Letter `json:"dead,omitempty"`
	// Delivered is the number of events accepted since the sink was created, Failed the number of failed attempts.
	Delivered int64 `json:"delivered"`
	Failed    int64 `json:"failed"`
	// Trouble is why the last attempt failed, "" if it did not.
	Trouble string    `json:"trouble,omitempty"`
	Saved   time.Time `json:"saved"`
	// Era increases when the cell that stores the progress and the lease is restored from a backup or moved, so that
	// tokens that were lost are not used again. Load sets it; it is not stored.
	Era int64 `json:"-"`
}

// Letter is a dead letter: an event that the target rejected. A later event of the ID that is accepted removes it.
type Letter struct {
	ID     locality.ID `json:"id"`
	Rev    int64       `json:"rev,string"`
	Op     Op          `json:"op"`
	Reason string      `json:"reason"`
	Time   time.Time   `json:"time"`
}

// Request asks for an action on dead letters, or for an ID to be delivered again.
type Request struct {
	// ID selects a letter, the zero ID all letters.
	ID locality.ID `json:"id,omitzero"`
	// Drop removes letters; otherwise the state of the ID is read and delivered again.
	Drop bool `json:"drop,omitempty"`
	// Resend delivers the ID again, whether or not there is a letter.
	Resend bool `json:"resend,omitempty"`
}

// maxDead is the number of dead letters at which a sink is paused.
const maxDead = 10_000

// Apply carries out a request on stored progress: a letter to be retried becomes an ID to be read again.
func (p *Progress) Apply(r Request) {
	left := p.Dead[:0:0]
	for _, l := range p.Dead {
		switch {
		case !r.ID.IsZero() && l.ID != r.ID:
			left = append(left, l)
		case !r.Drop:
			p.Position.Again = append(p.Position.Again, l.ID)
		}
	}
	p.Dead = left
	if r.Resend {
		p.Position.Again = append(p.Position.Again, r.ID)
	}
	p.Position.Again = sorted(p.Position.Again)
}
