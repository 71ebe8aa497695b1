// SPDX-License-Identifier: Apache-2.0

package decisions

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
		var s stratum
		for _, c := range decided {
			p := surveyedPair{}
			switch c {
			case 'x':
				p.said = &entity.Decision{Verdict: entity.VerdictSame, Author: "ann"}
			case 'a':
				p.said = &entity.Decision{Verdict: entity.VerdictSame, Author: "agent:judge"}
			case 'i':
				p.implied = true
			}
			s.pairs = append(s.pairs, p)
		}
		if got := s.drawn(); got != want {
			t.Errorf("%q: %d, want %d", decided, got, want)
		}
	}
}

// TestSurvey_Windows reads every puid once while an installation is small, and as many as it may when it is large.
func TestSurvey_Windows(t *testing.T) {
	t.Parallel()
	for _, all := range []int64{0, 1, 256, 16384, 16385, 1 << 20, 1 << 40} {
		step := windowStep(all)
		switch read := all / step * surveyWindow; {
		case step%surveyWindow != 0 || step&(step-1) != 0:
			t.Errorf("%d puids: step %d", all, step)
		case all <= surveyed && step != surveyWindow:
			t.Errorf("%d puids are not read whole: step %d", all, step)
		case all > surveyed && (read > surveyed || read < surveyed/2):
			t.Errorf("%d of %d puids are read", read, all)
		}
	}
}
