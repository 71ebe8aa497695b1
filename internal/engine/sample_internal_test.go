// SPDX-License-Identifier: Apache-2.0

package engine

import "testing"

// TestSample_Windows reads every puid once while an installation is small, and as many as allowed when it is large.
func TestSample_Windows(t *testing.T) {
	t.Parallel()
	const most = 16384
	for _, all := range []int64{0, 1, 256, 16384, 16385, 1 << 20, 1 << 40} {
		step := windowStep(all, most)
		switch read := all / step * windowSize; {
		case step%windowSize != 0 || step&(step-1) != 0:
			t.Errorf("%d puids: step %d", all, step)
		case all <= most && step != windowSize:
			t.Errorf("%d puids are not read whole: step %d", all, step)
		case all > most && (read > most || read < most/2):
			t.Errorf("%d of %d puids are read", read, all)
		}
	}
}
