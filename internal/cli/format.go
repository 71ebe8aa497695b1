// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"time"

	"github.com/locus-db/locus/internal/term"
)

// counted returns a number in groups of three digits, with its noun.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return term.Count(n) + " " + many
}

// plural returns a small number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// percent formats part of whole with three digits, "" if whole is 0.
func percent(part, whole uint64) string {
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf("%.3g %%", 100*float64(part)/float64(whole))
}

// shareOf formats part of whole with one decimal.
func shareOf(part, whole int) string {
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(max(whole, 1)))
}

// millis formats a number of milliseconds.
func millis(n int64) string { return (time.Duration(n) * time.Millisecond).String() }

// moment formats a time, "" for the zero time.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
