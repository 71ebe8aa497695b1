// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/sqlite"
)

// writerFile is the environment variable with the cell that a child process writes to.
const writerFile = "LOCUS_TEST_CRASH_CELL"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerFile); path != "" {
		if err := writeForEver(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	if path := os.Getenv(writerDir); path != "" {
		if err := writeDir(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// batchSize is the number of postings per transaction of the child. If the number in the cell is not a multiple of it,
// a transaction was torn.
const batchSize = 50

// writeForEver commits one transaction after the other and prints its number after each.
func writeForEver(path string) error {
	ctx := context.Background()
	// A short log, so that kills also hit checkpoints.
	c, err := sqlite.Open(ctx, path, identity(), &sqlite.Options{LogSize: 256 << 10})
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for {
		var n int64
		err := c.Update(ctx, func(tx storage.Tx) error {
			counts, err := tx.Counts(ctx)
			if err != nil {
				return err
			}
			n = counts.Records + 1
			add := make([]derived.Posting, batchSize)
			for i := range add {
				add[i] = derived.Posting{Key: rng.Uint64()<<8 | uint64(i), PUID: entity.PUID(n)}
			}
			if err := tx.Post(ctx, add, nil); err != nil {
				return err
			}
			if _, err := tx.Allocate(ctx, []cell.Key{crashKey(n)}); err != nil {
				return err
			}
			return tx.AddCounts(ctx, entity.Counts{Records: 1})
		})
		if err != nil {
			return err
		}
		if _, err := fmt.Println(n); err != nil {
			return err
		}
	}
}

func crashKey(n int64) cell.Key { return cell.Key{Ring: n} }

// TestP01_KilledWriter repeatedly kills a process that writes to a cell: everything it had reported exists, and no
// transaction exists in part.
func TestP01_KilledWriter(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	const kills = 12
	path := filepath.Join(t.TempDir(), "cell.db")
	acknowledged := int64(0)
	for kill := range kills {
		// The first kills come early, while the file is new.
		last := killedAfter(t, path, acknowledged+1+int64(3*kill))
		if last < acknowledged {
			t.Fatalf("kill %d: the child went on from %d, though %d was acknowledged", kill, last, acknowledged)
		}
		acknowledged = inspectCrashed(t, path, last)
	}
	t.Logf("%d kills, %d transactions, 0 lost, 0 torn", kills, acknowledged)
}

// killedAfter runs the child until it has acknowledged the transaction and possibly some more, kills it, and
// returns the last one that it acknowledged.
func killedAfter(t *testing.T, path string, enough int64) (last int64) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self)
	child.Env = append(os.Environ(), writerFile+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		n, err := strconv.ParseInt(strings.TrimSpace(lines.Text()), 10, 64)
		if err != nil {
			t.Fatalf("the child said %q", lines.Text())
		}
		if last = n; n == enough {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil || last < enough {
		t.Fatalf("the child ended by itself after %d: %v", last, err)
	}
	return last
}

// inspectCrashed opens the cell like a restart and returns the number of its transactions.
func inspectCrashed(t *testing.T, path string, acknowledged int64) (count int64) {
	t.Helper()
	ctx := t.Context()
	c, err := sqlite.Open(ctx, path, identity(), nil)
	if err != nil {
		t.Fatalf("open after a kill: %v", err)
	}
	err = c.View(ctx, func(tx storage.Tx) error {
		counts, err := tx.Counts(ctx)
		if err != nil {
			return err
		}
		count = counts.Records
		if count < acknowledged {
			return fmt.Errorf("%d transactions after %d were acknowledged", count, acknowledged)
		}
		keys := make([]cell.Key, count)
		for i := range keys {
			keys[i] = crashKey(int64(i + 1))
		}
		puids, err := tx.Lookup(ctx, keys)
		if err != nil {
			return err
		}
		for i, puid := range puids {
			if puid != identity().Lo+int64(i)+1 {
				return fmt.Errorf("key %d of %d has puid %d", i+1, count, puid)
			}
		}
		postings, err := sqlite.CountPostings(tx)
		if err == nil && postings != count*batchSize {
			err = fmt.Errorf("%d postings of %d transactions with %d each", postings, count, batchSize)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlite.CheckIntegrity(c); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return count
}
