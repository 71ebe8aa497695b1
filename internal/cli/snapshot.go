// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/term"
)

// snapshots are the sources that the files of an import contain in full, in the order of the files. Nil if the
// files are not snapshots.
//
//	list the source ─► put the files ─► compare ─► delete records in no file, unless they were written since
type snapshots struct {
	*app
	client   *client // nil if the data directory is missing
	flags    *ingesting
	all      []*bulk.Snapshot
	accepted map[*bulk.Snapshot]int64 // rows
	sources  map[*bulk.Plan]string
}

// snapshots lists the sources of the plans, before anything is put.
func (a *app) snapshots(ctx context.Context, cl *client, o *ingesting, plans []*bulk.Plan) (*snapshots, error) {
	if !o.snapshot {
		return nil, nil
	}
	s := &snapshots{app: a, client: cl, flags: o, accepted: map[*bulk.Snapshot]int64{}, sources: map[*bulk.Plan]string{}}
	for _, p := range plans {
		source, err := wholeSource(p)
		if err != nil {
			return nil, err
		}
		s.sources[p] = source
	}
	for _, p := range plans {
		if s.of(p) != nil {
			continue
		}
		snapshot := bulk.NewSnapshot(s.sources[p])
		s.all = append(s.all, snapshot)
		if cl == nil {
			continue
		}
		if err := cl.listStored(ctx, snapshot.Source, "", snapshot.Store); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// wholeSource returns the source that a file contains in full. For a file with a column of sources it is the
// source of its first rows, which must agree.
func wholeSource(p *bulk.Plan) (string, error) {
	source := p.Source
	if source != "" {
		return source, nil
	}
	for _, row := range p.Sample[:min(len(p.Sample), previewRows)] {
		switch {
		case source == "":
			source = row.Source
		case source != row.Source:
			return "", usage("one file for each source, or --source NAME if all rows are of one",
				"%.80q has rows of the sources %s and %s: a snapshot is the whole of one source", p.Name, source, row.Source)
		}
	}
	if source == "" {
		return "", usage("--source NAME",
			"%.80q has no row that names a source, so there is nothing that it could be the whole of", p.Name)
	}
	return source, nil
}

// of returns the snapshot that a file belongs to.
func (s *snapshots) of(p *bulk.Plan) *bulk.Snapshot {
	if s == nil {
		return nil
	}
	i := slices.IndexFunc(s.all, func(of *bulk.Snapshot) bool { return of.Source == s.sources[p] })
	if i < 0 {
		return nil
	}
	return s.all[i]
}

func (s *snapshots) close() {
	if s == nil {
		return
	}
	for _, snapshot := range s.all {
		_ = snapshot.Close() // temporary files
	}
}

// accept counts the rows of a file that were put.
func (s *snapshots) accept(im *importer) {
	if s != nil {
		s.accepted[im.snapshot] += im.state.Rows - im.state.Counts[refused]
	}
}

// note tells the snapshot of a row, or of a refused one.
func (im *importer) note(row *bulk.Row, refused *bulk.RowError) error {
	if row == nil {
		return im.snapshot.Refuse(refused.Source, refused.Key, im.where(refused.Line))
	}
	if refused != nil {
		return im.snapshot.Refuse(row.Source, row.Key, im.where(row.Line))
	}
	return im.snapshot.Accept(row.Source, row.Key, im.kind(row.Kind).Kind, im.where(row.Line))
}

func (im *importer) where(line int64) string {
	return fmt.Sprintf("%s %s %d", im.name, im.plan.Format.Unit(), line)
}

// finish deletes the missing records. It returns the failure of the import so far, failed, joined with its own. unread
// reports that a file was not read to its end: then it is uncertain whether any record is missing.
func (s *snapshots) finish(ctx context.Context, failed error, unread bool) error {
	if s == nil {
		return failed
	}
	if unread {
		s.say("nothing is deleted: the files were not read to their end")
		return failed
	}
	t := &term.Table{Header: []string{"source", "before", "new", "in both", "missing", "deleted", "kept"},
		Right: map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true}}
	var forbidden *failure
	for _, snapshot := range s.all {
		f, err := s.one(ctx, snapshot, t)
		if err != nil {
			return errors.Join(err, failed)
		}
		switch {
		case f == nil:
		case forbidden == nil:
			forbidden = f
		default:
			forbidden.Message += "; " + strings.TrimPrefix(f.Message, nothingDeleted)
		}
	}
	if !s.json {
		if err := s.printTable(t); err != nil {
			return err
		}
	}
	if forbidden == nil {
		return failed
	}
	return withRefusals(forbidden, failed)
}

const nothingDeleted = "nothing is deleted: "

// withRefusals adds the failure for refused rows to the failure of a snapshot. If all rows were refused, that one is
// reported.
func withRefusals(forbidden *failure, failed error) error {
	rows, ok := errors.AsType[*failure](failed)
	if !ok {
		return forbidden
	}
	rows.Message += "; " + forbidden.Message
	if rows.Exit == exitPartly {
		rows.Code, rows.Hint = forbidden.Code, rows.Hint+"; "+forbidden.Hint
	}
	return rows
}

// one compares one source and deletes the missing records, or returns why it does not.
func (s *snapshots) one(ctx context.Context, of *bulk.Snapshot, t *term.Table) (*failure, error) {
	if err := of.Compare(s.accepted[of], s.flags.maxDelete); err != nil {
		return nil, err
	}
	reason, why, hint := of.Forbids(s.flags.maxDelete)
	d := &deleting{app: s.app, client: s.client, source: of.Source, total: of.Missing}
	switch {
	case s.flags.dryRun:
		if err := s.would(of); err != nil {
			return nil, err
		}
	case reason == "":
		if err := d.run(ctx, of.All()); err != nil {
			return nil, err
		}
	}
	if d.pending > 0 {
		s.say("%s: deleted; records that only they connected are separated once the cells answer",
			counted(d.pending, "record is pending", "records are pending"))
	}
	if d.kept > 0 {
		s.say("%s: %s kept, written since the import began", of.Source, counted(d.kept, "record is", "records are"))
	}
	if s.json {
		if err := s.summary(of, d, reason); err != nil {
			return nil, err
		}
	} else {
		t.Add(of.Source, fmt.Sprint(of.Stored), fmt.Sprint(of.New), fmt.Sprint(of.Present), fmt.Sprint(of.Missing),
			fmt.Sprint(d.deleted), fmt.Sprint(d.kept))
	}
	if reason == "" {
		return nil, nil
	}
	message := nothingDeleted
	if s.flags.dryRun {
		message = "nothing would be deleted: "
	}
	return &failure{Code: string(reason), Exit: exitPartly, Message: message + why, Hint: hint}, nil
}

// would lists the missing records, in a dry run.
func (s *snapshots) would(of *bulk.Snapshot) error {
	for rec, err := range of.All() {
		switch {
		case err != nil:
		case s.json:
			err = s.printJSON(map[string]any{"type": "delete", "source": of.Source, "key": rec.Key, "kind": rec.Kind,
				"version": rec.Version})
		default:
			_, err = fmt.Fprintf(s.stdout, "missing\t%s\n", term.Escape(of.Source+":"+rec.Key))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *snapshots) summary(of *bulk.Snapshot, d *deleting, reason bulk.Reason) error {
	summary := map[string]any{
		"type": "snapshot", "source": of.Source, "before": of.Stored, "new": of.New, "in_both": of.Present,
		"missing":       of.Missing,
		"missing_kinds": of.MissingKinds, "max_delete": of.Limit, "deleted": d.deleted, "kept": d.kept, "gone": d.gone,
		"dry_run": s.flags.dryRun,
	}
	if reason != "" {
		summary["code"] = reason
	}
	if len(d.watermark) > 0 {
		summary["watermark"] = d.watermark
	}
	return s.printJSON(summary)
}
