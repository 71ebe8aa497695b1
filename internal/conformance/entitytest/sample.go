// SPDX-License-Identifier: Apache-2.0

package entitytest

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/locality"
)

// birthID returns the n-th id of a series.
func birthID(n int64) (id locality.ID) {
	binary.BigEndian.PutUint64(id[:8], uint64(n)*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(id[8:], uint64(n))
	return id
}

// record returns a live record that is its own entity.
func record(puid entity.PUID) *entity.Record {
	return &entity.Record{
		PUID: puid, Ref: entity.Ref{Source: "vendor", Key: puid.String()}, Version: 1, Birth: birthID(int64(puid)),
		Anchor:     puid,
		Observed:   time.UnixMilli(1_700_000_000_123).UTC(),
		Attributes: entity.Attributes{"name": {"Joe's"}, "phones": {"415-555-2300", "(415) 555-2301"}},
	}
}

// tombstone returns the record that remains after a deletion.
func tombstone(puid entity.PUID, version int64) *entity.Record {
	return &entity.Record{PUID: puid, Version: version, Birth: birthID(int64(puid)), Anchor: puid,
		Observed: time.UnixMilli(0).UTC()}
}

// thing returns an entity of these records, the anchor first.
func thing(puids ...entity.PUID) *entity.Entity {
	e := &entity.Entity{ID: birthID(int64(puids[0])), Stamp: uint64(puids[0]) * 7}
	for i, puid := range puids {
		r := record(puid)
		e.Members = append(e.Members, entity.Member{PUID: puid, Ref: r.Ref, Version: int64(i + 1)})
	}
	e.View = entity.View{
		{Name: "name", Values: []entity.MergedValue{{Value: "Joe's", Members: []int{0}}}},
		{Name: "phones", Values: []entity.MergedValue{{Value: "415-555-2300", Members: []int{0}},
			{Value: "(415) 555-2301", Members: []int{0}}}},
	}
	return e
}

func indexed(anchor entity.PUID, words string, terms ...uint64) entity.Indexed {
	return entity.Indexed{Entity: thing(anchor), Words: strings.Fields(words), Terms: terms}
}

func ranked(anchor entity.PUID, points int, words string, terms ...uint64) entity.Indexed {
	e := indexed(anchor, words, terms...)
	e.Rank = entity.Rank{Sources: points / 2, Known: points - points/2}
	return e
}

// hostile lists strings that a store must return byte for byte. Strings that are not valid text (a zero
// byte, broken UTF-8) are refused before they reach a store.
var hostile = []string{
	"", " ", "'", `"`, `\`, "''; DROP TABLE record; --", "a.b", "$set", "$", "{}", "[1]", "null", "%s%d", "%", "_",
	"\t\r\n", "\x01\x1f\x7f", "</script>", "a\u2028b\u2029c", "\ufeff", "\u200b", "\u202eabc",
	"caf\u00e9", "cafe\u0301", "Straße", "STRASSE", "İstanbul", "i̇stanbul", "Ωmega", "ωmega", "🍕", "\U0010ffff",
	"\ue000\uf8ff",
	strings.Repeat("k", 255), strings.Repeat("é", 127), strings.Repeat("x", 4096),
}

// puidEdges are boundary values of puids.
var puidEdges = []entity.PUID{math.MinInt64, math.MinInt64 + 1, -1 << 53, -1<<32 - 1, -1 << 32, -2, -1, 1, 2, 1 << 31,
	1<<32 + 1, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64}

func putRecords(t tester, c Cell, records ...*entity.Record) {
	t.Helper()
	conformance.Update(t, c.Update, func(ctx context.Context, s entity.Store) error { return s.PutRecords(ctx, records) })
}

func getRecords(t tester, c Cell, puids ...entity.PUID) []*entity.Record {
	t.Helper()
	return read(t, c, func(ctx context.Context, s entity.Store) ([]*entity.Record, error) { return s.Records(ctx, puids) })
}

func putEntities(t tester, c Cell, entities ...entity.Indexed) {
	t.Helper()
	conformance.Update(t, c.Update, func(ctx context.Context, s entity.Store) error {
		return s.PutEntities(ctx, entities)
	})
}

func getEntities(t tester, c Cell, anchors ...entity.PUID) []*entity.Entity {
	t.Helper()
	return read(t, c, func(ctx context.Context, s entity.Store) ([]*entity.Entity, error) {
		return s.Entities(ctx, anchors)
	})
}

// search returns the anchors that a query finds.
func search(t tester, c Cell, q entity.Query) []entity.PUID {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 1000
	}
	found := read(t, c, func(ctx context.Context, s entity.Store) ([]*entity.Entity, error) { return s.Search(ctx, q) })
	anchors := make([]entity.PUID, len(found))
	for i, e := range found {
		anchors[i] = e.Anchor()
	}
	return anchors
}

// finds fails unless a query finds exactly these anchors.
func finds(t tester, c Cell, q entity.Query, want ...entity.PUID) {
	t.Helper()
	same(t, fmt.Sprintf("search %+v", q), search(t, c, q), want)
}
