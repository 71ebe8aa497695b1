// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
)

// matching holds the flags of match.
type matching struct {
	reading
	output     string
	top, limit int
	least      float64
	fuzzy      bool
}

func (a *app) matchCommand() *cobra.Command {
	var o matching
	c := &cobra.Command{
		Use:   "match FILE",
		Short: "Show for each row of a file which entities it matches and what a put would do, without storing it",
		Long: "Writes a line per row and entity: CSV, or JSON lines with --json or if the output's name ends in .jsonl. A row\n" +
			"without a match has one line. The file is recognised as by locus ingest, without a question; unknown columns are not\n" +
			"compared. It needs no source and key; with both, the line shows what an update of that record would do. Rows are matched\n" +
			"with stored entities, not with each other.",
		Example: "  locus match customers.csv -o matches.csv\n" +
			"  locus match --url http://127.0.0.1:7070 --set phones=tel --json new.jsonl",
		Args: arguments("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(args[0]); err != nil {
				return err
			}
			return a.connected(func(c *cobra.Command, cl *client, args []string) error {
				kinds, err := cl.kinds(c.Context(), o.kind)
				if err != nil {
					return err
				}
				o.options.Likely = cl.held(c.Context(), kinds)
				return a.match(c.Context(), cl, kinds, &o, args[0])
			})(c, args)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.output, "output", "o", "", "file to write, .csv or .jsonl; - is standard output, the default")
	f.StringVar(&o.source, "source", "", "source of all rows; by default the column source, if there is one")
	o.reading.flags(f)
	f.IntVar(&o.top, "top", 5, "entities per row, 1 to 100")
	f.Float64Var(&o.least, "min-match-weight", 0,
		"lowest match weight of a listed entity; below 0 also lists different things")
	f.BoolVar(&o.fuzzy, "fuzzy", false, "also compare entities whose name differs by typing errors only")
	f.IntVar(&o.limit, "limit", 0, "stop after this many rows; 0 means all")
	return a.connection(c)
}

// held returns the kinds that have entities, nil if there is only one kind. A file that could be of several kinds is
// matched with these, because it cannot match anything of the others. If a kind cannot be read, the match itself
// reports the reason.
func (c *client) held(ctx context.Context, kinds []*match.Schema) (names []string) {
	if len(kinds) < 2 {
		return nil
	}
	for _, kind := range kinds {
		var page httpapi.EntityList
		if _, err := c.get(ctx, "/v1/entities", url.Values{"kind": {kind.Kind}, "limit": {"1"}}, &page); err == nil && len(page.Entities) > 0 {
			names = append(names, kind.Kind)
		}
	}
	return names
}

func (o *matching) check(file string) error {
	if isStdout(o.output) {
		o.output = ""
	}
	switch ext := strings.ToLower(filepath.Ext(o.output)); {
	case o.output != "" && !slices.Contains([]string{".csv", ".jsonl", ".ndjson"}, ext):
		return usage("-o matches.csv, -o matches.jsonl", "-o %.80q: want a name that ends in .csv or .jsonl", o.output)
	case o.top < 1 || o.top > entities.MaxTop:
		return usage("--top 5", "--top %d: want 1 to %d", o.top, entities.MaxTop)
	case o.limit < 0:
		return usage("", "--limit cannot be below 0")
	case o.least < -100 || o.least > 100:
		return usage("--min-match-weight 0", "--min-match-weight %g: want -100 to 100 bits", o.least)
	}
	if err := checkOutputs([]string{o.output}, []string{file}); err != nil {
		return err
	}
	o.unstored = true
	return o.reading.check([]string{file})
}

// matcher matches the rows of a file batch by batch.
type matcher struct {
	*app

	client   *client
	flags    *matching
	reader   *bulk.Reader
	out      matchWriter
	progress *term.Progress
	rows     []probed
	size     int // bytes of the rows to send
	counts   map[string]int64
	total    int64
	refused  int64
	why      *bulk.RowError // of the first refused row
}

// probed is a row to match: refused locally, or sent.
type probed struct {
	row     *bulk.Row
	refused *bulk.RowError
	text    []byte // JSON of the probe
}

// matchBatch is the number of rows of one request.
const matchBatch = 500

// matchBody is the maximum size of the probes of one request, less than the limit of a body.
const matchBody = 900 << 10

