// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	gofrs "github.com/gofrs/uuid/v5"
	google "github.com/google/uuid"
	"github.com/nats-io/nuid"
	"github.com/oklog/ulid/v2"
	"github.com/rogpeppe/fastuuid"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/locus-db/locus/locality"
)

// BenchmarkString keeps the text, as whoever sends or stores it does.
func BenchmarkString(b *testing.B) {
	id := generator(b, nil).New()
	other := google.UUID(id)
	another := gofrs.UUID(id)
	lexical, seconds, short, object := ulid.Make(), ksuid.New(), xid.New(), bson.NewObjectID()
	compare(b,
		subject{peer: "locus", loop: func(n int) {
			for range n {
				textSink = id.String()
			}
		}},
		subject{peer: "google", loop: func(n int) {
			for range n {
				textSink = other.String()
			}
		}},
		subject{peer: "gofrs", loop: func(n int) {
			for range n {
				textSink = another.String()
			}
		}},
		subject{peer: "ulid", loop: func(n int) {
			for range n {
				textSink = lexical.String()
			}
		}},
		subject{peer: "ksuid", loop: func(n int) {
			for range n {
				textSink = seconds.String()
			}
		}},
		subject{peer: "xid", loop: func(n int) {
			for range n {
				textSink = short.String()
			}
		}},
		subject{peer: "objectid", loop: func(n int) {
			for range n {
				textSink = object.Hex()
			}
		}},
	)
}

// BenchmarkStringLocal looks at the text and drops it, as a comparison or a print to a buffer does.
func BenchmarkStringLocal(b *testing.B) {
	id := generator(b, nil).New()
	other := google.UUID(id)
	another := gofrs.UUID(id)
	compare(b,
		subject{peer: "locus", loop: func(n int) {
			for i := range n {
				text := id.String()
				byteSink += text[i&31]
			}
		}},
		subject{peer: "google", loop: func(n int) {
			for i := range n {
				text := other.String()
				byteSink += text[i&31]
			}
		}},
		subject{peer: "gofrs", loop: func(n int) {
			for i := range n {
				text := another.String()
				byteSink += text[i&31]
			}
		}},
	)
}

// BenchmarkAppendText writes into a buffer that is there.
func BenchmarkAppendText(b *testing.B) {
	id := generator(b, nil).New()
	lexical, seconds, short := ulid.Make(), ksuid.New(), xid.New()
	buf := make([]byte, 0, 64)
	compare(b,
		subject{peer: "locus", loop: func(n int) {
			for range n {
				text, err := id.AppendText(buf)
				fail(err)
				byteSink = text[7]
			}
		}},
		subject{peer: "ulid", loop: func(n int) {
			text := buf[:ulid.EncodedSize]
			for range n {
				fail(lexical.MarshalTextTo(text))
				byteSink = text[7]
			}
		}},
		subject{peer: "ksuid", loop: func(n int) {
			for range n {
				byteSink = seconds.Append(buf)[7]
			}
		}},
		subject{peer: "xid", loop: func(n int) {
			text := buf[:20]
			for range n {
				byteSink = short.Encode(text)[7]
			}
		}},
	)
}

// BenchmarkNewString mints an id and keeps its text, as a handler of requests does.
func BenchmarkNewString(b *testing.B) {
	g := generator(b, nil)
	fast, err := fastuuid.NewGenerator()
	if err != nil {
		b.Fatal(err)
	}
	googleV4 := func(n int) {
		for range n {
			textSink = google.NewString()
		}
	}
	compare(b,
		subject{peer: "locus", loop: func(n int) {
			for range n {
				textSink = g.New().String()
			}
		}},
		subject{peer: "google-v4", loop: googleV4},
		subject{peer: "google-v4-pooled", loop: googleV4, setup: googlePool},
		subject{peer: "google-v7", loop: func(n int) {
			for range n {
				textSink = google.Must(google.NewV7()).String()
			}
		}},
		subject{peer: "gofrs-v4", loop: func(n int) {
			for range n {
				textSink = gofrs.Must(gofrs.NewV4()).String()
			}
		}},
		subject{peer: "gofrs-v7", loop: func(n int) {
			for range n {
				textSink = gofrs.Must(gofrs.NewV7()).String()
			}
		}},
		subject{peer: "ulid", loop: func(n int) {
			for range n {
				textSink = ulid.Make().String()
			}
		}},
		subject{peer: "ksuid", loop: func(n int) {
			for range n {
				textSink = ksuid.New().String()
			}
		}},
		subject{peer: "xid", loop: func(n int) {
			for range n {
				textSink = xid.New().String()
			}
		}},
		subject{peer: "objectid", loop: func(n int) {
			for range n {
				textSink = bson.NewObjectID().Hex()
			}
		}},
		subject{peer: "fastuuid", loop: func(n int) {
			for range n {
				textSink = fast.Hex128()
			}
		}},
		subject{peer: "nuid", loop: func(n int) {
			for range n {
				textSink = nuid.Next()
			}
		}},
	)
}

// BenchmarkParse reads a text of everybody's own form.
func BenchmarkParse(b *testing.B) {
	text := generator(b, nil).New().String()
	lexical, seconds, short, object := ulid.Make().String(), ksuid.New().String(), xid.New().String(), bson.NewObjectID().Hex()
	compare(b,
		subject{peer: "locus", loop: func(n int) {
			for range n {
				id, err := locality.Parse(text)
				fail(err)
				id16Sink = id
			}
		}},
		subject{peer: "google", loop: func(n int) {
			for range n {
				id, err := google.Parse(text)
				fail(err)
				id16Sink = id
			}
		}},
		subject{peer: "gofrs", loop: func(n int) {
			for range n {
				id, err := gofrs.FromString(text)
				fail(err)
				id16Sink = id
			}
		}},
		subject{peer: "ulid", loop: func(n int) {
			for range n {
				id, err := ulid.Parse(lexical)
				fail(err)
				id16Sink = id
			}
		}},
		subject{peer: "ksuid", loop: func(n int) {
			for range n {
				id, err := ksuid.Parse(seconds)
				fail(err)
				id20Sink = id
			}
		}},
		subject{peer: "xid", loop: func(n int) {
			for range n {
				id, err := xid.FromString(short)
				fail(err)
				id12Sink = id
			}
		}},
		subject{peer: "objectid", loop: func(n int) {
			for range n {
				id, err := bson.ObjectIDFromHex(object)
				fail(err)
				id12Sink = id
			}
		}},
	)
}
