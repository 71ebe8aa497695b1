// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	google "github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/locus-db/locus/bench/internal/compare"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/locality/localitypgx"
)

// BenchmarkPgxEncode encodes an ID like pgx encodes a query argument. Passing arguments as interfaces is not
// included: it costs the same for all.
func BenchmarkPgxEncode(b *testing.B) {
	registered, plain := pgtype.NewMap(), pgtype.NewMap()
	localitypgx.Register(registered)
	id := generator(b, nil).New()
	measure(b,
		subject{Peer: "locus", Loop: encode(registered, id)},
		subject{Peer: "google", Loop: encode(plain, google.UUID(id))},
		subject{Peer: "array", Loop: encode(plain, [16]byte(id))},
	)
}

func encode(m *pgtype.Map, id any) loop {
	buf := make([]byte, 0, 64)
	return func(n int) {
		for range n {
			out, err := m.Encode(pgtype.UUIDOID, pgtype.BinaryFormatCode, id, buf)
			compare.Fail(err)
			byteSink = out[7]
		}
	}
}

// BenchmarkPgxScan scans an ID like pgx scans a column.
func BenchmarkPgxScan(b *testing.B) {
	registered, plain := pgtype.NewMap(), pgtype.NewMap()
	localitypgx.Register(registered)
	id := generator(b, nil).New()
	measure(b,
		subject{Peer: "locus", Loop: scan(registered, id[:], new(locality.ID))},
		subject{Peer: "google", Loop: scan(plain, id[:], new(google.UUID))},
		subject{Peer: "array", Loop: scan(plain, id[:], new([16]byte))},
	)
}

func scan(m *pgtype.Map, column []byte, id any) loop {
	return func(n int) {
		for range n {
			compare.Fail(m.Scan(pgtype.UUIDOID, pgtype.BinaryFormatCode, column, id))
		}
	}
}
