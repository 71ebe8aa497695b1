// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
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

	reader   *bulk.Reader
	rejects  *bulk.Rejects
	progress *term.Progress
	keep     bool // whether the state is saved in a file
	start    time.Time
	skip     int64 // rows done by an earlier run

	mu    sync.Mutex // guards the state's rows and counts, written by commit and read by the progress line
	state bulk.State // of the committed rows
	// watermark covers the writes of this run.
	watermark changelog.Watermark
}

const (
	underWay = 4 // concurrent batches
	// batchSize is the number of bytes after which a request is sent. One more record, which JSON escapes may lengthen
	// sixfold, still fits into the server's limit of 1 MiB.
	batchSize = 600 << 10
)

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
		err = bulk.RemoveState(im.name)
	}
	return im.interrupted(ctx, err)
}

// sayEncoding says the encoding that the first line beyond ASCII showed, if that came after the sample.
func (im *importer) sayEncoding() {
	if is := im.reader.Encoding(); im.plan.Encoding == bulk.AutoEncoding && is == bulk.Windows1252 {
		im.progress.Print(fmt.Sprintf("%s: read as %s, judged by its first non-ASCII line; --encoding overrides it", term.Escape(im.name), is))
	}
}

// interrupted returns an error that says how to continue.
func (im *importer) interrupted(ctx context.Context, err error) error {
	f := interruption(ctx, err, im.name, im.state.Rows)
	if f == nil {
		return err
	}
	if f.Hint = "the same command continues from there"; !im.keep {
		f.Hint = "repeat the command: imported rows stay as they are"
	}
	return f
}

// interruption returns the failure that says how far a file was read before an interrupt, nil if there was none.
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
	if im.reader, err = im.plan.Open(); err != nil {
		return err
	}
	if im.flags.dryRun {
		return nil
	}
	im.state.Job = job(im.client, im.plan)
	if im.reader.Size >= 0 {
		im.keep = true
		if err := im.resume(ctx); err != nil {
			return errors.Join(err, im.reader.Close())
		}
	}
	if im.rejects, err = bulk.NewRejects(rejectName(im.name), im.state.Rejects); err != nil {
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
	if err != nil || old == nil || old.Key == "" {
		return err
	}
	_, err = im.client.get(ctx, httpapi.RecordPath(old.Source, old.Key), nil, nil)
	if _, ok := gone(err); ok {
		return nil
	}
	if err != nil {
		return err
	}
	if old.Counts == nil { // the file may contain null
		old.Counts = map[string]int64{}
	}
	if old.Causes == nil {
		old.Causes = bulk.Causes{}
	}
	im.state, im.skip = *old, old.Rows
	im.say("%s: an earlier import was interrupted; continuing after row %s", term.Escape(im.name), term.Count(old.Rows))
	return nil
}

// pump reads and sends while another goroutine commits.
func (im *importer) pump(ctx context.Context) error {
	// An interrupt stops reading; batches in flight are finished, so that every outcome is known.
	sending, abort := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abort(nil)
	queue := make(chan *batch, underWay-1)
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
	read := im.read(ctx, sending, queue)
	close(queue)
	if err := <-committed; err != nil {
		return err
	}
	return read
}

