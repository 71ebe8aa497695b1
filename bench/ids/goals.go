// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/locus-db/locus/bench/internal/compare"

var (
	bestTimed = compare.Rival{Title: "best with a time", Fits: func(key string) bool { return peerOf(key).kind == timed }}
	best36    = compare.Rival{Title: "best of 36 characters", Fits: func(key string) bool {
		p := peerOf(key)
		return p.chars == 36 && p.kind != own
	}}
)

// goals in the order of the table.
var goals = []compare.Goal{
	{Bench: "New", Ours: "locus", Against: bestTimed, Ratio: 1.5, NoAllocs: true},
	{Bench: "New", Ours: "locus", Against: compare.Only("std-v4"), Ratio: 2},
	{Bench: "New", Ours: "locus", Against: compare.Only("std-v7"), Ratio: 3},
	{Bench: "New", Ours: "locus", Against: compare.Only("google-v7"), Ratio: 4},
	{Bench: "New", Ours: "locus", Against: bestTimed, Ratio: 1.5, NoAllocs: true, Many: true},
	{Bench: "New", Ours: "locus-lease", Against: bestTimed, Ratio: 1.5, NoAllocs: true, Many: true},
	{Bench: "New", Ours: "locus-local", Against: bestTimed, Ratio: 1.5, NoAllocs: true, Many: true},
	{Bench: "Fill", Ours: "locus", Than: "New", Against: bestTimed, Ratio: 12, NoAllocs: true},
	{Bench: "NewIn", Ours: "locus", Against: compare.Only("monotonic"), Ratio: 2.5, NoAllocs: true},
	{Bench: "NewIn", Ours: "locus-odd", Against: compare.Only("monotonic"), Ratio: 2.5, NoAllocs: true},
	{Bench: "String", Ours: "locus", Against: compare.Only("google"), Ratio: 1.3},
	{Bench: "String", Ours: "locus", Against: compare.Only("gofrs"), Ratio: 1.3},
	{Bench: "String", Ours: "locus", Against: compare.Only("std"), Ratio: 1.3},
	{Bench: "StringLocal", Ours: "locus", Against: compare.Only("google"), Ratio: 3, NoAllocs: true},
	{Bench: "AppendText", Ours: "locus", Against: compare.Only("std"), Ratio: 1.6, NoAllocs: true},
	{Bench: "NewString", Ours: "locus", Against: compare.Only("google-v4-pooled"), Ratio: 1.5},
	{Bench: "NewString", Ours: "locus", Against: compare.Only("std-v4"), Ratio: 1.7},
	{Bench: "NewString", Ours: "locus", Against: compare.Only("std-v7"), Ratio: 2},
	{Bench: "Parse", Ours: "locus", Against: best36, Ratio: 1.4, NoAllocs: true},
	{Bench: "PgxEncode", Ours: "locus", Against: compare.Only("google"), Ratio: 20, NoAllocs: true},
	{Bench: "PgxScan", Ours: "locus", Against: compare.Only("google"), Ratio: 5, NoAllocs: true},
}
