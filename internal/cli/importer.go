// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
)

// importer imports one file.
//
//	read ─► check ─► batch ─► send, some at once ─► commit in order ─► counts, refused rows, state
//
// Concurrent batches share no key, so several rows of one record arrive in file order. Commits are in file order too:
// the state never marks a row as durable before all earlier rows are.
type importer struct {
	*app

	client *client
	flags  *ingesting
	plan   *bulk.Plan
	kinds  []*match.Schema // the first is the default kind
	name   string
	now    func() time.Time
	// snapshot, if not nil, records every row, including rows that an earlier run has put.
	snapshot *bulk.Snapshot

	reader   *bulk.Reader
	rejects  *bulk.Rejects
	progress *term.Progress
	keep     bool // whether the state is saved in a file
	start    time.Time
	done     int64 // rows done by an earlier run
	skip     int64 // rows that have to be read again
	// shortened counts the entities of an export that have more values than fit into a record, and these values.
	shortened struct{ rows, values int64 }

	mu    sync.Mutex // guards the state's rows and counts and taken, written by commit and read by the progress line
	state bulk.State // of the committed rows
	taken int64      // bytes of the file up to the last committed row
	// watermark covers the writes of this run.
	watermark changelog.Watermark
}

// batchSize is the number of bytes after which a request is sent. One more record, which JSON escapes may lengthen
// sixfold, still fits into the server's limit of 1 MiB.
const batchSize = 600 << 10

func (im *importer) run(ctx context.Context) error {
	im.start, im.state.Counts, im.state.Causes = im.now(), map[string]int64{}, bulk.Causes{}
	im.progress = term.NewProgress(im.stderr, im.talk.Terminal && !im.json, im.now)
	if err := im.open(ctx); err != nil {
		return err
	}
	defer im.reader.Close()
	defer im.progress.Close()
	err := im.pump(ctx)
	im.sayEncoding()
	if im.rejects != nil {
		err = errors.Join(err, im.rejects.Close())
	}
	if err == nil && im.keep {
		err = im.finish()
	}
	im.report(ctx, err)
	return im.interrupted(ctx, err)
}

// interrupted returns an error that explains how to continue.
func (im *importer) interrupted(ctx context.Context, err error) error {
	f := interruption(ctx, err, im.name, im.state.Rows)
	if f == nil {
		return err
	}
	if f.Hint = "repeat the command to continue from there"; !im.keep || im.plan.Database && !im.plan.Positioned() {
		f.Hint = "repeat the command: imported rows stay as they are"
	}
	return f
}

// interruption returns the failure with the position in the file at an interrupt, nil if there was none.
func interruption(ctx context.Context, err error, name string, rows int64) *failure {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return nil
	}
	return &failure{
		Code: "interrupted", Exit: exitInterrupted, Err: err,
		Message: fmt.Sprintf("interrupted: %s of %q are done and durable", plural(int(rows), "row"), name),
	}
}

// open opens the file and checks whether to continue an earlier import.
func (im *importer) open(ctx context.Context) (err error) {
	if im.client != nil {
		im.state.Job = job(im.client, im.plan)
	}
	if im.plan.Database {
		err = im.openDatabase(ctx)
	} else {
		im.reader, err = im.plan.Open()
	}
	if err != nil || im.flags.dryRun {
		return err
	}
	if im.reader.Size >= 0 {
		im.keep = true
		if err := im.resume(ctx); err != nil {
			return errors.Join(err, im.reader.Close())
		}
		// so that the next import knows of this one, should it be killed before its first rows are durable
		if im.state.Rows == 0 {
			if err := im.state.Save(im.plan.File()); err != nil {
				return errors.Join(err, im.reader.Close())
			}
		}
	}
	if im.rejects, err = bulk.NewRejects(rejectName(im.plan.File()), im.state.Rejects); err != nil {
		return errors.Join(err, im.reader.Close())
	}
	return nil
}

