// SPDX-License-Identifier: Apache-2.0

package mongodb_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/storage/mongodb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(mongotest.Main(m)) }

// open opens a database.
func open(t testing.TB, uri string) *mongodb.Database { return openWithin(t, uri, 2*time.Minute) }

// openWithin opens a database with a timeout for each operation.
func openWithin(t testing.TB, uri string, timeout time.Duration) *mongodb.Database {
	t.Helper()
	d, err := mongodb.Open(context.Background(), uri, &mongodb.Options{UnsafeDurability: !mongotest.On(t).Durable, Timeout: timeout})
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

// documents opens the database of an installation.
func documents(t testing.TB, uri string) *mongodb.Documents {
	return documentsWithin(t, uri, 2*time.Minute)
}

func documentsWithin(t testing.TB, uri string, timeout time.Duration) *mongodb.Documents {
	t.Helper()
	d, err := openWithin(t, uri, timeout).Documents(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return d
}