// read fills batches and sends them until the file or a context ends.
func (im *importer) read(ctx, sending context.Context, queue chan<- *batch) error {
	var flying []*batch
	b := newBatch()
	flush := func() error {
		if b.rows() == 0 {
			return nil
		}
		// Wait for an earlier batch with the same key.
		for _, earlier := range flying {
			if b.sharesKey(earlier) {
				<-earlier.done
			}
		}
		select {
		case queue <- b:
		case <-sending.Done():
			return context.Cause(sending)
		}
		if flying = append(flying, b); len(flying) > underWay {
			flying = flying[1:]
		}
		go b.send(sending, ctx, im.client)
		b = newBatch()
		return nil
	}
	for number := int64(0); im.flags.limit == 0 || number < int64(im.flags.limit); number++ {
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
		if number < im.skip {
			continue
		}
		if reject == nil {
			reject = im.check(row)
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

// check rejects locally what the server would reject, by the same code and the same kind. Whether a time is in the
// future is decided by the server's clock, if the row is sent.
func (im *importer) check(row *bulk.Row) *bulk.RowError {
	if !im.flags.dryRun {
		return im.checkAt(row, endOfTime)
	}
	return im.checkAt(row, im.now())
}

// checkAt is check at a time.
func (im *importer) checkAt(row *bulk.Row, now time.Time) *bulk.RowError {
	in := input(row)
	if kind := im.kind(row.Kind); kind == nil {
		return &bulk.RowError{Line: row.Line, Lines: row.Lines, Code: "invalid", Pointer: "/kind", Reason: fmt.Sprintf("there is no kind %.64q", row.Kind), Row: row.Flat()}
	} else if f := in.Check(kind, now); f != nil {
		return rowError(row, f)
	}
	return nil
}

func (im *importer) kind(name string) *match.Schema {
	for _, kind := range im.kinds {
		if name == "" || kind.Kind == name {
			return kind
		}
	}
	return nil
}

// endOfTime is later than every RFC 3339 time.
var endOfTime = time.Date(10000, time.January, 1, 0, 0, 0, 0, time.UTC)

// commit records the results of a batch, in file order.
func (im *importer) commit(b *batch) error {
	if b.err != nil {
		return b.err
	}
	lines := int64(0)
	for _, reject := range b.rejected() {
		lines += max(reject.Lines, 1)
		im.state.Causes.Add(rejectCause(reject), reject.Line)
		if err := im.reject(reject); err != nil {
			return err
		}
	}
	im.mu.Lock()
	im.state.Lines += lines
	im.state.Rows += int64(b.rows())
	for outcome, n := range b.outcomes() {
		im.state.Counts[outcome] += int64(n)
	}
	for i := range b.items {
		im.watermark = im.watermark.Union(b.items[i].result.Watermark)
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
			Code: "partly_refused", Exit: exitPartly, Message: fmt.Sprintf("stopped: %d rows were refused, more than --max-rejects %d", refusals, limit),
			Hint: "check whether the columns match the attributes; the reasons are in " + rejectName(im.name),
		}
	}
	return nil
}

func (im *importer) save(b *batch) error {
	im.state.Rejects = im.rejects.Size()
	if source, key, ok := b.lastAccepted(); ok {
		im.state.Source, im.state.Key = source, key
	}
	return im.state.Save(im.name)
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
		at := fmt.Sprintf("line %d", r.Line)
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

func progressJSON(r *bulk.Reader, name string, rows int64, rate float64, counts map[string]int64) string {
	text, _ := json.Marshal(map[string]any{
		"type": "progress", "file": name, "rows": rows, "rows_per_second": rate, "counts": counts, "bytes": r.Taken(), "bytes_total": r.Size,
	})
	return string(text)
}

// line returns the progress line.
func (im *importer) line() string {
	im.mu.Lock()
	defer im.mu.Unlock()
	elapsed := im.now().Sub(im.start)
	rate := float64(im.state.Rows-im.skip) / max(elapsed.Seconds(), 0.001)
	if im.json {
		return progressJSON(im.reader, im.name, im.state.Rows, rate, im.state.Counts)
	}
	var b strings.Builder
	b.WriteString(term.Short(float64(im.state.Rows)))
	left := ""
	taken := im.reader.Taken()
	if im.reader.Size > 0 && taken > 0 {
		share := min(float64(taken)/float64(im.reader.Size), 1)
		all := float64(im.state.Rows) / share
		fmt.Fprintf(&b, " / %s  %.0f %%", term.Short(all), 100*share)
		if rate > 0 {
			left = "   " + term.Left(time.Duration((all-float64(im.state.Rows))/rate*float64(time.Second))) + " left"
		}
	}
	fmt.Fprintf(&b, "   %s/s", term.Short(rate))
	for _, outcome := range outcomes {
		if n := im.state.Counts[outcome.name]; n > 0 {
			fmt.Fprintf(&b, "   %s %s", outcome.word, term.Short(float64(n)))
		}
	}
	if n := im.state.Counts[unresolved]; n > 0 {
		fmt.Fprintf(&b, "   %s %s", unresolved, term.Short(float64(n)))
	}
	return b.String() + left
}

// summary adds the file to the table, or prints it as JSON.
func (im *importer) summary(t *term.Table) error {
	seconds := im.now().Sub(im.start).Seconds()
	if im.state.Rows == 0 {
		im.say("%s has no rows", term.Escape(im.name))
	}
	if im.json {
		of := map[string]any{"type": "summary", "file": im.name, "rows": im.state.Rows, "counts": im.state.Counts, "seconds": seconds}
		if im.state.Lines > im.state.Counts[refused] {
			of["refused_lines"] = im.state.Lines
		}
		of["format"] = im.plan.Layout()
		if len(im.state.Causes) > 0 {
			of["causes"] = im.state.Causes
		}
		if len(im.watermark) > 0 {
			of["watermark"] = im.watermark
		}
		return im.printJSON(of)
	}
	cells := []string{im.name, fmt.Sprint(im.state.Rows)}
	for _, outcome := range outcomes {
		cells = append(cells, fmt.Sprint(im.state.Counts[outcome.name]))
	}
	t.Add(append(cells, fmt.Sprintf("%.1f", seconds), fmt.Sprint(im.state.Counts[unresolved]))...)
	return nil
}