// resume takes over the state of an unfinished import, if its last record still exists: the data may have been replaced
// since.
func (im *importer) resume(ctx context.Context) error {
	print, err := bulk.Fingerprint(im.name)
	if err != nil {
		return err
	}
	im.state.File = print
	old, err := bulk.LoadState(im.name, print, im.state.Job)
	if err != nil || old == nil {
		return err
	}
	if old.Rows == 0 {
		im.say("%s: an earlier import ended before it knew which rows are durable; all are read again, and those that are stored count as unchanged", term.Escape(im.name))
		return nil
	}
	if stored, err := im.stored(ctx, old); err != nil || !stored {
		return err
	}
	im.takeOver(old)
	im.skip = old.Rows
	return nil
}

// stored reports whether the last record of an unfinished import still exists.
func (im *importer) stored(ctx context.Context, old *bulk.State) (bool, error) {
	if old.Key == "" {
		return false, nil
	}
	_, err := im.client.get(ctx, httpapi.RecordPath(old.Source, old.Key), nil, nil)
	if _, ok := gone(err); ok {
		return false, nil
	}
	return err == nil, err
}

// takeOver continues with the state of an unfinished import.
func (im *importer) takeOver(old *bulk.State) {
	if old.Counts == nil { // the file may contain null
		old.Counts = map[string]int64{}
	}
	if old.Causes == nil {
		old.Causes = bulk.Causes{}
	}
	im.state, im.done = *old, old.Rows
	im.say("%s: an earlier import was interrupted; continuing after row %s", term.Escape(im.name), term.Count(old.Rows))
}

// pump reads and sends while another goroutine commits.
func (im *importer) pump(ctx context.Context) error {
	// An interrupt stops reading; batches in flight are finished, so that every outcome is known.
	sending, abort := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abort(nil)
	w := newWindow(im.flags.batch, im.client != nil && im.client.loading != "")
	queue := make(chan *batch, w.most-1)
	committed := make(chan error, 1)
	go func() {
		var first error
		for b := range queue {
			<-b.done
			if first == nil {
				if first = im.commit(b); first != nil {
					abort(first)
				}
			}
		}
		committed <- first
	}()
	read := im.read(ctx, sending, w, queue)
	close(queue)
	if err := <-committed; err != nil {
		return err
	}
	return read
}

// read fills batches and sends them until the file or a context ends.
func (im *importer) read(ctx, sending context.Context, w *window, queue chan<- *batch) error {
	b := newBatch()
	flush := func() error {
		if b.rows() == 0 {
			return nil
		}
		b.taken = im.reader.Taken()
		if err := w.enter(sending, b); err != nil {
			return err
		}
		select {
		case queue <- b:
		case <-sending.Done():
			return context.Cause(sending)
		}
		go w.send(b, sending, ctx, im.client)
		b = newBatch()
		return nil
	}
	for number := im.done - im.skip; im.flags.limit == 0 || number < int64(im.flags.limit); number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		row, err := im.reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var reject *bulk.RowError
		if err != nil && !errors.As(err, &reject) {
			// Rows before the fault are still sent.
			return errors.Join(flush(), err)
		}
		if number < im.skip && im.snapshot == nil {
			continue
		}
		if b.position = reject.At(); row != nil {
			b.position = row.Position
		}
		if reject == nil {
			if im.plan.Entities {
				im.shorten(row)
			}
			reject = im.check(row)
		}
		if im.snapshot != nil {
			if err := im.note(row, reject); err != nil {
				return err
			}
		}
		if number < im.skip {
			continue
		}
		if reject != nil {
			b.refuse(reject)
		} else if !im.flags.dryRun {
			b.add(row)
		} else {
			b.checked++
		}
		if b.rows() >= im.flags.batch || b.size >= batchSize {
			if err := flush(); err != nil {
				return err
			}
		}
		im.progress.Update(im.line)
	}
	return flush()
}
