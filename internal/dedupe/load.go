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
	Source string // source of its records
	Kind   string
	// See, if set, is called with each row as the file has it, and Count with its number in the file, from 1.
	See    func([]bulk.Field)
	Count  func(row int64)
	taken  map[string]bool // keys of its rows
	number int64
}

// record returns the record of a row. Its key is the key of the row, or "row N" if the row has none or shares it with
// another row, because both are rows of the input.
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

// load is a batch of records with the places of their rows.
type load struct {
	first   []int
	records []records.Input
}

// Add stores the rows of a file, all files of one kind, and calls refuse for each row that is no record. One batch is
// read while another is stored.
func (s *Session) Add(ctx context.Context, in *Input, refuse func(Refusal) error) error {
	schema := s.DB.Kinds().Schema(in.Kind)
	if schema == nil {
		return fmt.Errorf("there is no kind %.64q", in.Kind)
	}
	s.kind = in.Kind
	group, ctx := errgroup.WithContext(ctx)
	loads := make(chan load, 1)
	var placed []placing // the rows themselves grow while they are read
	group.Go(func() error {
		defer close(loads)
		return s.read(ctx, in, schema, loads, refuse)
	})
	group.Go(func() error {
		for l := range loads {
			places, err := s.store(ctx, l)
			if err != nil {
				return err
			}
			placed = append(placed, places...)
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	for _, p := range placed {
		s.rows[p.row].puid = p.puid
	}
	return nil
}

// read reads the rows of a file and sends them batch by batch.
func (s *Session) read(ctx context.Context, in *Input, schema *match.Schema, loads chan<- load, refuse func(Refusal) error) error {
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
}

// store stores a batch and returns the puids of its rows.
func (s *Session) store(ctx context.Context, l load) ([]placing, error) {
	if len(l.records) == 0 {
		return nil, nil
	}
	results, err := s.DB.Records().Put(ctx, l.records)
	if err != nil {
		return nil, err
	}
	places := make([]placing, len(results))
	for i, r := range results {
		if r.Err != nil {
			return nil, fmt.Errorf("put row %d: %w", l.first[i]+1, r.Err)
		}
		places[i] = placing{l.first[i], r.PUID}
	}
	return places, nil
}

// placing is the puid that a row was given.
type placing struct {
	row  int
	puid entity.PUID
}
