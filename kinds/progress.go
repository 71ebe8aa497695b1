// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"context"
	"fmt"
	"time"

	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// Progress reports the progress of a rules change or of a scan over all records.
type Progress struct {
	// reading, resolving, comparing; migrating; fencing, posting, dropping, resolving in an upgrade
	Step string `json:"step"`
	// Records is the number of records done, Of the approximate total.
	Records int `json:"records"`
	Of      int `json:"of,omitempty"`
	// Cells is the number of cells done, during a migration.
	Cells int `json:"cells,omitempty"`
	// PerSecond is the mean rate since the step began.
	PerSecond float64 `json:"per_second"`
	// Waits says why the work is paused.
	Waits string `json:"waits,omitempty"`
}

// String returns the progress in one line.
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

// counting reports progress at most twice a second.
type counting struct {
	Progress
	tell  func(Progress)
	begun time.Time
	from  int // records done when the step began
	told  time.Time
}

// progress starts reporting a step over the records of the installation.
func (h *Handle) progress(ctx context.Context, step string, tell func(Progress)) *counting {
	c := &counting{Progress: Progress{Step: step}, tell: tell, begun: time.Now()}
	for _, id := range h.engine.Map().Cells() {
		_ = h.engine.View(ctx, id, func(tx storage.Tx) error { // the total is for display only
			n, err := tx.Counts(ctx)
			c.Of += int(n.Records)
			return err
		})
	}
	return c
}

// enter begins a step of an upgrade; a migration has only one. The number of postings is not known.
func (c *counting) enter(step resolve.Step, records int) {
	switch c.Of = records; step {
	case resolve.StepFence:
		c.Step = "fencing"
	case resolve.StepPost:
		c.Step = "posting"
	case resolve.StepDrop:
		c.Step, c.Of = "dropping", 0
	case resolve.StepResolve:
		c.Step = "resolving"
	}
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
