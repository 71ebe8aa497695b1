// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"testing"

	"github.com/locus-db/locus/entity"
)

// TestStratum_Drawn counts the first pairs of the draw as long as four in five are decided by people.
func TestStratum_Drawn(t *testing.T) {
	t.Parallel()
	for decided, want := range map[string]int{
		"":            0,
		"......":      0,
		"xxx...":      3,
		"xxx...xxxxx": 3,  // 8 of 11
		"xxxx.x":      6,  // 5 of 6
		".xxxx":       5,  // 4 of 5
		".xxx":        0,  // 3 of 4
		"xx.xxxxx.xx": 11, // 9 of 11
		"aaaa":        0,
		"xaaa":        1,
		"i":           1,
	} {
		var s Stratum
		for _, c := range decided {
			p := Pair{}
			switch c {
			case 'x':
				p.Decision = &entity.Decision{Verdict: entity.VerdictSame, Author: "ann"}
			case 'a':
				p.Decision = &entity.Decision{Verdict: entity.VerdictSame, Author: "agent:judge"}
			case 'i':
				p.implied = true
			}
			s.Pairs = append(s.Pairs, p)
		}
		if got := s.Drawn(); got != want {
			t.Errorf("%q: %d, want %d", decided, got, want)
		}
	}
}
