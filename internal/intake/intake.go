// SPDX-License-Identifier: Apache-2.0

// Package intake makes records of the messages of sources, with the mappings of imports.
package intake

import (
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/source"
	"github.com/locus-db/locus/sources"
)

// Compile makes a mapper of a mapping file; "" takes the names of columns as they are. It is the Compile of
// sources.Options.
func Compile(text, name string, kinds []*match.Schema) (sources.Mapper, error) {
	o := &bulk.Options{}
	if text != "" {
		var err error
		if o, err = bulk.ParseMapping([]byte(text)); err != nil {
			return nil, err
		}
	}
	if o.Source == "" {
		o.Source = name
	}
	m, err := bulk.NewMapper(o, kinds)
	if err != nil {
		return nil, err
	}
	return mapper{m}, nil
}

type mapper struct{ *bulk.Mapper }

// Map maps a row as an import does.
func (m mapper) Map(row source.Row) (op source.Op, err error) {
	if row.Delete {
		op.Delete = true
		if row.Object == nil {
			op.Source, op.Key, err = m.Mapper.SingleKey(row.Key)
			return op, err
		}
		op.Source, op.Key, err = m.Mapper.Identify(row.Object)
		return op, err
	}
	r, err := m.Mapper.Map(row.Object)
	if err != nil {
		return op, refusal(err)
	}
	if r == nil {
		return op, errors.New("it is the summary of a list that locus printed, not a record")
	}
	op = source.Op{Ref: entity.Ref{Source: r.Source, Key: r.Key}, Kind: r.Kind, Attributes: r.Attributes}
	if r.Observed != "" {
		if op.Observed, err = time.Parse(time.RFC3339Nano, r.Observed); err != nil {
			return op, fmt.Errorf("observed_at: %.60q is not a time of RFC 3339 such as 2026-11-20T12:00:00Z; a mapping can give its layout", r.Observed)
		}
	}
	return op, nil
}

// refusal returns the field and the reason of a refused row, without its line.
func refusal(err error) error {
	row, ok := errors.AsType[*bulk.RowError](err)
	if !ok {
		return err
	}
	if row.Pointer != "" {
		return fmt.Errorf("%s: %s", row.Pointer, row.Reason)
	}
	return errors.New(row.Reason)
}
