// SPDX-License-Identifier: Apache-2.0

// Command counters runs the experiment of the source text: hits per minute, hour and day, written at every minute
// of a simulated day, in the text's documents and in Locus' layout. It prints Markdown tables and draws the text's
// picture. Then concurrent callers hit Locus and its peers at full speed.
//
//	go -C bench run ./counters                                               an hour
//	go -C bench run ./counters -rounds 5 -save run.json -picture ../docs/counters   what docs/performance.md prints
//	go -C bench run ./counters -from run.json -picture ../docs/counters         the tables and the picture again
//	go -C bench run ./counters -rounds 1 -parts day -methods locus,growing   one comparison alone
//	go -C bench run ./counters -rounds 1 -parts callers -methods locus -profile cpu.out
//	go -C bench run ./counters -rounds 1 -parts callers -methods locus -many 1000000   with many metrics too
//	go -C bench run ./counters -mongodb mongodb://db1/ -picture run           on a MongoDB too
//
// # The day
//
// A document, or its equivalent, holds a metric's day: its total, 24 hours and 1,440 minutes. A hit increments
// three of them. Each of the 1,440 minutes is played with some transactions of 100 hits, one hit for each of 100
// metrics, so that at any time of the day every document holds all earlier minutes. An unmeasured day comes first.
// Each method writes to a database of its own that syncs every commit; the PostgreSQL databases share one server.
//
//	growing           the text's first document: a key comes with its first hit
//	flat              every key is there from the start; tomorrow's document is made by chance (1/2000 a hit)
//	hierarchical      the same, minutes inside of hours
//	Locus             counter.Recorder over a cell, under a simulated clock
//	Redis             a hash for each metric and day, three HINCRBY a hit, 300 in a pipeline
//	-mongodb          the text's three documents and Locus once more, where the text has them
//
// The chance is the text's, but there are fewer hits than in the text: documents of the measured day that chance
// has not created are created before it and not measured. With -shuffle, methods that do not grow play the hours in
// random order in every second round, which separates the time of day from how long a database has been written to.
//
// # MongoDB
//
// The program does not start a server: -mongodb names a replica set or a mongos; LOCUS_BENCH_MONGODB_URI does so
// for a URI with a password. Servers that may lose acknowledged writes are refused, and so are emulations of
// MongoDB. The documents are written as in the text, by upserts that increment; the 100 hits of a transaction are a
// bulk, which is not atomic. Everything is written with w: majority and j: true, into databases whose names begin
// with locus_bench_ and which are dropped at the end. Processor time of a server on this machine counts as other
// programs'.
//
// # The callers
//
// Goroutines call for the duration of -seconds; each waits for its reply. Hits are for random metrics. Calls to
// Locus go to a recorder in the program (embedded), or to locus serve over a local socket. Redis can only be
// reached over a socket, so it is compared with the figures over a socket; embedded figures have rows of their own.
// A call to Redis is one pipeline. The callers of Locus in a program share a client, which batches single hits:
// that has rows of its own too. "Hour rows without combining" are Locus' hour rows, written by each caller
// separately.
//
// # How it measures
//
// A round creates all databases afresh and runs the methods in another order than the previous one. Tables hold the
// medians of the rounds, ratios those of the same round. After every day and load the sums are compared, by metric,
// with what was acknowledged: a difference fails the program and nothing is printed. The program prints what other
// programs used of the processors; a load during which that exceeded -foreign is repeated, at most twice.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/locus-db/locus/bench/internal/rounds"
)

func main() {
	o := Options{Metrics: few, Batch: few}
	p := rounds.Program[Report]{
		Name: "bench/counters",
		Options: func(round int) any {
			o.Round = round
			return o
		},
		Tables: tables, Picture: picture, CSV: csv,
	}
	p.Flags("rounds", 5)
	var parts, only, profile, given string
	flag.IntVar(&o.Tx, "tx", 1, "with how many transactions a minute of the day is played at least")
	flag.Float64Var(&o.Least, "least", 5, "for how many milliseconds a minute of the day is played at least")
	flag.IntVar(&o.Every, "every", 1, "which minutes of the day are played: each, or every so manieth")
	flag.BoolVar(&o.Shuffle, "shuffle", false, "the hours come in any order in every second round")
	flag.Float64Var(&o.Seconds, "seconds", 3, "length of a load of callers")
	flag.IntVar(&o.Callers, "callers", 512, "leave out loads of more callers")
	flag.IntVar(&o.Many, "many", 0, "metrics of the load that has many, such as 1000000; 0 leaves it out")
	flag.IntVar(&o.Around, "around", 10_000, "metrics that are hit while hours and days turn; 0 leaves that out")
	flag.Float64Var(&o.Foreign, "foreign", 0.3, "processors that others may use before a load is repeated; 0 is any")
	flag.StringVar(&parts, "parts", "", "measure these parts only, of day,callers,turn")
	flag.StringVar(&only, "methods", "", "measure these methods only, such as locus,growing,redis")
	flag.StringVar(&given, "mongodb", "",
		"measure on the MongoDB at this URI too; $"+givenMongoDB+" if it holds a password")
	flag.StringVar(&profile, "profile", "", "file for a profile of the program's processor, of the last round")
	flag.Parse()
	if parts != "" {
		o.Parts = strings.Split(parts, ",")
	}
	if only != "" {
		o.Methods = strings.Split(only, ",")
	}
	if profile != "" {
		p.Args = []string{"-test.cpuprofile=" + profile}
	}
	if given != "" {
		if err := os.Setenv(givenMongoDB, given); err != nil { // for the measurement only, not stored in any file
			fmt.Fprintln(os.Stderr, "bench/counters:", err)
			os.Exit(2)
		}
	}
	os.Exit(p.Main())
}
