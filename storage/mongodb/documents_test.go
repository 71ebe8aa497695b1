// SPDX-License-Identifier: Apache-2.0

package mongodb_test

import (
	"errors"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/storage/mongodb"
)

// Documents waits until a majority has the identity that another process inserted.
func TestDocuments_AnIdentityThatCannotBeReadYet(t *testing.T) {
	t.Parallel()
	proxy := mongotest.NewProxy(t, mongotest.URI(t))
	proxy.Fault(mongotest.Fault{Command: "insert", Collection: "locus", Kind: mongotest.DuplicateKey})
	d := documents(t, proxy.URI())
	if again := documents(t, proxy.URI()); d.Identity() == "" || again.Identity() != d.Identity() {
		t.Errorf("identities %q and %q", d.Identity(), again.Identity())
	}
}

// A database is prepared only once, so that a process can start while a shard is down.
func TestP12_AProcessStartsWhileAShardIsDown(t *testing.T) {
	t.Parallel()
	proxy, _ := sharded(t, 2*time.Minute)
	proxy.Down(func(collection, _ string) bool { return collection == "counter_day" }, 0)
	documents(t, proxy.URI())
	if n := proxy.Kept("createIndexes"); n > 0 {
		t.Errorf("%d indexes were asked for", n)
	}
}

// A copy is handed over; the original and other databases are refused.
func TestDocuments_HandOver(t *testing.T) {
	t.Parallel()
	ctx, uri := t.Context(), mongotest.URI(t)
	original := documents(t, uri)
	if _, err := original.Claim(ctx, "first"); err != nil {
		t.Fatal(err)
	}
	other := documents(t, mongotest.URI(t))
	for name, one := range map[string]*mongodb.Documents{"the original itself": original, "another database": other} {
		if err := one.HandOver(ctx, open(t, uri), original.Identity(), "second"); !errors.Is(err, mongodb.ErrNoCopy) {
			t.Errorf("%s: %v, want ErrNoCopy", name, err)
		}
	}
	if owner, err := original.Owner(ctx); owner != "first" || err != nil {
		t.Errorf("the original belongs to %q, %v", owner, err)
	}
	// A database with the same identity that is not the original is a copy, whether the original can be reached or not.
	for _, from := range []*mongodb.Database{open(t, uri), nil} {
		if err := other.HandOver(ctx, from, other.Identity(), "second"); err != nil {
			t.Fatal(err)
		}
		if owner, err := other.Claim(ctx, "third"); owner != "second" || err != nil {
			t.Errorf("the copy belongs to %q, %v", owner, err)
		}
	}
}
