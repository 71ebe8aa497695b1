// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"
	gofrs "github.com/gofrs/uuid/v5"
	google "github.com/google/uuid"
	"github.com/nats-io/nuid"
	"github.com/oklog/ulid/v2"
	"github.com/rogpeppe/fastuuid"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	"github.com/sony/sonyflake/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/locus-db/locus/bench/internal/compare"
	"github.com/locus-db/locus/locality"
)

func BenchmarkNew(b *testing.B) {
	g := generator(b, nil)
	subjects := append(floors(),
		subject{Peer: "locus", Loop: mint(g)},
		subject{Peer: "locus-local", Each: func() loop { return mintLocal(g.Local()) }},
		subject{Peer: "locus-lease", Loop: mint(generator(b, &locality.Options{Lease: 256}))},
		subject{Peer: "locus-scatter", Loop: mint(generator(b, &locality.Options{Order: locality.Scatter}))},
		subject{Peer: "locus-sequential", Loop: mint(generator(b, &locality.Options{Order: locality.Sequential}))},
	)
	measure(b, append(subjects, minters(b)...)...)
}

func BenchmarkFill(b *testing.B) {
	g := generator(b, nil)
	measure(b, subject{Peer: "locus", Loop: func(n int) {
		ids := make([]locality.ID, 64)
		for n > 0 {
			part := ids[:min(n, len(ids))]
			g.Fill(part)
			n -= len(part)
		}
		runtime.KeepAlive(ids)
	}})
}

func BenchmarkNewIn(b *testing.B) {
	g := generator(b, nil)
	near := generator(b, nil)
	parent := near.New()
	measure(b,
		monotonic(),
		subject{Peer: "locus", Loop: mintIn(g, locality.Segment{Lo: 2 << 28, Hi: 3 << 28})},
		subject{Peer: "locus-odd", Loop: mintIn(g, locality.Segment{Lo: 1431655766, Hi: 2863311531})},
		subject{Peer: "locus-near", Loop: func(n int) {
			var id locality.ID
			for range n {
				id = near.Near(parent)
			}
			runtime.KeepAlive(id)
		}},
	)
}

func mint(g *locality.Generator) loop {
	return func(n int) {
		var id locality.ID
		for range n {
			id = g.New()
		}
		runtime.KeepAlive(id)
	}
}

func mintLocal(l *locality.Local) loop {
	return func(n int) {
		var id locality.ID
		for range n {
			id = l.New()
		}
		runtime.KeepAlive(id)
	}
}

func mintIn(g *locality.Generator, s locality.Segment) loop {
	return func(n int) {
		var id locality.ID
		var err error
		for range n {
			id, err = g.NewIn(s)
			compare.Fail(err)
		}
		runtime.KeepAlive(id)
	}
}

// floors are lower bounds of minting: the loop itself, and reading the clocks.
func floors() []subject {
	return []subject{
		{Peer: "loop", Loop: func(n int) {
			for i := range n {
				runtime.KeepAlive(i)
			}
		}},
		monotonic(),
		{Peer: "clock", Loop: func(n int) {
			var ms int64
			for range n {
				ms = time.Now().UnixMilli()
			}
			runtime.KeepAlive(ms)
		}},
	}
}

func monotonic() subject {
	start := time.Now()
	return subject{Peer: "monotonic", Loop: func(n int) {
		var d time.Duration
		for range n {
			d = time.Since(start)
		}
		runtime.KeepAlive(d)
	}}
}

// minters are the peers that mint, except for the standard library.
func minters(b *testing.B) []subject {
	fast, err := fastuuid.NewGenerator()
	if err != nil {
		b.Fatal(err)
	}
	snow, err := snowflake.NewNode(1)
	if err != nil {
		b.Fatal(err)
	}
	// The machine's address is not used: it may have none.
	sony, err := sonyflake.New(sonyflake.Settings{MachineID: func() (int, error) { return 1, nil }})
	if err != nil {
		b.Fatal(err)
	}
	googleV4 := func(n int) {
		var id google.UUID
		for range n {
			id = google.New()
		}
		runtime.KeepAlive(id)
	}
	return []subject{
		{Peer: "google-v4", Loop: googleV4},
		{Peer: "google-v4-pooled", Loop: googleV4, Setup: googlePool},
		{Peer: "google-v7", Loop: func(n int) {
			var id google.UUID
			for range n {
				id = google.Must(google.NewV7())
			}
			runtime.KeepAlive(id)
		}},
		{Peer: "gofrs-v4", Loop: func(n int) {
			var id gofrs.UUID
			for range n {
				id = gofrs.Must(gofrs.NewV4())
			}
			runtime.KeepAlive(id)
		}},
		{Peer: "gofrs-v7", Loop: func(n int) {
			var id gofrs.UUID
			for range n {
				id = gofrs.Must(gofrs.NewV7())
			}
			runtime.KeepAlive(id)
		}},
		{Peer: "ulid", Loop: func(n int) {
			var id ulid.ULID
			for range n {
				id = ulid.Make()
			}
			runtime.KeepAlive(id)
		}},
		{Peer: "ksuid", Loop: func(n int) {
			var id ksuid.KSUID
			for range n {
				id = ksuid.New()
			}
			runtime.KeepAlive(id)
		}},
		{Peer: "xid", Loop: func(n int) {
			var id xid.ID
			for range n {
				id = xid.New()
			}
			runtime.KeepAlive(id)
		}},
		{Peer: "objectid", Loop: func(n int) {
			var id bson.ObjectID
			for range n {
				id = bson.NewObjectID()
			}
			runtime.KeepAlive(id)
		}},
		{Peer: "fastuuid", Loop: func(n int) {
			var id [24]byte
			for range n {
				id = fast.Next()
			}
			runtime.KeepAlive(id)
		}},
		{Peer: "nuid", Loop: func(n int) {
			var id string
			for range n {
				id = nuid.Next()
			}
			runtime.KeepAlive(id)
		}},
		{Peer: "snowflake", Loop: func(n int) {
			var id snowflake.ID
			for range n {
				id = snow.Generate()
			}
			runtime.KeepAlive(id)
		}},
		{Peer: "sonyflake", Loop: func(n int) {
			var id int64
			var err error
			for range n {
				id, err = sony.NextID()
				compare.Fail(err)
			}
			runtime.KeepAlive(id)
		}},
	}
}

// googlePool makes google/uuid read randomness in large pieces, which affects all its functions.
func googlePool() (undo func()) {
	google.EnableRandPool()
	return google.DisableRandPool
}
