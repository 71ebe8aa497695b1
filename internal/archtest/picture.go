// SPDX-License-Identifier: Apache-2.0

package archtest

// Module is the path of the module.
const Module = "github.com/locus-db/locus"

// Rule lists what the production code of a package may import besides the standard library.
type Rule struct {
	// Imports are packages of this module, without the module's path; "" is package locus.
	Imports []string
	// Modules are third-party modules; their packages are included.
	Modules []string
	// Tests are third-party modules that only its tests import, besides TestModules.
	Tests []string
}

// Modules by the names used below.
const (
	brotli     = "github.com/andybalholm/brotli"
	chromedp   = "github.com/chromedp/chromedp"
	cdproto    = "github.com/chromedp/cdproto"
	cobra      = "github.com/spf13/cobra"
	goJose     = "github.com/go-jose/go-jose/v4"
	goOIDC     = "github.com/coreos/go-oidc/v3"
	oauth2     = "golang.org/x/oauth2"
	compress   = "github.com/klauspost/compress"
	datadriven = "github.com/cockroachdb/datadriven"
	excelize   = "github.com/xuri/excelize/v2"
	geo        = "github.com/golang/geo"
	goCmp      = "github.com/google/go-cmp"
	goInternal = "github.com/rogpeppe/go-internal"
	goleak     = "go.uber.org/goleak"
	goose      = "github.com/pressly/goose/v3"
	googleUUID = "github.com/google/uuid"
	jsonText   = "github.com/go-json-experiment/json"
	huma       = "github.com/danielgtaylor/huma/v2"
	lipgloss   = "charm.land/lipgloss/v2"
	lz4        = "github.com/pierrec/lz4/v4"
	mcpSDK     = "github.com/modelcontextprotocol/go-sdk"
	mongo      = "go.mongodb.org/mongo-driver/v2"
	mysql      = "github.com/go-sql-driver/mysql"
	otel       = "go.opentelemetry.io/otel"
	otelExport = "go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	otelSDK    = "go.opentelemetry.io/otel/sdk"
	otelTrace  = "go.opentelemetry.io/otel/trace"
	otlp       = "go.opentelemetry.io/proto/otlp"
	parquetGo  = "github.com/parquet-go/parquet-go"
	pflag      = "github.com/spf13/pflag"
	pgx        = "github.com/jackc/pgx/v5"
	pglogrepl  = "github.com/jackc/pglogrepl"
	phones     = "github.com/nyaruka/phonenumbers"
	porcupine  = "github.com/anishathalye/porcupine"
	prometheus = "github.com/prometheus/client_golang"
	protobuf   = "google.golang.org/protobuf"
	rapid      = "pgregory.net/rapid"
	franz      = "github.com/twmb/franz-go"
	kmsg       = "github.com/twmb/franz-go/pkg/kmsg"
	kfake      = "github.com/twmb/franz-go/pkg/kfake"
	natsClient = "github.com/nats-io/nats.go"
	natsServer = "github.com/nats-io/nats-server/v2"
	smetrics   = "github.com/xrash/smetrics"
	sqlite     = "modernc.org/sqlite"
	libc       = "modernc.org/libc" // the runtime of SQLite, which is translated from C
	standard   = "github.com/standard-webhooks/standard-webhooks/libraries"
	xNet       = "golang.org/x/net"
	xSync      = "golang.org/x/sync"
	xSys       = "golang.org/x/sys"
	xTerm      = "golang.org/x/term"
	xTime      = "golang.org/x/time"
	xText      = "golang.org/x/text"
	xorfilter  = "github.com/FastFilter/xorfilter"
	xxhash     = "github.com/cespare/xxhash/v2"
	yaml       = "go.yaml.in/yaml/v3"
)

// Libraries are the packages that are useful on their own. They import Pure modules and each other.
var Libraries = []string{"locality", "cell", "entity", "changelog", "lease", "match", "resolve", "resolve/derived",
	"rollup", "counter", "audit", "mirror", "sink", "source", "storage", "secret"}

