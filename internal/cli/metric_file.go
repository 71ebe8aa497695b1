// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

// hitFile counts the rows of one file batch by batch. The batches and their keys depend only on the file, so counting
// the same file again counts nothing twice.
type hitFile struct {
	*app

	client   *client
	name     string
	key      string
	reader   *bulk.Reader
	rejects  *bulk.Rejects
	progress *term.Progress
	start    time.Time

	rows   int64
	counts map[string]int64
	causes bulk.Causes
	// refusedLines is the number of lines of the rejected rows.
	refusedLines int64
	lines        []*bulk.Row // rows of the batch to send
	wrong        []bulk.Reject
	size         int
	body         []byte
	number       int // number of the batch
}

func (a *app) hitFiles(ctx context.Context, cl *client, o *hitting) error {
	t := &term.Table{Header: []string{"file", "rows", string(httpapi.Counted), replay, refused, "seconds"},
		Right: map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true}}
	var all tally
	failed := a.fileByFile(t, o.files, func(name string) error {
		h := &hitFile{app: a, client: cl, name: name, start: time.Now(), counts: map[string]int64{}, causes: bulk.Causes{}}
		failed := h.run(ctx, o)
		if h.reader == nil {
			return failed
		}
		all.add(name, h.reader.Format.Unit(), h.rows, h.counts[refused], h.refusedLines, h.causes)
		return errors.Join(failed, h.summary(t))
	})
	if failed == nil && all.refused > 0 {
		failed = all.failure(all.became("counted"), "correct and count the rows in "+strings.Join(rejectNames(o.files), ", "))
	}
	return failed
}

func (h *hitFile) run(ctx context.Context, o *hitting) (err error) {
	h.progress = term.NewProgress(h.stderr, h.talk.Terminal && !h.json, nil)
	defer h.progress.Close()
	reader, err := openHits(h.name, h.stdin, o.format)
	if err != nil {
		return columnsHint(err)
	}
	h.reader = reader
	defer reader.Close()
	switch {
	case o.key != "":
		h.key = o.key
	case reader.Size < 0: // cannot be read twice
		h.key = randomKey()
	default:
		if h.key, err = contentKey(h.name); err != nil {
			return err
		}
	}
	if h.rejects, err = bulk.NewRejects(rejectName(h.name), 0); err != nil {
		return err
	}
	err = h.pump(ctx)
	err = errors.Join(err, h.rejects.Close())
	f := interruption(ctx, err, h.name, h.rows)
	if f == nil {
		return err
	}
	f.Outcome = httpapi.Unknown
	if f.Hint = "repeat the command: rows counted before count once"; reader.Size < 0 && o.key == "" {
		f.Hint = "rows counted before would count again; --key NAME prevents that"
	}
	return f
}

// contentKey returns a key derived from the content of a file.
func contentKey(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("read the file: %w", err)
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", fmt.Errorf("read the file: %w", err)
	}
	return "file-" + hex.EncodeToString(hash.Sum(nil)[:16]), nil
}

// randomKey returns a unique key.
func randomKey() string { return "cli-" + rand.Text() }

// pump reads the file and sends batch after batch.
func (h *hitFile) pump(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		row, err := h.reader.Next()
		if errors.Is(err, io.EOF) {
			return h.flush(ctx)
		}
		wrong, bad := errors.AsType[*bulk.RowError](err)
		if err != nil && !bad {
			return errors.Join(h.flush(ctx), columnsHint(err))
		}
		if !bad {
			wrong = h.add(row)
		}
		if wrong != nil {
			h.wrong = append(h.wrong, wrong.Reject())
		}
		if len(h.lines)+len(h.wrong) >= counter.MaxBatch || h.size >= batchSize {
			if err := h.flush(ctx); err != nil {
				return err
			}
		}
		h.progress.Update(h.line)
	}
}

// flush sends the batch and records the results.
func (h *hitFile) flush(ctx context.Context) error {
	if len(h.lines) == 0 && len(h.wrong) == 0 {
		return nil
	}
	h.number++
	wrong := h.wrong
	if len(h.lines) > 0 {
		body := append(append([]byte(`{"hits":[`), h.body...), "]}"...)
		// An interrupt stops reading; the batch in flight is finished.
		answer, replayed, err := hit(context.WithoutCancel(ctx), ctx, h.client, h.key+"-"+strconv.Itoa(h.number), body,
			len(h.lines))
		if err != nil {
			return err
		}
		for i := range answer.Results {
			f := answer.Results[i].Error
			switch {
			case f == nil && replayed:
				h.counts[replay]++
			case f == nil:
				h.counts[string(httpapi.Counted)]++
			case again[f.Code]:
				return &failure{
					Code: "unavailable", Exit: exitUnavailable, Outcome: httpapi.Unknown,
					Hint:    "repeat the command: rows counted before count once",
					Message: fmt.Sprintf("some hits were refused because their cells are unavailable, for %v", endurance),
				}
			default:
				_, pointer, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "/hits/"), "/")
				e := wrongHit(h.lines[i], pointer, f.Detail)
				e.Code = string(f.Code)
				wrong = append(wrong, e.Reject())
			}
		}
	}
	slices.SortStableFunc(wrong, func(a, b bulk.Reject) int { return cmp.Compare(a.Line, b.Line) })
	for _, r := range wrong {
		h.refusedLines += max(r.Lines, 1)
		h.causes.Add(r.Cause, r.Line)
		if err := h.reject(r); err != nil {
			return err
		}
	}
	h.rows += int64(len(h.lines) + len(h.wrong))
	h.counts[refused] += int64(len(wrong))
	h.lines, h.wrong, h.body, h.size = h.lines[:0], nil, h.body[:0], 0
	return nil
}

func (h *hitFile) reject(r bulk.Reject) error {
	if err := h.printReject(r); err != nil {
		return err
	}
	return h.rejects.Write(r)
}

func (h *hitFile) line() string {
	rate := float64(h.rows) / max(time.Since(h.start).Seconds(), 0.001)
	if h.json {
		return progressJSON(h.name, h.reader.Taken(), h.reader.Size, h.rows, rate, h.counts)
	}
	var b strings.Builder
	b.WriteString(term.Short(float64(h.rows)))
	if h.reader.Size > 0 {
		fmt.Fprintf(&b, "   %.0f %%", 100*min(float64(h.reader.Taken())/float64(h.reader.Size), 1))
	}
	fmt.Fprintf(&b, "   %s/s", term.Short(rate))
	for _, outcome := range []string{string(httpapi.Counted), replay, refused} {
		if n := h.counts[outcome]; n > 0 {
			fmt.Fprintf(&b, "   %s %s", outcome, term.Short(float64(n)))
		}
	}
	return b.String()
}

// summary adds the file to the table, or prints it as JSON.
func (h *hitFile) summary(t *term.Table) error {
	seconds := time.Since(h.start).Seconds()
	if h.rows == 0 {
		h.say("%s has no rows", term.Escape(h.name))
	}
	if h.json {
		return h.printJSON(map[string]any{"type": "summary", "file": h.name, "rows": h.rows, "counts": h.counts,
			"seconds": seconds})
	}
	t.Add(h.name, fmt.Sprint(h.rows), fmt.Sprint(h.counts[string(httpapi.Counted)]), fmt.Sprint(h.counts[replay]),
		fmt.Sprint(h.counts[refused]), fmt.Sprintf("%.1f", seconds))
	return nil
}
