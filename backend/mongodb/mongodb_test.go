// SPDX-License-Identifier: Apache-2.0

package mongodb_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/locus-db/locus/backend/mongodb"
	"github.com/locus-db/locus/internal/mongotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(mongotest.Main(m)) }

// open opens a database that no other test has.
func open(t testing.TB) *mongodb.Database {
	t.Helper()
	return openAt(t, mongotest.URI(t))
}

func openAt(t testing.TB, uri string) *mongodb.Database {
	t.Helper()
	d, err := mongodb.Open(context.Background(), uri, &mongodb.Options{UnsafeDurability: !mongotest.On(t).Durable, Timeout: 2 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d
}