func (a *app) match(ctx context.Context, cl *client, kinds []*match.Schema, o *matching, file string) (err error) {
	plans, err := a.recognised([]string{file}, kinds, &o.reading)
	if err != nil {
		return err
	}
	defer closePlans(plans) //nolint:errcheck // a stream that was not read
	if err := a.compared(plans, nil); err != nil {
		return err
	}
	m := &matcher{app: a, client: cl, flags: o, counts: map[string]int64{}}
	if m.reader, err = plans[0].Open(); err != nil {
		return err
	}
	defer m.reader.Close()
	if m.out, err = a.openMatches(o); err != nil {
		return err
	}
	m.progress = term.NewProgress(a.stderr, a.talk.Terminal && !a.json, nil)
	err = m.run(ctx)
	m.progress.Close()
	if err != nil {
		return errors.Join(err, m.out.close(false))
	}
	if err := m.out.close(true); err != nil {
		return err
	}
	if err := m.summary(); err != nil {
		return err
	}
	if m.refused == 0 {
		return nil
	}
	return &failure{
		Code: "partly_refused", Exit: exitPartly, Hint: "lines with the outcome refused give the reason",
		Message: fmt.Sprintf("%s of %s refused, the first at %s %d: %s", term.Count(m.refused),
			counted(m.total, "row", "rows"), m.reader.Format.Unit(), m.why.Line, m.why.Reason),
	}
}

func (m *matcher) run(ctx context.Context) error {
	for m.flags.limit == 0 || m.total < int64(m.flags.limit) {
		row, err := m.reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		p := probed{row: row}
		if err != nil {
			if !errors.As(err, &p.refused) {
				return err
			}
		} else if p.text, err = json.Marshal(probeOf(row)); err != nil {
			return fmt.Errorf("write the probe of line %d: %w", row.Line, err)
		}
		if len(m.rows) == matchBatch || m.size+len(p.text) > matchBody {
			if err := m.flush(ctx); err != nil {
				return err
			}
		}
		m.rows, m.size = append(m.rows, p), m.size+len(p.text)+1
		m.total++
	}
	return m.flush(ctx)
}

// probeOf returns a row as the API takes it. A key without a source only names the row in the output.
func probeOf(row *bulk.Row) httpapi.ProbeInput {
	p := httpapi.ProbeInput{Source: row.Source, Key: row.Key, Kind: row.Kind, ObservedAt: row.Observed,
		Attributes: row.Attributes}
	if p.Source == "" {
		p.Key = ""
	}
	return p
}

// flush sends the rows and writes their results in the order of the file.
func (m *matcher) flush(ctx context.Context) error {
	var sent []*probed
	body := fmt.Appendf(nil, `{"put":true,"fuzzy":%t,"top":%d,"min_match_weight":%g,"probes":[`, m.flags.fuzzy,
		m.flags.top, m.flags.least)
	for i := range m.rows {
		if p := &m.rows[i]; p.refused == nil {
			if len(sent) > 0 {
				body = append(body, ',')
			}
			sent, body = append(sent, p), append(body, p.text...)
		}
	}
	var answer httpapi.MatchResponse
	if len(sent) > 0 {
		var err error
		body = append(body, "]}"...)
		if stopped := persist(ctx, ctx, func() bool {
			answer = httpapi.MatchResponse{}
			_, err = m.client.do(ctx, http.MethodPost, "/v1/match", nil, body, &answer)
			return repeatable(err)
		}); stopped != nil {
			return &failure{Code: "interrupted", Exit: exitInterrupted, Err: stopped, Message: "interrupted; nothing was stored"}
		}
		if err != nil {
			return err
		}
		if len(answer.Results) != len(sent) {
			return fmt.Errorf("match %d rows: the server answered for %d", len(sent), len(answer.Results))
		}
	}
	for i := range m.rows {
		p := &m.rows[i]
		var result *httpapi.MatchResult
		if p.refused == nil {
			result, answer.Results = &answer.Results[0], answer.Results[1:]
			if result.Error != nil {
				p.refused = result.Error.OfRow(p.row)
			}
		}
		if err := m.write(p, result); err != nil {
			return err
		}
	}
	m.rows, m.size = m.rows[:0], 0
	m.progress.Update(func() string { return counted(m.total, "row", "rows") + " compared" })
	return nil
}

// matchOutcomes are the outcomes in display order.
var matchOutcomes = []string{"created", "matched", "updated", "unchanged", "stale", "incomplete", refused}

func (m *matcher) summary() error {
	m.sayLeftOut(m.reader.Name, m.reader)
	if m.json {
		of := map[string]any{"rows": m.total, "counts": m.counts}
		countLeftOut(of, m.reader)
		var b bytes.Buffer
		if err := json.NewEncoder(&b).Encode(of); err != nil {
			return fmt.Errorf("write the summary: %w", err)
		}
		return m.printRaw(typed("summary", b.Bytes()))
	}
	var parts []string
	for _, outcome := range matchOutcomes {
		if n := m.counts[outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", term.Count(n), outcome))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing to match"}
	}
	m.say("%s: %s; nothing was stored", counted(m.total, "row", "rows"), strings.Join(parts, ", "))
	return nil
}
