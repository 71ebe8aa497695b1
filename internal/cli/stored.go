// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/records"
)

// listStored passes the keys and versions of the records of a source to each; kind "" is all kinds. It returns an error
// unless the list is complete.
func (c *client) listStored(ctx context.Context, source, kind string, each func(bulk.Stored) error) error {
	query := url.Values{"format": {"jsonl"}, "source": {source}, "columns": {"key,kind,version"}}
	if kind != "" {
		query.Set("kind", kind)
	}
	response, err := c.send(ctx, c.patient(), question{method: http.MethodGet, path: "/v1/export/records", query: query})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		_, err := readAnswer(response)
		return err
	}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		var rec bulk.Stored
		if err := json.Unmarshal(lines.Bytes(), &rec); err != nil {
			return foreign(response, err)
		}
		if err := each(rec); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("list the records of %s: %w: %w", source, errCut, err)
	}
	return nil
}

// deleting deletes records of a source unless they were written since they were listed.
type deleting struct {
	*app
	client *client
	source string
	total  int64

	deleted, kept, gone int64 // kept were written since; gone were deleted since
	pending             int64
	watermark           changelog.Watermark
	progress            *term.Progress
}

// run deletes all, a batch at a time. It can be interrupted and repeated.
func (d *deleting) run(ctx context.Context, all iter.Seq2[bulk.Stored, error]) error {
	d.progress = term.NewProgress(d.stderr, d.talk.Terminal && !d.json, time.Now)
	defer d.progress.Close()
	var batch []httpapi.DeleteInput
	for rec, err := range all {
		if err != nil {
			return err
		}
		batch = append(batch, httpapi.DeleteInput{Source: d.source, Key: rec.Key, IfVersion: rec.Version})
		if len(batch) == records.MaxBatch {
			if err := d.send(ctx, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	if len(batch) == 0 {
		return nil
	}
	return d.send(ctx, batch)
}

// send deletes a batch until each item has a final result.
func (d *deleting) send(ctx context.Context, batch []httpapi.DeleteInput) error {
	if ctx.Err() != nil {
		return d.interrupted(ctx.Err())
	}
	var err error
	// An interrupt does not cut a request off, so that its outcome is known.
	stopped := persist(context.WithoutCancel(ctx), ctx, func() bool {
		batch, err = d.once(context.WithoutCancel(ctx), batch)
		return repeatable(err) || err == nil && len(batch) > 0
	})
	switch {
	case stopped != nil && errors.Is(stopped, context.Canceled):
		return d.interrupted(stopped)
	case stopped != nil || err != nil:
		return errors.Join(stopped, err)
	case len(batch) > 0:
		return &failure{
			Code: "unavailable", Exit: exitUnavailable, Hint: "repeat the command",
			Message: fmt.Sprintf("%d records of %s are not deleted: their cells have been unavailable for %v", len(batch),
				d.source, endurance),
		}
	}
	d.progress.Update(d.line)
	return nil
}

func (d *deleting) interrupted(err error) error {
	return &failure{
		Code: "interrupted", Exit: exitInterrupted, Err: err, Hint: "repeat the command",
		Message: fmt.Sprintf("interrupted: %s of %s records of %s are deleted", term.Count(d.deleted),
			term.Count(d.total), d.source),
	}
}

func (d *deleting) line() string {
	if d.json {
		text, _ := json.Marshal(map[string]any{"type": "progress", "source": d.source, "deleted": d.deleted,
			"total": d.total})
		return string(text)
	}
	return fmt.Sprintf("delete %s   %s / %s", d.source, term.Short(float64(d.deleted+d.kept+d.gone)),
		term.Short(float64(d.total)))
}

// once sends a batch once and returns the items to send again.
func (d *deleting) once(ctx context.Context, batch []httpapi.DeleteInput) (again []httpapi.DeleteInput, err error) {
	body, err := json.Marshal(httpapi.DeleteRequest{Records: batch})
	if err != nil {
		return nil, err
	}
	var answer httpapi.DeleteResponse
	if _, err := d.client.do(ctx, http.MethodPost, "/v1/records/delete", nil, body, &answer); err != nil {
		return batch, err
	}
	if len(answer.Results) != len(batch) {
		return batch, fmt.Errorf("delete %d records: the server answered for %d", len(batch), len(answer.Results))
	}
	return d.count(batch, answer.Results)
}

func (d *deleting) count(batch []httpapi.DeleteInput, results []httpapi.DeleteResult) (left []httpapi.DeleteInput, err error) {
	for i, r := range results {
		switch {
		case r.Error == nil:
			d.deleted++
			d.watermark = d.watermark.Union(r.Watermark)
			if r.Pending {
				d.pending++
			}
		case r.Error.Code == httpapi.CodeConflict:
			d.kept++
		case r.Error.Code == httpapi.CodeNotFound, r.Error.Code == httpapi.CodeErased:
			d.gone++
		case again[r.Error.Code]:
			left = append(left, batch[i])
		default:
			return nil, &failure{
				Code: string(r.Error.Code), Outcome: r.Error.Outcome, Exit: exitFailed,
				Message: fmt.Sprintf("delete record %s of %s: %s", batch[i].Key, d.source, r.Error.Detail),
			}
		}
	}
	return left, nil
}
