// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus/entity"
)

// Store keeps the progress of a source in the installation that its records are written to, so that both are restored
// together. Loading and saving are atomic.
type Store interface {
	// Load returns the progress saved last, the zero value if there is none.
	Load(ctx context.Context) (Progress, error)
	// Save replaces the progress, removes dead letters and adds others, in one transaction, and sets p.Dead. The error
	// wraps lease.ErrLost, and nothing is saved, unless the lease of the source still has this token; it wraps ErrStop
	// if the source was paused, changed or dropped. again are the dead letters that a person wants to be tried again.
	Save(ctx context.Context, token int64, p *Progress, add []Letter, remove []At) (again []Letter, err error)
}

// Progress is the stored progress of a source.
type Progress struct {
	Position Position `json:"position"`
	// Returns is how often each cell was restored from a backup when reading began. After another one the source begins
	// again, because the cell may lack records from before the position.
	Returns map[string]int `json:"returns,omitempty"`
	// Messages counts the messages read since the source was created, Records the puts and Deleted the deletions among
	// them.
	Messages int64 `json:"messages"`
	Records  int64 `json:"records"`
	Deleted  int64 `json:"deleted"`
	// Dead is the number of dead letters. The Store sets it.
	Dead int `json:"dead"`
	// Lag is the number of messages that were waiting when the progress was saved.
	Lag   int64     `json:"lag"`
	Saved time.Time `json:"saved"`
}

// At is the place of a message in its stream.
type At struct {
	Partition int32 `json:"partition"`
	Offset    int64 `json:"offset,string"`
}

// String returns PARTITION:OFFSET.
func (a At) String() string { return fmt.Sprintf("%d:%d", a.Partition, a.Offset) }

// ParseAt parses PARTITION:OFFSET.
func ParseAt(text string) (a At, err error) {
	partition, offset, found := strings.Cut(text, ":")
	p, errP := strconv.ParseInt(partition, 10, 32)
	o, errO := strconv.ParseInt(offset, 10, 64)
	if !found || errP != nil || errO != nil || p < 0 || o < 0 {
		return a, fmt.Errorf("%.60q is not a position in the stream: want PARTITION:OFFSET, such as 0:4711", text)
	}
	return At{int32(p), o}, nil
}

// Letter is a dead letter: a message that cannot become a record. The message itself stays in the stream.
type Letter struct {
	At
	// Key is the beginning of the message's key, as text.
	Key    string    `json:"key,omitempty"`
	Reason string    `json:"reason"`
	Time   time.Time `json:"time"`
	// Again means that a person wants it to be tried again.
	Again bool `json:"again,omitempty"`
}

// MaxDead is the number of dead letters at which a source stops: that many are a wrong mapping, not damaged messages.
const MaxDead = 1000

// Op is the effect of a message: a record to put or to delete.
type Op struct {
	entity.Ref
	Kind       string
	Observed   time.Time
	Attributes entity.Attributes
	Delete     bool
}

// Target is the installation that records are written to.
type Target interface {
	// Apply writes operations, each on a different record, and returns once they are durable. refused has an entry for
	// each: nil, or the reason why it can never be written. After an error some may have been written; they can be
	// repeated.
	//
	// A put replaces a record that was observed at the same time, but not a newer one. A deletion keeps a newer record;
	// deleting a missing record does nothing.
	Apply(ctx context.Context, ops []Op) (refused []error, err error)
}