// Shared are the internal packages that libraries may import: classes of errors and problems of inputs, the key
// protocol, checks of identifiers, the reader of definitions, waiting, and the interface of traces.
var Shared = []string{"internal/problem", "internal/protocol", "internal/identifier", "internal/definition",
	"internal/delay", "internal/span"}

// conformance is the common part of the suites of the Stores; a suite of a library may import it.
const conformance = "internal/conformance"

// Pure are the third-party modules that a library may import: no I/O, no global state. YAML is included because
// definitions of rollups and kinds are written in it and errors must give the line.
var Pure = []string{xxhash, xSync, xText, xNet, geo, xorfilter, yaml, compress}

// TestModules may be imported by the tests of any package, like Pure ones, but by production code only in the
// conformance suites, which list them below.
var TestModules = []string{
	rapid, goCmp, goleak, datadriven, goInternal, chromedp, cdproto, smetrics, porcupine,
}

// Picture maps every package to the packages that it may import.
var Picture = map[string]Rule{
	"locality":          {Tests: []string{mongo, googleUUID}},
	"internal/protocol": {},
	"cell": {Imports: []string{"internal/delay", "internal/problem", "internal/protocol", "locality",
		"lease"}, Modules: []string{xxhash, xSync, xorfilter}},
	"entity":            {Imports: []string{"internal/problem", "locality"}, Modules: []string{xxhash}},
	"changelog":         {Imports: []string{"cell", "entity", "internal/problem", "locality"}},
	"internal/estimate": {},
	"internal/learn":    {Imports: []string{"match"}},
	"match": {Imports: []string{"internal/definition", "internal/problem"},
		Modules: []string{xxhash, xText, xNet, geo, compress}},
	// Not a library, because it imports a driver: the only exception.
	"locality/localitypgx": {Imports: []string{"locality"}, Modules: []string{pgx}, Tests: []string{googleUUID}},
	"resolve": {
		Imports: []string{"cell", "changelog", "counter", "entity", "internal/delay", "internal/problem", "lease", "locality",
			"match", "resolve/derived", "storage", "internal/span"},
		Modules: []string{xxhash},
	},
	// The rows that resolve derives, and the Store that a backend implements for them; no logic.
	"resolve/derived":     {Imports: []string{"entity", "match"}},
	"audit":               {},
	"lease":               {Imports: []string{"internal/delay"}},
	"secret":              {},
	"internal/identifier": {},
	"internal/definition": {Imports: []string{"internal/problem"}, Modules: []string{yaml}},
	"counter": {Imports: []string{"internal/identifier", "internal/problem"},
		Modules: []string{xSync, compress}},
	"rollup": {
		Imports: []string{"changelog", "internal/definition", "internal/problem", "lease"},
		Modules: []string{xxhash},
	},
	// The counters of a store that writes one document at a time, on the side of storage/mongodb.
	"internal/perdocument":                   {Imports: []string{"counter"}},
	"internal/conformance/countertest/model": {Imports: []string{"counter"}},
	"internal/documents":                     {Imports: []string{"changelog", "rollup"}},
	"mirror": {Imports: []string{"cell", "changelog", "entity", "internal/delay",
		"locality"}, Modules: []string{xSync}},
	"sink": {Imports: []string{"cell", "changelog", "lease", "locality", "mirror",
		"internal/span", "secret"}, Modules: []string{xSync, xxhash}},
	"sink/file": {Imports: []string{"internal/exchange", "locality", "sink"},
		Modules: []string{parquetGo}},
	"sink/kafka": {Imports: []string{"internal/delay", "internal/kafkatopic", "internal/span",
		"locality", "sink", "secret"}, Modules: []string{franz, kmsg}, Tests: []string{kfake}},
	"sink/mongodb": {Imports: []string{"locality", "sink", "storage/mongodb", "secret"},
		Modules: []string{mongo}},
	"sink/nats": {Imports: []string{"internal/natsurl", "internal/span", "locality", "sink",
		"secret"}, Modules: []string{natsClient, xSync}, Tests: []string{natsServer}},
	"sink/postgres": {Imports: []string{"locality", "sink", "secret"}, Modules: []string{pgx}},
	"sink/webhook":  {Imports: []string{"sink", "internal/outbound", "internal/span"}, Tests: []string{standard}},
	"source": {Imports: []string{"entity", "internal/delay", "lease",
		"internal/span", "secret"}},
	"source/kafka": {Imports: []string{"internal/kafkatopic", "source"},
		Modules: []string{franz, kmsg}, Tests: []string{kfake}},
	"source/postgres": {Imports: []string{"source"}, Modules: []string{pgx, pglogrepl}},
	"source/nats": {Imports: []string{"internal/natsurl", "source"},
		Modules: []string{natsClient}, Tests: []string{natsServer}},
	"internal/kafkatopic": {Imports: []string{"secret"}, Modules: []string{franz, kmsg}},
	"internal/natsurl":    {Imports: []string{"secret"}, Modules: []string{natsClient}},
	"internal/mutant":     {},
	"internal/span":       {},
	"internal/delay":      {},

	// A suite imports its subject, what the subject imports, and test libraries.
	conformance:                     {Modules: []string{rapid, goCmp}},
	"internal/conformance/celltest": {Imports: []string{"cell", conformance}, Modules: []string{rapid, xSync}},
	"internal/conformance/copytest": {
		Imports: []string{
			"audit", "cell", "changelog", "counter", "entity", "locality", "match", "resolve/derived", "rollup", "storage",
			conformance,
		},
		Modules: []string{goCmp},
	},
	"internal/conformance/entitytest": {Imports: []string{"entity", "locality", conformance},
		Modules: []string{rapid, goCmp}},
	"internal/conformance/changelogtest": {Imports: []string{"changelog", "entity", "locality", conformance},
		Modules: []string{rapid, goCmp}},
	"internal/conformance/audittest": {Imports: []string{"audit", conformance}},
	"internal/conformance/leasetest": {Imports: []string{"lease", conformance}},
	"internal/conformance/countertest": {Imports: []string{"counter", "internal/conformance/countertest/model",
		conformance}, Modules: []string{rapid, goCmp}},
	"internal/conformance/perdocumenttest": {
		Imports: []string{"counter", "internal/conformance/countertest", "internal/conformance/countertest/model",
			"internal/perdocument", conformance}, Modules: []string{goCmp},
	},
	"internal/conformance/mirrortest": {Imports: []string{"mirror", "cell", "changelog", "entity", "locality",
		conformance}, Modules: []string{goCmp}},
	"sink/sinktest": {Imports: []string{"sink", "cell", "changelog", "lease", "locality", conformance},
		Modules: []string{goCmp}},
	"source/sourcetest": {Imports: []string{"source", "entity", "lease", conformance}},
	"internal/conformance/rolluptest": {Imports: []string{"rollup", "changelog", conformance},
		Modules: []string{rapid, goCmp}},
	"internal/conformance/documentstest": {
		Imports: []string{"changelog", "internal/documents", "internal/conformance/rolluptest", conformance},
		Modules: []string{rapid, goCmp},
	},
	// The suites of all Stores, in one call.
	"storage/storagetest": {
		Imports: []string{
			"storage", "resolve/derived", "match", "locality", conformance, "audit", "internal/conformance/audittest", "cell",
			"internal/conformance/celltest", "internal/conformance/copytest", "changelog", "internal/conformance/changelogtest",
			"counter", "internal/longtest", "internal/conformance/countertest", "entity", "internal/conformance/entitytest",
			"lease", "internal/conformance/leasetest", "rollup", "internal/conformance/rolluptest",
		},
		Modules: []string{rapid, goCmp},
	},

	"storage/sqlite": {
		Imports: []string{
			"audit", "storage/internal/breaker", "storage/internal/document", "cell", "changelog", "counter", "entity", "lease",
			"locality", "match",
			"resolve/derived", "rollup", "storage", "storage/internal/posting", "internal/span",
		},
		Modules: []string{sqlite, libc, goose, xSys, xSync, xxhash},
	},
	"storage/postgres": {
		Imports: []string{
			"audit", "storage/internal/breaker", "storage/internal/document", "cell", "changelog", "counter", "entity",
			"internal/delay", "lease", "locality",
			"locality/localitypgx", "match", "resolve/derived", "rollup", "storage", "storage/internal/posting", "internal/span",
		},
		Modules: []string{pgx, goose, xxhash},
	},
	"storage/mongodb": {Imports: []string{"secret", "cell", "counter", "internal/delay", "internal/perdocument", "mirror",
		"rollup", "internal/documents", "changelog", "entity", "locality"}, Modules: []string{mongo, xSync}},
	// The documents that every backend stores.
	"storage/internal/document": {Imports: []string{"cell", "entity", "changelog", "storage/internal/posting"}},
	// Postings as rows, without a database.
	"storage/internal/posting": {Imports: []string{"cell", "entity", "resolve/derived"},
		Modules: []string{xxhash, xorfilter}},
	"storage/internal/breaker": {Imports: []string{"cell", "internal/delay"}},
	"storage/all":              {Imports: []string{"storage/postgres", "storage/sqlite"}},

	// storage.Tx is the union of the Stores below it. storage knows backends only by their registration.
	"storage": {Imports: []string{"audit", "cell", "changelog", "counter", "entity", "internal/problem", "lease", "resolve/derived", "rollup"}, Tests: []string{pgx}}, // for tests that damage rows directly

	// Reads across cells, and above that a package per noun.
	"internal/problem": {},
	"internal/engine": {
		Imports: []string{"cell", "entity", "internal/problem", "locality", "match", "resolve", "storage", "internal/span"},
		Modules: []string{xSync},
	},
	// The processes that share cells send each other writes.
	"internal/peer": {Imports: []string{"cell", "changelog", "entity", "internal/listen", "internal/problem", "locality",
		"resolve", "secret"}},
	// An installation as a file, and back.
	"internal/snapshot": {Imports: []string{"cell", "changelog", "internal/engine", "storage"}, Modules: []string{xSync}},
	"internal/backup": {Imports: []string{"cell", "internal/engine", "internal/problem", "internal/snapshot", "storage"},
		Modules: []string{compress, xSync}},
	"internal/dump": {
		Imports: []string{
			"cell", "changelog", "counter", "entity", "internal/engine", "internal/problem", "internal/snapshot", "locality",
			"resolve", "rollup",
			"sinks", "sources", "storage",
		},
		Modules: []string{compress},
	},
	"records": {
		Imports: []string{
			"cell", "changelog", "entity", "internal/identifier", "internal/engine", "internal/problem", "locality", "match",
			"resolve", "storage",
		},
	},
	"entities": {
		Imports: []string{
			"cell", "changelog", "entity", "internal/engine", "internal/problem", "internal/spell", "locality", "match",
			"records", "resolve", "resolve/derived", "storage",
		},
	},
	"internal/spell":  {}, // the words near a misspelled one
	"internal/access": {}, // who may call which routes
	"internal/listen": {}, // where a server may listen
	// An authority that signs the certificates of clients, for tests.
	"internal/listen/listentest": {},
	// People who sign in through an identity provider; alone imports its protocol. logintest is a provider that
	// misbehaves.
	"internal/login":           {Imports: []string{"secret", "internal/access"}, Modules: []string{goOIDC, oauth2}},
	"internal/login/logintest": {Modules: []string{goJose}},
	"decisions": {
		Imports: []string{
			"cell", "changelog", "entities", "entity", "internal/engine", "internal/problem", "locality", "match", "records",
			"resolve", "storage",
		},
	},
	// The compared pairs of a sample of records.
	"internal/survey": {Imports: []string{"entity", "internal/engine", "match", "resolve/derived", "storage"}},
	"review": {
		Imports: []string{
			"cell", "decisions", "entities", "entity", "internal/engine", "internal/learn", "internal/problem",
			"internal/survey", "locality", "match", "resolve", "resolve/derived", "storage",
		},
	},
	"quality": {
		Imports: []string{
			"entity", "internal/engine", "internal/estimate", "internal/problem", "internal/survey", "locality", "match",
			"resolve/derived",
		},
	},
	"changes": {
		Imports: []string{"cell", "changelog", "entity", "internal/engine", "internal/problem", "locality",
			"mirror", "storage"},
	},
	"explain": {
		Imports: []string{
			"cell", "changes", "decisions", "entities", "entity", "internal/engine", "internal/problem",
			"locality", "match", "records", "resolve", "resolve/derived", "storage",
		},
	},
	"kinds": {Imports: []string{"entity", "internal/engine", "internal/problem", "lease", "locality", "match", "resolve",
		"resolve/derived", "storage"}},
	"rollups": {Imports: []string{"cell", "changelog", "changes", "entity", "internal/engine", "internal/problem", "lease",
		"rollup", "storage"}},
	"sinks": {Imports: []string{"secret", "cell", "changes", "internal/engine", "internal/problem",
		"internal/running", "lease", "locality", "rollup", "sink", "storage"}},
	// The runners of sinks and of streams.
	"internal/running": {Imports: []string{"internal/engine", "lease", "storage"}},
	"tokens":           {Imports: []string{"internal/access", "internal/engine", "internal/problem", "storage"}},
	"audits":           {Imports: []string{"audit", "internal/engine", "internal/problem", "storage"}},
	"sources": {
		Imports: []string{"secret", "cell", "entity", "internal/engine", "internal/problem",
			"internal/running", "match", "records", "resolve", "source", "storage"},
		Tests: []string{natsServer, natsClient},
	},
	"counters": {Imports: []string{"cell", "counter", "internal/engine", "internal/problem", "storage"}},
	"cells": {
		Imports: []string{
			"audits", "cell", "counter", "entity", "internal/engine", "resolve", "rollups", "storage",
		},
	},

	"": {
		Imports: []string{
			"audits", "cells", "changes", "counter", "counters", "decisions", "entities", "explain",
			"internal/backup", "internal/dump", "internal/engine", "internal/peer", "internal/problem", "kinds", "locality",
			"match", "quality", "records", "resolve", "review", "rollups",
			"sinks", "sources", "storage", "tokens", "internal/span",
		},
	},

	"internal/apigen": {},
	"client":          {Imports: []string{"secret", "counter", "internal/delay", "internal/problem"}},
	"internal/console": {Imports: []string{
		"", "cell", "cells", "changelog", "changes", "counter", "decisions", "entities", "entity", "explain", "kinds",
		"locality", "match", "quality", "records", "resolve", "review", "rollup", "rollups",
	}},
	"internal/strictjson": {Modules: []string{jsonText}},
	"internal/buildinfo":  {},
	"internal/obs": {
		Imports: []string{"cell", "cells", "counter", "internal/buildinfo", "internal/delay", "internal/span", "resolve",
			"rollups", "sink", "source"},
		Modules: []string{prometheus, otel, otelSDK, otelTrace, otelExport, otlp, protobuf},
	},
	"internal/httpapi": {
		Imports: []string{
			"", "audit", "cell", "cells", "changelog", "changes", "internal/access", "internal/console", "counter", "decisions",
			"entities", "entity",
			"explain", "internal/buildinfo", "internal/bulk", "internal/chart", "internal/exchange", "internal/export",
			"internal/listen", "internal/login", "internal/obs", "internal/strictjson", "kinds", "lease", "locality", "match",
			"mirror", "quality", "records", "resolve", "review", "rollup", "rollups", "sink", "sinks", "source", "sources", "tokens",
			"internal/span",
		},
		Modules: []string{huma, xTime},
	},
	"internal/term":     {Modules: []string{lipgloss}},
	"internal/chart":    {},
	"internal/exchange": {Imports: []string{"internal/strictjson"}, Modules: []string{parquetGo}},
	"internal/export": {
		Imports: []string{
			"", "changelog", "changes", "decisions", "entities", "entity", "internal/exchange", "internal/problem", "locality",
			"match", "mirror", "records",
		},
	},
	"internal/dedupe": {
		Imports: []string{
			"", "entities", "entity", "internal/bulk", "internal/exchange", "internal/export", "kinds", "match", "records",
			"resolve", "resolve/derived", "review", "storage",
		},
		Modules: []string{xSync},
	},
	"internal/bulk": {
		Imports: []string{"internal/definition", "internal/exchange", "internal/problem", "internal/sqltable",
			"internal/strictjson", "internal/tabular", "match"},
		Modules: []string{compress, xText}, Tests: []string{excelize, parquetGo},
	},
	"internal/intake":   {Imports: []string{"entity", "internal/bulk", "match", "source", "sources"}},
	"internal/sqltable": {Imports: []string{"internal/tabular"}, Modules: []string{mysql, pgx, sqlite}},
	"internal/pgtable":  {Imports: []string{"internal/exchange"}, Modules: []string{pgx}},
	// the writer of its files
	"internal/tabular": {Modules: []string{brotli, compress, lz4, parquetGo}, Tests: []string{excelize}},
	"internal/demo":    {},
	"internal/mcp": {
		Imports: []string{"changelog", "entities", "entity", "explain", "internal/httpapi", "locality", "match", "resolve"},
		Modules: []string{mcpSDK},
	},
	"internal/eval":  {Imports: []string{"match", "internal/learn", "entity", "resolve"}, Modules: []string{xxhash}},
	"internal/judge": {Imports: []string{"entity", "internal/outbound"}},
	// HTTP clients for URLs that users give.
	"internal/outbound": {},
	"internal/cli": {
		Imports: []string{
			"secret",
			"", "audit", "audits", "storage/all", "storage/mongodb", "cell", "cells", "changelog", "changes", "counter",
			"decisions",
			"entities", "entity", "explain", "internal/access", "internal/bulk", "internal/chart", "internal/definition",
			"internal/problem", "internal/dedupe", "internal/delay", "internal/demo", "internal/engine",
			"internal/backup", "internal/buildinfo", "internal/exchange", "internal/export", "internal/eval", "internal/httpapi",
			"internal/intake", "internal/judge", "internal/listen", "internal/login", "internal/mcp", "internal/obs",
			"internal/pgtable", "internal/running", "internal/term", "kinds", "locality",
			"match", "internal/learn", "mirror", "quality", "records", "resolve", "review", "internal/sqltable", "rollup", "rollups",
			"sink/file",
			"sink", "sink/kafka", "sink/mongodb", "sink/nats", "sink/postgres",
			"sink/webhook", "sinks",
			"source/kafka", "source/nats", "source/postgres", "sources", "storage", "tokens",
		},
		Modules: []string{cobra, pflag, xTerm}, Tests: []string{mongo, otlp, parquetGo, protobuf, sqlite, excelize},
	},
	"cmd/locus": {Imports: []string{"internal/cli"}},

	"internal/archtest": {},
	// for tests: servers to kill
	"internal/pgtest": {Imports: []string{"internal/longtest"}, Modules: []string{pgx, xSys}},
	// for tests: MongoDB or a stand-in
	"internal/mongotest": {Imports: []string{"storage/mongodb", "internal/longtest"}, Modules: []string{mongo, xSys}},
	// for tests: reusable ports
	"internal/porttest": {},
	// for tests: how much of them runs
	"internal/longtest": {},
	// for tests: installations by copying
	"internal/blank": {Imports: []string{"storage"}},
	// The scheme that package cell's is compared with, in the same databases.
	"internal/pgtest/literal": {Imports: []string{"cell"}, Modules: []string{pgx}},
	"deploy":                  {}, // how it is installed, and tests of that
	"docs":                    {Tests: []string{franz, kfake, natsClient, natsServer}},
	"e2e/library":             {Tests: []string{pgx}}, // flips bytes directly
	// reads the output of sinks
	"e2e":            {Tests: []string{excelize, franz, kfake, mongo, natsClient, natsServer, pgx}},
	"bench/exchange": {Imports: []string{"internal/demo"}, Tests: []string{excelize, pgx, sqlite}}, // runs the binary
	"bench/ask": {Imports: []string{"", "bench/internal/processor", "entities", "entity", "internal/demo", "records",
		"resolve", "storage/all"}},
	"bench/flow": {Tests: []string{pgx}},
	"bench/resolve": {
		Imports: []string{
			"", "storage/all", "bench/internal/distant", "bench/internal/processor", "bench/internal/rounds", "entities",
			"entity", "internal/demo", "internal/httpapi", "records", "resolve", "rollup", "rollups", "storage",
		},
	},
	"bench/internal/distant":           {}, // a network with latency, for measurements
	"bench/internal/processor":         {},
	"bench/internal/rounds":            {Imports: []string{"internal/term"}},
	"bench/internal/rounds/roundstest": {Modules: []string{datadriven}},
	"bench/internal/simulate":          {Imports: []string{"cell", "locality", "internal/protocol", "internal/term"}},
	"bench/simulate":                   {Imports: []string{"bench/internal/simulate", "internal/term"}},
	"bench/internal/compare":           {Imports: []string{"bench/internal/processor", "bench/internal/rounds"}},
	"bench/ids":                        {Imports: []string{"bench/internal/compare"}, Tests: idPeers},
	// The backend describes the server; keys of other kinds are compared with their libraries.
	"bench/spread": {Imports: []string{"bench/internal/rounds", "storage/mongodb", "internal/term", "locality"},
		Modules: []string{mongo}, Tests: []string{googleUUID}},
	"bench/route": {Imports: []string{"bench/internal/compare"}, Tests: routePeers},
	// the other ways to count
	"bench/rollups": {Imports: []string{"bench/internal/rounds", "internal/term"}, Tests: []string{pgx}},
	// documents
	"bench/counters": {Imports: []string{"bench/internal/rounds", "internal/term"}, Tests: []string{pgx, sqlite, mongo}},
}

