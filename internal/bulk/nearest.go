// SPDX-License-Identifier: Apache-2.0

package bulk

import "strings"

// Nearest returns the name that a misspelled one probably means, "" if none is close: two of six letters may differ,
// and one of three.
func Nearest(name string, names []string) string {
	best, nearest := min(3, len(name)/3+1), ""
	for _, candidate := range names {
		d := distance(strings.ToLower(name), candidate)
		if strings.HasPrefix(candidate, name) || strings.HasPrefix(name, candidate) {
			d = min(d, 2)
		}
		if d < best {
			best, nearest = d, candidate
		}
	}
	return nearest
}

// distance returns the number of bytes to insert, delete, replace or swap with their neighbour.
func distance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
