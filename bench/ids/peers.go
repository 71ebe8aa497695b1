// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/locus-db/locus/bench/internal/compare"
)

// peer creates, prints or parses IDs; its key follows peer= in a benchmark's name.
type peer struct {
	key   string
	title string
	// kind tells which figures it can be compared with.
	kind kind
	// chars is the length of its text form.
	chars int
	note  string
}

type kind int

const (
	own     kind = iota // Locus
	timed               // the ID contains the time, as in Locus
	random              // no time in the ID
	limited             // waits when the IDs of a millisecond are used up
	floor               // no IDs: the minimum cost of the work
)

// peers in the order in which ties are shown.
var peers = []peer{
	{"locus", "**Locus**", own, 36, ""},
	{"locus-local", "**Locus**, a Local for each goroutine", own, 36, ""},
	{"locus-lease", "**Locus**, Lease of 256", own, 36, ""},
	{"locus-scatter", "**Locus**, order scatter", own, 36, ""},
	{"locus-sequential", "**Locus**, order sequential", own, 36, ""},
	{"locus-odd", "**Locus**, one of three cells", own, 36, "searches up to 30 blocks"},
	{"locus-near", "**Locus**, Near", own, 36, ""},

	{"google", "google/uuid", random, 36, ""},
	{"google-v4", "google/uuid v4", random, 36, "no time"},
	{"google-v4-pooled", "google/uuid v4, EnableRandPool", random, 36, "no time"},
	{"google-v7", "google/uuid v7", timed, 36, ""},
	{"array", "plain [16]byte", random, 0, ""},
	{"gofrs", "gofrs/uuid", random, 36, ""},
	{"gofrs-v4", "gofrs/uuid v4", random, 36, "no time"},
	{"gofrs-v7", "gofrs/uuid v7", timed, 36, ""},
	{"std", "std uuid", random, 36, ""},
	{"std-v4", "std uuid v4", random, 36, "no time"},
	{"std-v7", "std uuid v7", timed, 36, ""},
	{"ulid", "oklog/ulid", timed, 26, "26 characters"},
	{"ksuid", "segmentio/ksuid", timed, 27, "27 characters, seconds"},
	{"xid", "rs/xid", timed, 20, "20 characters, seconds"},
	{"objectid", "MongoDB ObjectID", timed, 24, "24 characters, seconds"},
	{"fastuuid", "rogpeppe/fastuuid", random, 36, "no time: a counter from a random start"},
	{"nuid", "nats-io/nuid", random, 22, "no time; 22 characters, made as text"},
	{"snowflake", "bwmarrin/snowflake", limited, 19, "64 bits; limited to 4,096,000 ids/s by design"},
	{"sonyflake", "sony/sonyflake", limited, 18, "63 bits; limited to 25,600 ids/s by design"},

	{"loop", "empty loop", floor, 0, ""},
	{"monotonic", "monotonic clock, time.Since", floor, 0, ""},
	{"clock", "wall clock, time.Now().UnixMilli()", floor, 0, ""},
}

// peerOf returns the peer with a key.
func peerOf(key string) peer {
	return peers[slices.IndexFunc(peers, func(p peer) bool { return p.key == key })]
}

// suite is the comparison.
var suite = compare.Suite{
	Name:    "bench/ids",
	Package: "github.com/locus-db/locus/bench/ids",
	Works: map[string]compare.Work{
		"New":         {Title: "New", Parallel: true},
		"Fill":        {Title: "Fill of 64, per id", Parallel: true},
		"NewIn":       {Title: "NewIn", Parallel: true},
		"String":      {Title: "String, escaping"},
		"StringLocal": {Title: "String, local"},
		"AppendText":  {Title: "AppendText"},
		"NewString":   {Title: "New + String"},
		"Parse":       {Title: "Parse"},
		"PgxEncode":   {Title: "pgx, encode"},
		"PgxScan":     {Title: "pgx, scan"},
	},
	Peers: known(),
	Goals: goals,
}

func known() (all []compare.Peer) {
	for _, p := range peers {
		all = append(all, compare.Peer{Key: p.key, Title: p.title, Note: p.note, Floor: p.kind == floor})
	}
	return all
}