// idPeers are the other ID generators that bench/ids compares package locality with, and the driver that both pass
// their IDs to.
var idPeers = []string{
	"github.com/bwmarrin/snowflake",
	"github.com/gofrs/uuid/v5",
	googleUUID,
	"github.com/nats-io/nuid",
	"github.com/oklog/ulid/v2",
	"github.com/rogpeppe/fastuuid",
	"github.com/rs/xid",
	"github.com/segmentio/ksuid",
	"github.com/sony/sonyflake/v2",
	mongo,
	pgx,
}

// routePeers are the rings, tables and caches that bench/route compares package cell with, and the driver that
// sends statements without the gate.
var routePeers = []string{
	"github.com/buraksezer/consistent",
	"github.com/dgryski/go-jump",
	"github.com/dgryski/go-rendezvous",
	"github.com/hashicorp/go-memdb",
	"github.com/hashicorp/golang-lru/v2",
	"github.com/lafikl/consistent",
	"github.com/maypok86/otter/v2",
	pgx,
	"stathat.com/c/consistent",
}

// Law reserves an import for some packages, whatever Picture says.
type Law struct {
	// Path is the import, with everything below it except Except.
	Path   string
	Except string
	// Only lists the packages that may import it, with everything below them; none if empty.
	Only []string
	Why  string
}

