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

	"github.com/locus-db/locus/bench/internal/compare"
	"github.com/locus-db/locus/locality"
)

// BenchmarkString keeps the text, as code that sends or stores it does.
func BenchmarkString(b *testing.B) {
	id := generator(b, nil).New()
	other := google.UUID(id)
	another := gofrs.UUID(id)
	lexical, seconds, short, object := ulid.Make(), ksuid.New(), xid.New(), bson.NewObjectID()
	measure(b,
		subject{Peer: "locus", Loop: func(n int) {
			for range n {
				textSink = id.String()
			}
		}},
		subject{Peer: "google", Loop: func(n int) {
			for range n {
				textSink = other.String()
			}
		}},
		subject{Peer: "gofrs", Loop: func(n int) {
			for range n {
				textSink = another.String()
			}
		}},
		subject{Peer: "ulid", Loop: func(n int) {
			for range n {
				textSink = lexical.String()
			}
		}},
		subject{Peer: "ksuid", Loop: func(n int) {
			for range n {
				textSink = seconds.String()
			}
		}},
		subject{Peer: "xid", Loop: func(n int) {
			for range n {
				textSink = short.String()
			}
		}},
		subject{Peer: "objectid", Loop: func(n int) {
			for range n {
				textSink = object.Hex()
			}
		}},
	)
}

// BenchmarkStringLocal uses the text and drops it, like a comparison or a print to a buffer.
func BenchmarkStringLocal(b *testing.B) {
	id := generator(b, nil).New()
	other := google.UUID(id)
	another := gofrs.UUID(id)
	measure(b,
		subject{Peer: "locus", Loop: func(n int) {
			for i := range n {
				text := id.String()
				byteSink += text[i&31]
			}
		}},
		subject{Peer: "google", Loop: func(n int) {
			for i := range n {
				text := other.String()
				byteSink += text[i&31]
			}
		}},
		subject{Peer: "gofrs", Loop: func(n int) {
			for i := range n {
				text := another.String()
				byteSink += text[i&31]
			}
		}},
	)
}

// BenchmarkAppendText writes into an existing buffer.
func BenchmarkAppendText(b *testing.B) {
	id := generator(b, nil).New()
	lexical, seconds, short := ulid.Make(), ksuid.New(), xid.New()
	buf := make([]byte, 0, 64)
	measure(b,
		subject{Peer: "locus", Loop: func(n int) {
			for range n {
				text, err := id.AppendText(buf)
				compare.Fail(err)
				byteSink = text[7]
			}
		}},
		subject{Peer: "ulid", Loop: func(n int) {
			text := buf[:ulid.EncodedSize]
			for range n {
				compare.Fail(lexical.MarshalTextTo(text))
				byteSink = text[7]
			}
		}},
		subject{Peer: "ksuid", Loop: func(n int) {
			for range n {
				byteSink = seconds.Append(buf)[7]
			}
		}},
		subject{Peer: "xid", Loop: func(n int) {
			text := buf[:20]
			for range n {
				byteSink = short.Encode(text)[7]
			}
		}},
	)
}

// BenchmarkNewString mints an ID and keeps its text, like a request handler.
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
	measure(b,
		subject{Peer: "locus", Loop: func(n int) {
			for range n {
				textSink = g.New().String()
			}
		}},
		subject{Peer: "google-v4", Loop: googleV4},
		subject{Peer: "google-v4-pooled", Loop: googleV4, Setup: googlePool},
		subject{Peer: "google-v7", Loop: func(n int) {
			for range n {
				textSink = google.Must(google.NewV7()).String()
			}
		}},
		subject{Peer: "gofrs-v4", Loop: func(n int) {
			for range n {
				textSink = gofrs.Must(gofrs.NewV4()).String()
			}
		}},
		subject{Peer: "gofrs-v7", Loop: func(n int) {
			for range n {
				textSink = gofrs.Must(gofrs.NewV7()).String()
			}
		}},
		subject{Peer: "ulid", Loop: func(n int) {
			for range n {
				textSink = ulid.Make().String()
			}
		}},
		subject{Peer: "ksuid", Loop: func(n int) {
			for range n {
				textSink = ksuid.New().String()
			}
		}},
		subject{Peer: "xid", Loop: func(n int) {
			for range n {
				textSink = xid.New().String()
			}
		}},
		subject{Peer: "objectid", Loop: func(n int) {
			for range n {
				textSink = bson.NewObjectID().Hex()
			}
		}},
		subject{Peer: "fastuuid", Loop: func(n int) {
			for range n {
				textSink = fast.Hex128()
			}
		}},
		subject{Peer: "nuid", Loop: func(n int) {
			for range n {
				textSink = nuid.Next()
			}
		}},
	)
}

// BenchmarkParse parses the text form of each peer.
func BenchmarkParse(b *testing.B) {
	text := generator(b, nil).New().String()
	lexical, seconds, short, object := ulid.Make().String(), ksuid.New().String(), xid.New().String(), bson.NewObjectID().Hex()
	measure(b,
		subject{Peer: "locus", Loop: func(n int) {
			for range n {
				id, err := locality.Parse(text)
				compare.Fail(err)
				id16Sink = id
			}
		}},
		subject{Peer: "google", Loop: func(n int) {
			for range n {
				id, err := google.Parse(text)
				compare.Fail(err)
				id16Sink = id
			}
		}},
		subject{Peer: "gofrs", Loop: func(n int) {
			for range n {
				id, err := gofrs.FromString(text)
				compare.Fail(err)
				id16Sink = id
			}
		}},
		subject{Peer: "ulid", Loop: func(n int) {
			for range n {
				id, err := ulid.Parse(lexical)
				compare.Fail(err)
				id16Sink = id
			}
		}},
		subject{Peer: "ksuid", Loop: func(n int) {
			for range n {
				id, err := ksuid.Parse(seconds)
				compare.Fail(err)
				id20Sink = id
			}
		}},
		subject{Peer: "xid", Loop: func(n int) {
			for range n {
				id, err := xid.FromString(short)
				compare.Fail(err)
				id12Sink = id
			}
		}},
		subject{Peer: "objectid", Loop: func(n int) {
			for range n {
				id, err := bson.ObjectIDFromHex(object)
				compare.Fail(err)
				id12Sink = id
			}
		}},
	)
}
