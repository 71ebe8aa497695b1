// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/storage"
)

// page is how many rows are read, or written, at once.
const page = 1000

// entitiesHash is a hash of a set of entities that does not depend on their order: the sum of the hashes of each.
type entitiesHash struct {
	mu  sync.Mutex
	sum [4]uint64
	n   int64
}

// add adds entities: of each its id and the sorted external keys of its records.
func (h *entitiesHash) add(entities []*entity.Entity) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var buf []byte
	for _, e := range entities {
		members := slices.Clone(e.Members)
		slices.SortFunc(members, func(a, b entity.Member) int {
			return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Key, b.Key))
		})
		buf = append(buf[:0], e.ID[:]...)
		for _, m := range members {
			for _, text := range []string{m.Source, m.Key} {
				buf = append(binary.AppendUvarint(buf, uint64(len(text))), text...)
			}
		}
		one := sha256.Sum256(buf)
		for i := range h.sum {
			h.sum[i] += binary.BigEndian.Uint64(one[8*i:])
		}
		h.n++
	}
}

// String returns the hash in hexadecimal.
func (h *entitiesHash) String() string {
	var b []byte
	for _, lane := range h.sum {
		b = binary.BigEndian.AppendUint64(b, lane)
	}
	return hex.EncodeToString(b)
}

// addCell adds the entities of a cell.
func (h *entitiesHash) addCell(ctx context.Context, tx storage.Tx) error {
	for after := entity.PUID(math.MinInt64); ; {
		found, err := tx.ListEntities(ctx, after, page)
		if err != nil || len(found) == 0 {
			return err
		}
		h.add(found)
		after = found[len(found)-1].Anchor()
	}
}

// hashOf returns the hash of all entities of an installation that is not written to.
func hashOf(ctx context.Context, e *engine.Engine) (*entitiesHash, error) {
	h := &entitiesHash{}
	return h, e.Parallel(e.Map().Cells(), func(_ int, id cell.ID) error {
		return e.View(ctx, id, func(tx storage.Tx) error { return h.addCell(ctx, tx) })
	})
}
