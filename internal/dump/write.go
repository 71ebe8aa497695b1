// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/internal/snapshot"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/sinks"
	"github.com/locus-db/locus/sources"
	"github.com/locus-db/locus/storage"
)

// ErrDocuments means that the counters of the installation are in a document database, which is not dumped.
var ErrDocuments = problem.Class(problem.ErrConflict,
	"dump: counters in MongoDB cannot be dumped: back that database up instead, with the cells")

// Dump is an installation that was read and is not written yet. Close it.
type Dump struct {
	// Watermark is the end of each cell's log in its snapshot.
	Watermark changelog.Watermark
	// End has the totals.
	End End

	header   Header
	sections []*section
}

// Close removes temporary files.
func (d *Dump) Close() {
	for _, s := range d.sections {
		s.remove()
	}
}

// The sections of a file, in their order.
const (
	sectionRules = iota
	sectionRollups
	sectionSinks
	sectionSources
	sectionImports
	sectionDecisions
	sectionRecords
	sectionDeleted
	sectionBirths
	sectionMetrics
	sectionBuckets
	sectionBatches
	sectionHorizon
	sectionCount
)

// Take reads an installation, while it is written to. Each cell is read in one snapshot; all are opened at one time.
// The lines go to temporary files.
func Take(ctx context.Context, e *engine.Engine) (*Dump, error) {
	if e.Documents != nil {
		return nil, ErrDocuments
	}
	d := &Dump{}
	t := &taking{Dump: d, engine: e, deleted: map[entity.PUID]*deletedLine{}}
	err := t.take(ctx)
	if err != nil {
		d.Close()
		return nil, fmt.Errorf("dump: %w", err)
	}
	return d, nil
}

// taking is a Dump while it is read.
type taking struct {
	*Dump
	engine *engine.Engine
	hash   entitiesHash

	mu        sync.Mutex
	deleted   map[entity.PUID]*deletedLine // without their keys
	horizon   int64
	migrating string
}

func (t *taking) take(ctx context.Context) error {
	for range sectionCount {
		s, err := newSection()
		if err != nil {
			return err
		}
		t.sections = append(t.sections, s)
	}
	if err := t.streams(ctx); err != nil {
		return err
	}
	opened, err := snapshot.Read(ctx, t.engine, snapshot.Reading{Scan: t.scan})
	if err != nil {
		return err
	}
	t.Watermark = opened.Watermark
	if err := t.findKeys(ctx); err != nil {
		return err
	}
	if err := t.one(sectionHorizon, horizonLine{typeHorizon, t.horizon}); err != nil {
		return err
	}
	spec := t.engine.Map().Spec()
	t.header = Header{
		Type: typeHeader, Format: Format, Matcher: t.engine.Resolver.Rules().Matcher, Map: spec.ID,
		Cells: len(t.engine.Map().Cells()),
		Salt:  spec.Salt[:], At: t.engine.Now().UTC(), Watermark: t.Watermark.String(),
	}
	t.End = End{
		Type: typeEnd, Entities: t.hash.n, Hash: t.hash.String(), Totals: Totals{
			Records: t.sections[sectionRecords].n, Deleted: t.sections[sectionDeleted].n, Births: t.sections[sectionBirths].n,
			Decisions: t.sections[sectionDecisions].n, Rollups: t.sections[sectionRollups].n, Sinks: t.sections[sectionSinks].n,
			Sources: t.sections[sectionSources].n, Imports: t.sections[sectionImports].n, Metrics: t.sections[sectionMetrics].n,
			Buckets: t.sections[sectionBuckets].n, Batches: t.sections[sectionBatches].n,
		},
	}
	switch {
	case opened.Waiting > 0:
		t.End.Unsettled = fmt.Sprintf("%d records were being resolved", opened.Waiting)
	case t.migrating != "":
		t.End.Unsettled = t.migrating
	}
	if t.End.Unsettled != "" {
		t.End.Hash = ""
	}
	return nil
}

// one adds a single line to a section.
func (t *taking) one(to int, line any) error {
	var l lines
	if err := l.put(line); err != nil {
		return err
	}
	return t.sections[to].add(&l)
}

