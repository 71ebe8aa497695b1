// SPDX-License-Identifier: Apache-2.0

package storagetest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// Derived rows per record of a Load.
const (
	featuresOfARecord = 6
	edgesOfARecord    = 0.6 // each edge has two rows
)

// Load makes batches of records that look like places. The benchmarks of both backends write them, so that
// their numbers can be compared.
type Load struct {
	// Rand is the source of randomness, with the same seed in every new Load.
	Rand *rand.Rand
	// Tick is the time of the newest record, in milliseconds of Unix time. It rises by one per record.
	Tick int64
	next uint64
}

// NewLoad returns a Load in its initial state.
func NewLoad() *Load { return &Load{Rand: rand.New(rand.NewPCG(1, 2)), Tick: 1_700_000_000_000} }

func (l *Load) id() (id locality.ID) {
	binary.BigEndian.PutUint64(id[:8], l.Rand.Uint64())
	l.Tick++
	binary.BigEndian.PutUint64(id[8:], uint64(l.Tick))
	return id
}

// Key returns a new random key.
func (l *Load) Key() (k cell.Key) {
	k.Ring = int64(l.Rand.Uint64())
	binary.BigEndian.PutUint64(k.Digest[:], l.Rand.Uint64())
	return k
}

// record returns a place with 13 values.
func (l *Load) record(puid entity.PUID) *entity.Record {
	l.next++
	n := l.next
	return &entity.Record{
		PUID: puid, Ref: entity.Ref{Source: "vendor", Key: fmt.Sprintf("place-%d", n)}, Version: 1, Birth: l.id(), Anchor: puid, Observed: time.UnixMilli(l.Tick),
		Attributes: entity.Attributes{
			"name": {fmt.Sprintf("Joe's Famous Pizza No. %d", n)}, "phones": {fmt.Sprintf("(415) 555-%04d", n%10000), fmt.Sprintf("415.556.%04d", n%10000)},
			"address": {fmt.Sprintf("%d Market Street", n%9999)}, "city": {"San Francisco"}, "region": {"CA"}, "postcode": {fmt.Sprint(94000 + n%200)},
			"country": {"US"}, "latitude": {"37.774929"}, "longitude": {"-122.419416"}, "websites": {fmt.Sprintf("https://www.joes%d.example/menu", n)}, "category": {"restaurant"},
		},
	}
}

func entityOf(r *entity.Record) entity.Indexed {
	e := &entity.Entity{
		ID: r.Birth, Members: []entity.Member{{PUID: r.PUID, Ref: r.Ref, Version: 1}},
		Stamp: uint64(r.PUID) * 0x9e3779b97f4a7c15,
	}
	var terms []uint64
	for _, name := range []string{"name", "phones", "address", "city", "region", "postcode", "country", "latitude", "longitude", "websites", "category"} {
		var values []entity.MergedValue
		for _, v := range r.Attributes[name] {
			values = append(values, entity.MergedValue{Value: v, Members: []int{0}})
			terms = append(terms, entity.Term(name, v))
		}
		e.View = append(e.View, entity.MergedAttribute{Name: name, Values: values})
	}
	return entity.Indexed{Entity: e, Words: []string{"joes", "famous", "pizza", "no", r.Key[6:]}, Terms: terms}
}

// Write puts a batch of n new records like the resolver: all rows of a new record, in three transactions.
func (l *Load) Write(ctx context.Context, c storage.Cell, n int) error {
	keys := make([]cell.Key, n)
	for i := range keys {
		keys[i] = l.Key()
	}
	records := make([]*entity.Record, n)
	now := time.UnixMilli(l.Tick)
	if err := c.Update(ctx, func(tx storage.Tx) error {
		allocated, err := tx.Allocate(ctx, keys)
		if err != nil {
			return err
		}
		births, redo, changes := make([]entity.Birth, n), make([]derived.Redo, n), make([]changelog.Change, n)
		puids := make([]entity.PUID, n)
		for i, a := range allocated {
			r := l.record(entity.PUID(a.PUID))
			records[i], puids[i], births[i], redo[i] = r, r.PUID, entity.Birth{ID: r.Birth, PUID: r.PUID}, derived.Redo{PUID: r.PUID, Version: 1}
			changes[i] = changelog.Change{
				Time: now, Kind: changelog.Put, Entity: r.Birth, After: []changelog.Version{{PUID: r.PUID, Version: 1}},
			}
		}
		_, err1 := tx.Records(ctx, puids)
		err2 := errors.Join(tx.PutRecords(ctx, records), tx.PutBirths(ctx, births))
		_, err3 := tx.PutRedo(ctx, redo)
		return errors.Join(err1, err2, err3, tx.Append(ctx, changes), tx.AddCounts(ctx, entity.Counts{Records: int64(n)}))
	}); err != nil {
		return err
	}
	var blockingKeys []uint64
	var limits []int
	if err := c.Update(ctx, func(tx storage.Tx) error {
		var add []derived.Posting
		for _, r := range records {
			for range featuresOfARecord {
				f := l.Rand.Uint64()
				blockingKeys, limits = append(blockingKeys, f), append(limits, 65)
				add = append(add, derived.Posting{Key: f, PUID: r.PUID})
			}
		}
		if err := tx.Post(ctx, add, nil); err != nil {
			return err
		}
		_, err := tx.RecordsByKey(ctx, blockingKeys, limits)
		return err
	}); err != nil {
		return err
	}
	return c.Update(ctx, func(tx storage.Tx) error {
		var edges []derived.Edge
		entities, changes, done := make([]entity.Indexed, n), make([]changelog.Change, n), make([]derived.Redo, n)
		for i, r := range records {
			if l.Rand.Float64() < edgesOfARecord {
				other := records[l.Rand.IntN(n)].PUID
				edges = append(edges, derived.Edge{A: r.PUID, B: other, Vector: match.Vector(l.Rand.Uint64()), Weight: 900},
					derived.Edge{A: other, B: r.PUID, Vector: match.Vector(l.Rand.Uint64()), Weight: 900})
			}
			entities[i], done[i] = entityOf(r), derived.Redo{PUID: r.PUID, Version: 1}
			changes[i] = changelog.Change{
				Time: now, Kind: changelog.Created, Entity: r.Birth,
				After: []changelog.Version{{PUID: r.PUID, Version: 1}},
			}
		}
		return errors.Join(tx.PutEdges(ctx, edges), tx.PutEntities(ctx, entities), tx.Append(ctx, changes),
			tx.AddCounts(ctx, entity.Counts{Entities: int64(n)}), tx.ClearRedo(ctx, done))
	})
}
