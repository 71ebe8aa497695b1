// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"fmt"
	"math"
	"runtime"

	"github.com/locus-db/locus/internal/term"
)

// Machine describes the machine of the measurement.
func Machine() string {
	return fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}

// Reached says whether a gate was reached; nil means unknown.
func Reached(gate *bool) string {
	switch {
	case gate == nil:
		return ""
	case *gate:
		return "yes"
	}
	return "**no**"
}

// Figure prints the significant digits of a number.
func Figure(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case v < 9.995:
		return fmt.Sprintf("%.2f", v)
	case v < 99.95:
		return fmt.Sprintf("%.1f", v)
	}
	return term.Count(int64(math.Round(v)))
}
