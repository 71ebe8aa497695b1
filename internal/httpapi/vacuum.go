// SPDX-License-Identifier: Apache-2.0

package httpapi

import "github.com/locus-db/locus/cells"

// Vacuumed is the answer to POST /v1/vacuum.
type Vacuumed struct {
	Cells  int `json:"cells" doc:"Number of cells rewritten"`
	Behind int `json:"behind" doc:"Number of cells whose logs still contain erased records because a rollup has yet to read them; repeat the request later"`
}

func (s *Server) vacuum(c *call, progress func(any)) (any, error) {
	var all Vacuumed
	err := s.svc.Cells().Vacuum(c, func(v cells.Vacuumed) {
		all.Cells++
		if v.Behind {
			all.Behind++
		}
		progress(v)
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
