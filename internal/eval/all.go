// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"context"
	"fmt"
)

// AllOptions name the folder of the labelled sets.
type AllOptions struct {
	Data string // the folder
}

// All measures every set of the folder that is of kind place.
func All(ctx context.Context, o AllOptions) ([]*Report, error) {
	var reports []*Report
	for _, s := range sets {
		r, err := s.run(ctx, o.Data, s.name)
		if err != nil {
			return nil, fmt.Errorf("measure %s: %w", s.name, err)
		}
		r.Note = s.note
		reports = append(reports, r)
	}
	return reports, nil
}