// streams reads the sinks, the streams of sources and the last imports. It does so before the snapshots, so that the
// snapshots contain everything up to the positions.
func (t *taking) streams(ctx context.Context) error {
	var out []sinks.Dumped
	var in []sources.Dumped
	var imports map[string]sources.Import
	if err := t.engine.View(ctx, t.engine.Map().Authority(), func(tx storage.Tx) (err error) {
		if out, err = sinks.Dump(ctx, tx); err == nil {
			in, imports, err = sources.Dump(ctx, tx)
		}
		return err
	}); err != nil {
		return err
	}
	for _, s := range out {
		if err := t.one(sectionSinks, sinkLine{typeSink, s}); err != nil {
			return err
		}
	}
	for _, s := range in {
		if err := t.one(sectionSources, sourceLine{typeSource, s}); err != nil {
			return err
		}
	}
	for _, source := range slices.Sorted(maps.Keys(imports)) {
		if err := t.one(sectionImports, importLine{typeImport, source, imports[source]}); err != nil {
			return err
		}
	}
	return nil
}

// scan reads a cell.
func (t *taking) scan(ctx context.Context, id cell.ID, tx storage.Tx) error {
	if id == t.engine.Map().Authority() {
		if err := t.rules(ctx, tx); err != nil {
			return err
		}
	}
	for _, part := range []func(context.Context, storage.Tx) error{t.decisions, t.records, t.births, t.hash.addCell, t.counters} {
		if err := part(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// rules reads the definitions of the installation.
func (t *taking) rules(ctx context.Context, tx storage.Tx) error {
	rules, terms, migrating, err := resolve.ReadStored(ctx, tx)
	if err != nil {
		return err
	}
	t.migrating = migrating
	if err := t.one(sectionRules, rulesLine{typeRules, rules}); err != nil {
		return err
	}
	for _, s := range terms {
		if err := t.one(sectionRules, termsLine{typeTerms, s.Hash, s.Body}); err != nil {
			return err
		}
	}
	catalog, err := tx.Rollups(ctx)
	if err != nil {
		return err
	}
	for _, r := range catalog {
		newest := r.Newest()
		if newest == nil {
			continue // dropped
		}
		if err := t.one(sectionRollups, rollupLine{typeRollup, newest.Definition}); err != nil {
			return err
		}
	}
	return nil
}

// findKeys looks in the directories for the keys of deleted records, which have no other trace of them. A key keeps its
// puid, so no snapshot is needed; older generations come first, because keys are only copied into newer ones.
func (t *taking) findKeys(ctx context.Context) error {
	left := len(t.deleted)
	for _, id := range slices.SortedFunc(slices.Values(t.engine.Map().Cells()), cell.ID.Compare) {
		for after := (*cell.Key)(nil); left > 0; {
			var rows []cell.Row
			if err := t.engine.View(ctx, id, func(tx storage.Tx) (err error) {
				rows, err = tx.Scan(ctx, after, page)
				return err
			}); err != nil {
				return fmt.Errorf("read the keys of cell %v: %w", id, err)
			}
			for _, row := range rows {
				if line := t.deleted[entity.PUID(row.PUID)]; line != nil && line.Key == nil {
					line.Key = keyBytes(row.Key)
					left--
				}
			}
			if len(rows) < page {
				break
			}
			after = &rows[len(rows)-1].Key
		}
	}
	var l lines
	for _, puid := range slices.Sorted(maps.Keys(t.deleted)) {
		line := t.deleted[puid]
		if line.Key == nil {
			return fmt.Errorf("deleted record %v has no key: locus check --repair reports what else is damaged", puid)
		}
		if err := l.put(line); err != nil {
			return err
		}
		if l.n == page {
			if err := t.sections[sectionDeleted].add(&l); err != nil {
				return err
			}
		}
	}
	return t.sections[sectionDeleted].add(&l)
}

// WriteTo writes the file: a frame of zstd for the header, for each section and for the end. It may be called once.
func (d *Dump) WriteTo(w io.Writer) (n int64, err error) {
	out := &counted{w: w}
	if err := writeLine(out, d.header); err != nil {
		return out.n, err
	}
	for _, s := range d.sections {
		if err := s.copyTo(out); err != nil {
			return out.n, err
		}
	}
	return out.n, writeLine(out, d.End)
}

// counted counts the bytes written.
type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