// Laws are the sentences of ARCHITECTURE.md about imports.
var Laws = []Law{
	{sqlite, "", []string{"internal/sqltable", "storage/sqlite"}, "a driver lives in its backend"},
	{mysql, "", []string{"internal/sqltable"}, "one place reads the databases of others"},
	{pgx, "", []string{"internal/pgtable", "internal/sqltable", "sink/postgres", "source/postgres", "storage", "locality/localitypgx", "internal/pgtest", "e2e", "e2e/library"}, "a driver lives in its backend; localitypgx teaches it ids, pgtest runs its server"},
	{mongo, "", []string{"bench", "e2e", "internal/mongotest", "sink/mongodb", "storage/mongodb"}, "documents of MongoDB are known to its backend and to the sink that writes some; mongotest runs its server, and e2e reads what the sink wrote"},
	{goose, "", []string{"storage"}, "migrations belong to a backend"},
	{"database/sql", "database/sql/driver", []string{"internal/sqltable", "storage"}, "SQL is spoken in backends"},
	{"net/http", "", []string{"internal/httpapi", "internal/cli", "internal/obs", "client", "internal/judge",
		"internal/login", "internal/mcp", "internal/outbound", "internal/peer", "sink/webhook", "bench"}, "status codes are known at the edge"},
	{huma, "", []string{"internal/httpapi"}, "one place knows how HTTP operations are declared"},
	{prometheus, "", []string{"internal/obs"}, "libraries report through functions of their own"},
	{otel, "", []string{"internal/obs"}, "libraries report through package span"},
	{cobra, "", []string{"internal/cli"}, "flags and exit codes are known in one place"},
	{franz, "", []string{"internal/kafkatopic", "sink/kafka", "source/kafka"},
		"a client of a broker lives in its drivers, and where they connect"},
	{natsClient, "", []string{"internal/natsurl", "sink/nats", "source/nats"},
		"a client of a broker lives in its drivers, and where they connect"},
	{goOIDC, "", []string{"internal/login"}, "one place speaks the protocol of identity providers"},
	{oauth2, "", []string{"internal/login"}, "one place speaks the protocol of identity providers"},
	{phones, "", nil, "package match reads phone numbers by itself; the tables of the module weigh 6 MB"},
	{Module + "/storage/sqlite", "", []string{"storage/all", "storage/sqlite"}, "only storage/all knows every driver"},
	{Module + "/storage/postgres", "", []string{"storage/all", "storage/postgres"}, "only storage/all knows every driver"},
	{
		Module + "/internal/engine", "",
		[]string{"internal", "", "records", "entities", "decisions", "review", "quality", "explain", "kinds", "rollups", "counters",
			"changes", "cells", "sinks", "sources", "tokens", "audits"},
		"only the nouns are built on the engine",
	},
	{
		Module + "/resolve", Module + "/resolve/derived",
		[]string{"internal", "", "records", "entities", "decisions", "review", "quality", "explain", "kinds", "cells", "sources",
			"bench"},
		"a backend stores what is derived and does not resolve",
	},
	{Module + "/internal/httpapi", "", []string{"internal/httpapi", "internal/mcp", "internal/cli", "bench", "e2e"},
		"no library serves HTTP"},
	{Module + "/internal/cli", "", []string{"internal/cli", "cmd"}, "no library has flags"},
	{Module + "/internal/console", "", []string{"internal/httpapi"}, "the console renders for the HTTP server alone"},
	{"os/exec", "", []string{"internal/archtest", "internal/judge", "internal/pgtest", "internal/mongotest", "bench"},
		"Locus starts no programs but the judge that a command line names"},
	{"plugin", "", nil, "Locus is one binary"},
}
