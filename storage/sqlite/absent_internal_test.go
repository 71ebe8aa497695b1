// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage"
)

// keysOf returns the keys with the numbers from from up to to.
func keysOf(from, to int) []cell.Key {
	keys := make([]cell.Key, 0, to-from)
	for n := from; n < to; n++ {
		k := cell.Key{Ring: int64(uint64(n) * 0x9e3779b97f4a7c15)}
		for i := 0; i < len(k.Digest); i += 8 {
			h := fnv.New64a()
			_ = binary.Write(h, binary.BigEndian, [2]uint64{uint64(n), uint64(i)})
			binary.BigEndian.PutUint64(k.Digest[i:], h.Sum64()*0x9e3779b97f4a7c15)
		}
		keys = append(keys, k)
	}
	return keys
}

// Each key gets one puid for good, whether a filter knows which keys are absent, is given up, or a transaction that
// allocated keys is rolled back.
func TestAllocate_KnowsWhichKeysAreAbsent(t *testing.T) {
	t.Parallel()
	rolled := errors.New("rolled back")
	for name, between := range map[string]func(tx storage.Tx) error{
		"filter": func(storage.Tx) error { return nil },
		"copy": func(tx storage.Tx) error {
			return tx.Copy(t.Context(), []cell.Row{{Key: keysOf(9000, 9001)[0], PUID: 7}})
		},
		"restored": func(tx storage.Tx) error { return writeKey(t.Context(), tx, keysOf(9000, 9001)[0], 7) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := openCell(t)
			puids := map[cell.Key]int64{}
			allocate := func(keys []cell.Key, end error) {
				t.Helper()
				var got []cell.Allocation
				if err := c.Update(t.Context(), func(tx storage.Tx) (err error) {
					if got, err = tx.Allocate(t.Context(), keys); err != nil {
						return err
					}
					return end
				}); !errors.Is(err, end) {
					t.Fatal(err)
				}
				for i, a := range got {
					was, there := puids[keys[i]]
					if there && was != a.PUID || there == a.Fresh {
						t.Fatalf("key %d: puid %d, new: %v; it has %d, %v", i, a.PUID, a.Fresh, was, there)
					}
				}
				for i, a := range got {
					if end == nil {
						puids[keys[i]] = a.PUID
					}
				}
			}
			allocate(keysOf(0, absentFrom), rolled)
			allocate(keysOf(0, absentFrom), nil)
			if c.absent.bits == nil {
				t.Fatal("there is no filter")
			}
			if err := c.Update(t.Context(), between); err != nil {
				t.Fatal(err)
			}
			if name != "filter" {
				puids[keysOf(9000, 9001)[0]] = 7
			}
			for range 5 {
				from := rand.IntN(8500)
				allocate(keysOf(from, from+absentFrom), rolled)
				allocate(keysOf(from, from+absentFrom), nil)
			}
			allocate(keysOf(8500, 9500), nil)
			if on := c.absent.bits != nil; on != (name == "filter") {
				t.Errorf("a filter is used: %v", on)
			}
		})
	}
}

// A cell that is opened with keys, or has more of them than the filter is made for, looks all of them up.
func TestAllocate_LooksUpKeysThatItCannotKnow(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cell.db")
	for range 2 {
		c, err := Open(t.Context(), path, cell.Identity{Map: "m", Lo: 0, Hi: 1 << 32}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var fresh int
		if err := c.Update(t.Context(), func(tx storage.Tx) error {
			got, err := tx.Allocate(t.Context(), keysOf(0, absentFrom))
			for _, a := range got {
				if a.Fresh {
					fresh++
				}
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if on := c.absent.bits != nil; on != (fresh > 0) {
			t.Errorf("%d keys are new, a filter is used: %v", fresh, on)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	a := &absent{bits: make([]uint64, absentBits/64), keys: absentMost}
	if a.add(make([]cell.Row, 1)); a.bits != nil || !a.off {
		t.Error("the filter takes any number of keys")
	}
}

func writeKey(ctx context.Context, tx storage.Tx, k cell.Key, puid int64) error {
	return tx.WriteRows(ctx, "locus_key", [][]any{{k.Ring, k.Digest[:], puid}})
}
