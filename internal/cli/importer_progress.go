// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/term"
)

// sayEncoding says the encoding that the first line beyond ASCII showed, if that came after the sample.
func (im *importer) sayEncoding() {
	if is := im.reader.Encoding(); im.plan.Encoding == bulk.AutoEncoding && is == bulk.Windows1252 {
		im.progress.Print(fmt.Sprintf("%s: read as %s, judged by its first non-ASCII line; --encoding overrides it",
			term.Escape(im.name), is))
	}
}

// sayLeftOut prints how many rows of a file were left out because they have no value, and those of its footer.
func (a *app) sayLeftOut(name string, r *bulk.Reader) {
	if e := r.Empty(); e.Rows > 0 {
		a.say("%s: %s without any value left out, %s %d", term.Escape(name), counted(e.Rows, "row", "rows"),
			firstOf(e.Rows), e.Line)
	}
	a.sayFooter(a.stderr, name, r.Format, r.Footer())
}

// countLeftOut adds these rows to a summary, if there are any.
func countLeftOut(summary map[string]any, r *bulk.Reader) {
	if e := r.Empty(); e.Rows > 0 {
		summary["empty"] = e.Rows
	}
	if rows := r.Footer(); len(rows) > 0 {
		summary["footer"] = len(rows)
	}
}

// sayFooter prints the rows below the list of a file that are no records, if there are any.
func (a *app) sayFooter(w io.Writer, name string, f bulk.Format, rows []bulk.Label) {
	if len(rows) == 0 {
		return
	}
	at, texts := fmt.Sprintf("%s %d", f.Unit(), rows[0].Line), make([]string, len(rows))
	if n := len(rows); n > 1 {
		at = fmt.Sprintf("%ss %d to %d", f.Unit(), rows[0].Line, rows[n-1].Line)
	}
	for i, row := range rows {
		texts[i] = fmt.Sprintf("%.40q", row.Text)
	}
	fmt.Fprintf(w, "%s: %s below the list left out, %s: %s\n", term.Escape(name),
		counted(int64(len(rows)), "row", "rows"), at, term.Escape(strings.Join(texts, ", ")))
}

func firstOf(rows int64) string {
	if rows == 1 {
		return "line"
	}
	return "the first is line"
}

func progressJSON(name string, taken, size, rows int64, rate float64, counts map[string]int64) string {
	text, _ := json.Marshal(map[string]any{
		"type": "progress", "file": name, "rows": rows, "rows_per_second": rate, "counts": counts, "bytes": taken,
		"bytes_total": size,
	})
	return string(text)
}

// line returns the progress line.
func (im *importer) line() string {
	im.mu.Lock()
	defer im.mu.Unlock()
	elapsed := im.now().Sub(im.start)
	rate := float64(im.state.Rows-im.done) / max(elapsed.Seconds(), 0.001)
	if im.json {
		return progressJSON(im.name, im.taken, im.reader.Size, im.state.Rows, rate, im.state.Counts)
	}
	var b strings.Builder
	b.WriteString(term.Short(float64(im.state.Rows)))
	left := ""
	if im.reader.Size > 0 && im.taken > 0 {
		share := min(float64(im.taken)/float64(im.reader.Size), 1)
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
	im.sayLeftOut(im.name, im.reader)
	im.sayShortened()
	if im.json {
		of := map[string]any{"type": "summary", "file": im.name, "rows": im.state.Rows, "counts": im.state.Counts,
			"seconds": seconds}
		if im.state.Lines > im.state.Counts[refused] {
			of["refused_lines"] = im.state.Lines
		}
		of["format"] = im.plan.Layout()
		countLeftOut(of, im.reader)
		if s := im.shortened; s.rows > 0 {
			of["shortened"] = s.rows
		}
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
