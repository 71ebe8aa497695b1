// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/internal/strictjson"
)

// CheckRequest is the body of POST /v1/check.
type CheckRequest struct {
	Repair bool      `json:"repair,omitempty" doc:"Recompute rows that differ and follow from others; ids stay"`
	Cells  []cell.ID `json:"cells,omitempty" doc:"Only these cells, such as g1-19; by default all. Rollups are compared only if all cells are checked"`
}

// Checked is the answer to POST /v1/check.
type Checked struct {
	Cells    int `json:"cells" doc:"Number of cells checked"`
	Differs  int `json:"differs" doc:"Number of rows that differ, or differed until they were repaired"`
	Repaired int `json:"repaired" doc:"Number of those that were repaired"`
}

const maxCheckedCells = 10_000

func (s *Server) check(c *call, progress func(any)) (any, error) {
	opts, err := c.checking()
	if err != nil {
		return nil, err
	}
	all := Checked{Cells: len(opts.Cells)}
	if opts.Cells == nil {
		all.Cells = len(s.svc.Cells().Map().Cells())
	}
	err = s.svc.Cells().Check(c, opts, func(d cells.Difference) error {
		all.Differs++
		if d.Repaired {
			all.Repaired++
		}
		d.ID, d.Stored, d.Want, d.Advice = printable(d.ID), printable(d.Stored), printable(d.Want), printable(d.Advice)
		progress(d)
		return nil
	}, func(p cells.CheckProgress) error {
		progress(p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// checking reads the body of a check; an empty body checks everything.
func (c *call) checking() (opts cells.Checking, err error) {
	if len(c.body) == 0 {
		return opts, nil
	}
	body, err := object(c.body, "repair", "cells")
	if err != nil {
		return opts, err
	}
	if v, given := body["repair"]; given {
		if v.Kind() != strictjson.Bool {
			return opts, wrongKind("/repair", v, "true or false")
		}
		opts.Repair = string(v.Raw()) == "true"
	}
	if v, given := body["cells"]; given {
		names, err := textsAt(v, "/cells", "cells", maxCheckedCells)
		if err != nil {
			return opts, err
		}
		opts.Cells = make([]cell.ID, len(names))
		for i, name := range names {
			if opts.Cells[i], err = cell.ParseID(name); err != nil {
				return opts, fault(CodeInvalid, "/cells", "%.60q is not a cell, such as g1-19", name)
			}
		}
		if len(names) == 0 {
			return opts, fault(CodeInvalid, "/cells", "cells is empty: omit it to check all")
		}
	}
	return opts, nil
}
