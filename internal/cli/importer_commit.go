// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/term"
)

// commit records the results of a batch, in file order.
func (im *importer) commit(b *batch) error {
	if b.err != nil {
		return b.err
	}
	lines := int64(0)
	for _, reject := range b.rejected() {
		lines += max(reject.Lines, 1)
		of := im.state.Of(cmp.Or(reject.Source, im.plan.Source))
		im.state.Causes.Add(reject.Cause, reject.Line)
		of.Causes.Add(reject.Cause, reject.Line)
		of.Add(refused)
		if err := im.reject(reject); err != nil {
			return err
		}
	}
	im.mu.Lock()
	im.state.Lines += lines
	im.state.Rows += int64(b.rows())
	im.taken = b.taken
	for outcome, n := range b.outcomes() {
		if outcome == unresolved && im.client.loading != "" {
			continue
		}
		im.state.Counts[outcome] += int64(n)
	}
	for i := range b.items {
		r := &b.items[i].result
		im.watermark = im.watermark.Union(r.Watermark)
		if r.Error == nil {
			im.state.Of(b.items[i].row.Source).Add(string(r.Outcome))
		}
	}
	refusals := im.state.Counts[refused]
	im.mu.Unlock()
	if im.keep {
		if err := im.save(b); err != nil {
			return err
		}
	}
	if limit := im.flags.maxRejects; limit > 0 && refusals > int64(limit) {
		return &failure{
			Code: "partly_refused", Exit: exitPartly,
			Message: fmt.Sprintf("stopped: %d rows were refused, more than --max-rejects %d", refusals, limit),
			Hint:    "check whether the columns match the attributes; the reasons are in " + rejectName(im.plan.File()),
		}
	}
	return nil
}

func (im *importer) save(b *batch) error {
	im.state.Rejects = im.rejects.Size()
	if source, key, ok := b.lastAccepted(); ok {
		im.state.Source, im.state.Key = source, key
	}
	if im.plan.Database && b.position != nil {
		im.state.Position = b.position
	}
	return im.state.Save(im.plan.File())
}

// reject writes a rejected row to its file, or prints it in a dry run.
func (im *importer) reject(r bulk.Reject) error {
	if err := im.printReject(r); err != nil {
		return err
	}
	if im.flags.dryRun && !im.json {
		where := r.Pointer
		if where != "" {
			where += ": "
		}
		at := fmt.Sprintf("%s %d", im.reader.Format.Unit(), r.Line)
		if r.Lines > 1 {
			at = fmt.Sprintf("lines %d to %d", r.Line, r.Line+r.Lines-1)
		}
		im.progress.Print(fmt.Sprintf("%s %s: %s%s", term.Escape(im.name), at, term.Escape(where), term.Escape(r.Reason)))
	}
	if im.rejects == nil {
		return nil
	}
	return im.rejects.Write(r)
}

// printReject prints a rejected row as JSON, if --json is set.
func (a *app) printReject(r bulk.Reject) error {
	if !a.json {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("report a refused row: %w", err)
	}
	return a.printRaw(typed("reject", line))
}
