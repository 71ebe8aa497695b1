// SPDX-License-Identifier: Apache-2.0

package mongodb_test

import (
	"context"
	"testing"

	"github.com/locus-db/locus/backend/mongodb"
	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/mirror"
	"github.com/locus-db/locus/mirror/mirrortest"
)

// opened is a database for one test, whatever server there is.
func opened(t *testing.T, uri string) *mongodb.Database {
	t.Helper()
	d, err := mongodb.Open(t.Context(), uri, &mongodb.Options{UnsafeDurability: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close(context.WithoutCancel(t.Context())) })
	return d
}

func TestMirrorTarget(t *testing.T) {
	t.Parallel()
	mirrortest.Run(t, func(t *testing.T) mirror.Target {
		t.Helper()
		return opened(t, mongotest.URI(t)).Mirror("", "entities")
	})
}
