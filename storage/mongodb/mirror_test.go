// SPDX-License-Identifier: Apache-2.0

package mongodb_test

import (
	"testing"

	"github.com/locus-db/locus/internal/conformance/mirrortest"
	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/mirror"
)

func TestMirrorTarget(t *testing.T) {
	t.Parallel()
	mirrortest.Run(t, func(t *testing.T) mirror.Target {
		t.Helper()
		return open(t, mongotest.URI(t)).Mirror("", "entities")
	})
}
