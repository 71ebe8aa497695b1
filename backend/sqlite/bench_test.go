// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locus-db/locus/backend/sqlite"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// The write path of a record, as the resolver takes it: the rows that a new record brings, in
// the three transactions of a batch.
const (
	featuresOfARecord = 6
	edgesOfARecord    = 0.6 // each stands twice
)

// load makes batches of records that look like places.
type load struct {
	rand *rand.Rand
	next uint64
	tick int64
}

func newLoad() *load { return &load{rand: rand.New(rand.NewPCG(1, 2)), tick: 1_700_000_000_000} }

func (l *load) id() (id locality.ID) {
	binary.BigEndian.PutUint64(id[:8], l.rand.Uint64())
	l.tick++
	binary.BigEndian.PutUint64(id[8:], uint64(l.tick))
	return id
}

func (l *load) key() (k cell.Key) {
	k.Ring = int64(l.rand.Uint64())
	binary.BigEndian.PutUint64(k.Digest[:], l.rand.Uint64())
	return k
}

// record is 13 facts of a place.
func (l *load) record(puid entity.PUID) *entity.Record {
	l.next++
	n := l.next
	return &entity.Record{
		PUID: puid, Ref: entity.Ref{Source: "vendor", Key: fmt.Sprintf("place-%d", n)}, Version: 1, Birth: l.id(), Anchor: puid, Observed: time.UnixMilli(l.tick),
		Attributes: entity.Attributes{
			"name": {fmt.Sprintf("Joe's Famous Pizza No. %d", n)}, "phones": {fmt.Sprintf("(415) 555-%04d", n%10000), fmt.Sprintf("415.556.%04d", n%10000)},
			"address": {fmt.Sprintf("%d Market Street", n%9999)}, "city": {"San Francisco"}, "region": {"CA"}, "postcode": {fmt.Sprint(94000 + n%200)},
			"country": {"US"}, "latitude": {"37.774929"}, "longitude": {"-122.419416"}, "websites": {fmt.Sprintf("https://www.joes%d.example/menu", n)}, "category": {"restaurant"},
		},
	}
}

func entityOf(r *entity.Record) entity.Indexed {
	e := &entity.Entity{ID: r.Birth, Members: []entity.Member{{PUID: r.PUID, Ref: r.Ref, Version: 1}}, Stamp: uint64(r.PUID) * 0x9e3779b97f4a7c15}
	var terms []uint64
	for _, name := range []string{"name", "phones", "address", "city", "region", "postcode", "country", "latitude", "longitude", "websites", "category"} {
		var values []entity.MergedValue
		for _, v := range r.Attributes[name] {
			values = append(values, entity.MergedValue{Value: v, Members: []int{0}})
			terms = append(terms, entity.Term(name, v))
		}
		e.View = append(e.View, entity.MergedAttribute{Name: name, Values: values})
	}
	return entity.Indexed{Entity: e, Names: []string{"joes", "famous", "pizza", "no", r.Key[6:]}, Terms: terms}
}

// write puts a batch of new records.
func (l *load) write(ctx context.Context, c resolve.Cell, n int) error {
	keys := make([]cell.Key, n)
	for i := range keys {
		keys[i] = l.key()
	}
	records := make([]*entity.Record, n)
	now := time.UnixMilli(l.tick)
	if err := c.Update(ctx, func(tx resolve.Tx) error {
		allocated, err := tx.Allocate(ctx, keys)
		if err != nil {
			return err
		}
		births, redo, changes := make([]entity.Birth, n), make([]resolve.Redo, n), make([]changelog.Change, n)
		puids := make([]entity.PUID, n)
		for i, a := range allocated {
			r := l.record(entity.PUID(a.PUID))
			records[i], puids[i], births[i], redo[i] = r, r.PUID, entity.Birth{ID: r.Birth, PUID: r.PUID}, resolve.Redo{PUID: r.PUID, Version: 1}
			changes[i] = changelog.Change{Time: now, Kind: changelog.Put, Entity: r.Birth, After: []changelog.Version{{PUID: r.PUID, Version: 1}}}
		}
		_, err = tx.Records(ctx, puids)
		_, err2 := tx.PutRedo(ctx, redo)
		return errors.Join(err, err2, tx.PutRecords(ctx, records), tx.PutBirths(ctx, births), tx.Append(ctx, changes),
			tx.AddCounts(ctx, entity.Counts{Records: int64(n)}))
	}); err != nil {
		return err
	}
	var features []uint64
	var limits []int
	if err := c.Update(ctx, func(tx resolve.Tx) error {
		var add []resolve.Posting
		for _, r := range records {
			for range featuresOfARecord {
				f := l.rand.Uint64()
				features, limits = append(features, f), append(limits, 65)
				add = append(add, resolve.Posting{Feature: f, PUID: r.PUID})
			}
		}
		if err := tx.Post(ctx, add, nil); err != nil {
			return err
		}
		_, err := tx.Carriers(ctx, features, limits)
		return err
	}); err != nil {
		return err
	}
	return c.Update(ctx, func(tx resolve.Tx) error {
		var edges []resolve.Edge
		entities, changes, done := make([]entity.Indexed, n), make([]changelog.Change, n), make([]resolve.Redo, n)
		for i, r := range records {
			if l.rand.Float64() < edgesOfARecord {
				other := records[l.rand.IntN(n)].PUID
				edges = append(edges, resolve.Edge{A: r.PUID, B: other, Vector: match.Vector(l.rand.Uint64()), Score: 900},
					resolve.Edge{A: other, B: r.PUID, Vector: match.Vector(l.rand.Uint64()), Score: 900})
			}
			entities[i], done[i] = entityOf(r), resolve.Redo{PUID: r.PUID, Version: 1}
			changes[i] = changelog.Change{Time: now, Kind: changelog.Created, Entity: r.Birth, After: []changelog.Version{{PUID: r.PUID, Version: 1}}}
		}
		return errors.Join(tx.PutEdges(ctx, edges), tx.PutEntities(ctx, entities), tx.Append(ctx, changes),
			tx.AddCounts(ctx, entity.Counts{Entities: int64(n)}), tx.ClearRedo(ctx, done))
	})
}

// BenchmarkWrite is a record's whole write path, an operation being a record: in batches of 250, the
// share of one cell of sixteen in a batch of 4,000, into a cell that holds its share of a million.
func BenchmarkWrite(b *testing.B) {
	for _, page := range []int{1024, 2048, 4096, 8192} {
		b.Run(fmt.Sprintf("page=%d", page), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "cell.db")
			c, err := sqlite.Open(b.Context(), path, identity(), &sqlite.Options{PageSize: page})
			if err != nil {
				b.Fatal(err)
			}
			l := newLoad()
			const batch, share = 250, 62_500
			for n := 0; n < share; n += 2500 {
				if err := l.write(b.Context(), c, 2500); err != nil {
					b.Fatal(err)
				}
			}
			b.ResetTimer()
			before, busy := written(), cpu()
			b.ReportAllocs()
			for n := 0; n < b.N; n += batch {
				if err := l.write(b.Context(), c, batch); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			if err := c.Close(); err != nil {
				b.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(cpu()-busy)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(info.Size())/float64(b.N+share), "file-B/op")
			b.ReportMetric(float64(written()-before)/float64(b.N), "written-B/op")
		})
	}
}

// written is how many bytes this process has written so far, 0 where the system does not tell.
func written() (n int64) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	var read int64
	if _, err := fmt.Sscanf(string(text), "rchar: %d\nwchar: %d", &read, &n); err != nil {
		return 0
	}
	return n
}
