// SPDX-License-Identifier: Apache-2.0

package dedupe

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
)

// Refusal is a row that is no record.
type Refusal struct {
	Row int // its place in the input
	*bulk.RowError
}

// Input is a file that is being read.
type Input struct {
	*bulk.Reader
	Source string // of its records
	Kind   string
	// See, if set, is called with each row as the file has it, and Count with its number in the file, from 1.
	See    func([]bulk.Field)
	Count  func(row int64)
	taken  map[string]bool // keys of its rows
	number int64
}

// record returns the record of a row. Its key is that of the row, or "row N" if it has none, or another row has it
// already: both are rows of the input.
func (in *Input) record(r *bulk.Row) records.Input {
	key := r.Key
	if key == "" || in.taken[key] {
		key = fmt.Sprintf("%s row %d", key, in.number)
		if r.Key == "" {
			key = key[1:]
		}
	}
	if in.taken == nil {
		in.taken = map[string]bool{}
	}
	in.taken[key] = true
	return records.Input{Ref: entity.Ref{Source: in.Source, Key: key}, Kind: in.Kind, Observed: observed, Attributes: r.Attributes}
}

// next reads a row. Exactly one of the record and the refusal is set; the error is io.EOF at the end.
func (in *Input) next(schema *match.Schema) (*records.Input, *bulk.RowError, error) {
	r, err := in.Next()
	if in.number++; in.Count != nil && !errors.Is(err, io.EOF) {
		in.Count(in.number)
	}
	if in.See != nil {
		if fields, err := in.Fields(); err == nil {
			in.See(fields)
		}
	}
	if refused, ok := errors.AsType[*bulk.RowError](err); ok {
		return nil, refused, nil
	}
	if err != nil {
		return nil, nil, err
	}
	rec := in.record(r)
	if problems := records.Check(schema, observed, rec); len(problems) > 0 {
		p := problems[0]
		return nil, &bulk.RowError{Line: r.Line, Lines: r.Lines, Code: p.Code, Pointer: p.Pointer, Reason: p.Detail, Row: r.Flat()}, nil
	}
	return &rec, nil, nil
}

// Add stores the rows of a file, all files of one kind, and calls refuse for each row that is no record. One batch is
// read while another is stored.
func (s *Session) Add(ctx context.Context, in *Input, refuse func(Refusal) error) error {
	schema := s.DB.Kinds().Schema(in.Kind)
	if schema == nil {
		return fmt.Errorf("there is no kind %.64q", in.Kind)
	}
	s.kind = in.Kind
	type load struct {
		first   []int // places of the rows
		records []records.Input
	}
	group, ctx := errgroup.WithContext(ctx)
	loads := make(chan load, 1)
	placed := make(chan []placing, 4)
	group.Go(func() error {
		defer close(loads)
		var l load
		send := func() error {
			select {
			case loads <- l:
				l = load{}
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		for {
			rec, refused, err := in.next(schema)
			if errors.Is(err, io.EOF) {
				return send()
			}
			if err != nil {
				return err
			}
			at := len(s.rows)
			s.rows = append(s.rows, row{})
			if refused != nil {
				if err := refuse(Refusal{at, refused}); err != nil {
					return err
				}
				continue
			}
			l.first, l.records = append(l.first, at), append(l.records, *rec)
			if len(l.records) == batch {
				if err := send(); err != nil {
					return err
				}
			}
		}
	})
	group.Go(func() error {
		defer close(placed)
		for l := range loads {
			if len(l.records) == 0 {
				continue
			}
			results, err := s.DB.Records().Put(ctx, l.records)
			if err != nil {
				return err
			}
			places := make([]placing, len(results))
			for i, r := range results {
				if r.Err != nil {
					return fmt.Errorf("put row %d: %w", l.first[i]+1, r.Err)
				}
				places[i] = placing{l.first[i], r.PUID}
			}
			placed <- places
		}
		return nil
	})
	var all [][]placing
	for places := range placed {
		all = append(all, places)
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, places := range all {
		for _, p := range places {
			s.rows[p.row].puid = p.puid
		}
	}
	return nil
}

// placing is the puid that a row was given.
type placing struct {
	row  int
	puid entity.PUID
}
