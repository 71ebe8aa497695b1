// SPDX-License-Identifier: Apache-2.0

package sinktest_test

import (
	"testing"

	"github.com/locus-db/locus/sink/sinktest"
)

func TestRecorder(t *testing.T) {
	t.Parallel()
	sinktest.RunChanges(t, func(*testing.T) sinktest.ChangeTarget {
		r := &sinktest.Recorder{}
		return sinktest.ChangeTarget{ChangeSink: r, All: r.All}
	})
}
