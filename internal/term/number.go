// SPDX-License-Identifier: Apache-2.0

package term

import (
	"fmt"
	"strconv"
	"time"
)

// Count formats a number exactly, with grouped digits: 1,204,331.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(digits) - 3; i > first; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Short formats a number with three digits: 902, 11.8k, 1.24M, 3.10G.
func Short(n float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= unit.size*0.9995 {
			if v := n / unit.size; v < 10 {
				return fmt.Sprintf("%.2f%s", v, unit.name)
			}
			return fmt.Sprintf("%.1f%s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%.0f", n)
}

// Left formats a duration with two units: 12s, 2m29s, 3h05m.
func Left(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	default:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
}
