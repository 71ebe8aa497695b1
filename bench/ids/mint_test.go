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

	"github.com/locus-db/locus/locality"
)

func BenchmarkNew(b *testing.B) {
	g := generator(b, nil)
	subjects := append(floors(),
		subject{peer: "locus", loop: mint(g)},
		subject{peer: "locus-local", each: func() loop { return mintLocal(g.Local()) }},
		subject{peer: "locus-lease", loop: mint(generator(b, &locality.Options{Lease: 256}))},
		subject{peer: "locus-scatter", loop: mint(generator(b, &locality.Options{Order: locality.Scatter}))},
		subject{peer: "locus-sequential", loop: mint(generator(b, &locality.Options{Order: locality.Sequential}))},
	)
	compare(b, append(subjects, minters(b)...)...)
}

func BenchmarkFill(b *testing.B) {
	g := generator(b, nil)
	compare(b, subject{peer: "locus", loop: func(n int) {
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
	compare(b,
		monotonic(),
		subject{peer: "locus", loop: mintIn(g, locality.Segment{Lo: 2 << 28, Hi: 3 << 28})},
		subject{peer: "locus-odd", loop: mintIn(g, locality.Segment{Lo: 1431655766, Hi: 2863311531})},
		subject{peer: "locus-near", loop: func(n int) {
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
			fail(err)
		}
		runtime.KeepAlive(id)
	}
}

// floors are what minting cannot go below: the loop itself, and the clocks in it.
func floors() []subject {
	return []subject{
		{peer: "loop", loop: func(n int) {
			for i := range n {
				runtime.KeepAlive(i)
			}
		}},
		monotonic(),
		{peer: "clock", loop: func(n int) {
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
	return subject{peer: "monotonic", loop: func(n int) {
		var d time.Duration
		for range n {
			d = time.Since(start)
		}
		runtime.KeepAlive(d)
	}}
}

// minters are the peers that mint, but for the standard library.
func minters(b *testing.B) []subject {
	fast, err := fastuuid.NewGenerator()
	if err != nil {
		b.Fatal(err)
	}
	snow, err := snowflake.NewNode(1)
	if err != nil {
		b.Fatal(err)
	}
	// The machine's address is not asked: it may have none.
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
		{peer: "google-v4", loop: googleV4},
		{peer: "google-v4-pooled", loop: googleV4, setup: googlePool},
		{peer: "google-v7", loop: func(n int) {
			var id google.UUID
			for range n {
				id = google.Must(google.NewV7())
			}
			runtime.KeepAlive(id)
		}},
		{peer: "gofrs-v4", loop: func(n int) {
			var id gofrs.UUID
			for range n {
				id = gofrs.Must(gofrs.NewV4())
			}
			runtime.KeepAlive(id)
		}},
		{peer: "gofrs-v7", loop: func(n int) {
			var id gofrs.UUID
			for range n {
				id = gofrs.Must(gofrs.NewV7())
			}
			runtime.KeepAlive(id)
		}},
		{peer: "ulid", loop: func(n int) {
			var id ulid.ULID
			for range n {
				id = ulid.Make()
			}
			runtime.KeepAlive(id)
		}},
		{peer: "ksuid", loop: func(n int) {
			var id ksuid.KSUID
			for range n {
				id = ksuid.New()
			}
			runtime.KeepAlive(id)
		}},
		{peer: "xid", loop: func(n int) {
			var id xid.ID
			for range n {
				id = xid.New()
			}
			runtime.KeepAlive(id)
		}},
		{peer: "objectid", loop: func(n int) {
			var id bson.ObjectID
			for range n {
				id = bson.NewObjectID()
			}
			runtime.KeepAlive(id)
		}},
		{peer: "fastuuid", loop: func(n int) {
			var id [24]byte
			for range n {
				id = fast.Next()
			}
			runtime.KeepAlive(id)
		}},
		{peer: "nuid", loop: func(n int) {
			var id string
			for range n {
				id = nuid.Next()
			}
			runtime.KeepAlive(id)
		}},
		{peer: "snowflake", loop: func(n int) {
			var id snowflake.ID
			for range n {
				id = snow.Generate()
			}
			runtime.KeepAlive(id)
		}},
		{peer: "sonyflake", loop: func(n int) {
			var id int64
			var err error
			for range n {
				id, err = sony.NextID()
				fail(err)
			}
			runtime.KeepAlive(id)
		}},
	}
}

// googlePool makes google/uuid read randomness in large pieces. All its functions then do so.
func googlePool() (undo func()) {
	google.EnableRandPool()
	return google.DisableRandPool
}
