// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// ErrWorse means that the F1 of a set is more than Tolerance below the baseline.
var ErrWorse = errors.New("eval: worse than the baseline")

// Tolerance is the accepted loss of F1: half a point.
const Tolerance = 0.005

// Baseline holds the frozen F1 of every set, by name, with four digits.
type Baseline map[string]float64

// ReadBaseline reads a JSON object from names to figures.
func ReadBaseline(path string) (Baseline, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	var b Baseline
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, fmt.Errorf("read baseline %s: %w", path, err)
	}
	return b, nil
}

// Compare returns an error for every set that lost more than Tolerance, and for every set of the baseline that was not
// measured. A set that is not in the baseline is not an error.
func (b Baseline) Compare(reports []*Report) error {
	measured := map[string]*Report{}
	for _, r := range reports {
		measured[r.Name] = r
	}
	var errs []error
	for _, name := range sortedKeys(b) {
		r, ok := measured[name]
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("%w: %s was not measured", ErrWorse, name))
		case r.F1.Value < b[name]-Tolerance:
			errs = append(errs, fmt.Errorf("%w: %s has F1 %.4f, the baseline %.4f: read its errors, or freeze the new figure with the reason", ErrWorse, name, r.F1.Value, b[name]))
		}
	}
	return errors.Join(errs...)
}
