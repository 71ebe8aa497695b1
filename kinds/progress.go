// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"context"
	"fmt"
	"time"

	"github.com/locus-db/locus/resolve"
)

// Progress is how far a change of rules is, or what looks at all records.
type Progress struct {
	Step string `json:"step"` // reading, resolving, comparing; switching
	// Records are done, Of about how many there are.
	Records int `json:"records"`
	Of      int `json:"of,omitempty"`
	// Cells are through, of all of them: while switching.
	Cells int `json:"cells,omitempty"`
	// PerSecond is the mean since the step began.
	PerSecond float64 `json:"per_second"`
	// Waits says why nothing can be done for now.
	Waits string `json:"waits,omitempty"`
}

// String is the progress in a line.
func (p Progress) String() string {
	text := fmt.Sprintf("%s: %d records", p.Step, p.Records)
	if p.Of > 0 {
		text = fmt.Sprintf("%s: %d of %d records", p.Step, min(p.Records, p.Of), p.Of)
	}
	if p.PerSecond > 0 {
		text += fmt.Sprintf(", %.0f/s", p.PerSecond)
	}
	if p.Waits != "" {
		text += ", waits: " + p.Waits
	}
	return text
}

// counting tells how far something is, twice a second at most.
type counting struct {
	Progress
	tell  func(Progress)
	begun time.Time
	from  int // records that were done before that
	told  time.Time
}

// count begins to count the records of the installation.
func (h *Handle) progress(ctx context.Context, step string, tell func(Progress)) *counting {
	c := &counting{Progress: Progress{Step: step}, tell: tell, begun: time.Now()}
	for _, id := range h.engine.Map().Cells() {
		_ = h.engine.View(ctx, id, func(tx resolve.Tx) error { // how many there are is to look at only
			n, err := tx.Counts(ctx)
			c.Of += int(n.Records)
			return err
		})
	}
	return c
}

func (c *counting) add(n int) {
	c.Records += n
	now := time.Now()
	if c.tell == nil || now.Sub(c.told) < 500*time.Millisecond {
		return
	}
	c.told = now
	c.PerSecond = float64(c.Records-c.from) / max(now.Sub(c.begun).Seconds(), 1e-3)
	c.tell(c.Progress)
}
