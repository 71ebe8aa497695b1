// SPDX-License-Identifier: Apache-2.0

// Command ids compares package locality with other makers of ids, and prints the comparison as
// Markdown tables.
//
//	go run ./bench/ids                                       some minutes
//	go run ./bench/ids -go go1.27.1                          the same twice: also with that Go, whose library has uuids
//	go run ./bench/ids -count 10 -go go1.27.1 -save ids.txt  what docs/performance.md prints
//	go run ./bench/ids -from ids.txt                         the tables again
//
// # How it measures
//
// The benchmarks stand in this package's tests: Locus and its peers in one binary, pinned by
// go.mod. The program builds it, starts it -invocations times, and reads what it prints. Single
// benchmarks: go test -bench Parse ./bench/ids.
//
// Times of a shared machine are not stable: an hour later all of them may be half as long again.
// What stays is how two of them relate that were measured side by side. So the program takes the
// median of each benchmark's -count measurements, divides by that of the peer of the same
// invocation, and prints the median of these ratios with the least and the greatest of them. A
// ratio whose range crosses 1 says that nobody is faster.
//
// # The tables
//
// The first holds the goals:
//
//	what        the work; with several goroutines, all of them use one generator unless it says local
//	against     a peer; of several the one to which our ratio is least
//	theirs      nanoseconds of one operation, the median of all invocations
//	ours        the same of Locus
//	allocs      our allocations in one operation
//	ratio       theirs / ours, with the range over the invocations; for a floor ours / floor
//	goal        what the ratio should reach, and the allocations if they are limited
//
// The second holds everybody, also who is faster than Locus because an id of theirs holds no time,
// and who is slow because an id of theirs has room for so many a millisecond only.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"
)

type options struct {
	invocations int
	count       int
	benchtime   time.Duration
	cpu         string
	toolchains  string
	save        string
	from        bool
}

func main() {
	var o options
	flag.IntVar(&o.invocations, "invocations", 6, "how often the benchmarks are started; each gives one ratio")
	flag.IntVar(&o.count, "count", 3, "measurements of a benchmark in an invocation, of which the median counts")
	flag.DurationVar(&o.benchtime, "benchtime", 100*time.Millisecond, "length of a measurement")
	flag.StringVar(&o.cpu, "cpu", "1,2", "goroutines that mint at a time")
	flag.StringVar(&o.toolchains, "go", "", "more toolchains to build with, like go1.27.1,go1.28.0")
	flag.StringVar(&o.save, "save", "", "file to keep what the benchmarks printed")
	flag.BoolVar(&o.from, "from", false, "measure nothing: read files that -save or go test -bench wrote")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench/ids:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, files []string) error {
	if o.from {
		return fromFiles(os.Stdout, files)
	}
	if len(files) > 0 {
		return fmt.Errorf("%s: did you mean -from %[1]s?", strings.Join(files, " "))
	}
	saved := io.Discard
	if o.save != "" {
		f, err := os.Create(o.save)
		if err != nil {
			return err
		}
		defer f.Close()
		saved = f
	}
	// What was measured before a failure or ctrl-C was paid for: it is printed all the same.
	var read reader
	err := measure(ctx, o, &read, saved)
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "\ninterrupted: the tables hold what was measured until now")
		err = nil
	}
	return cmp.Or(err, write(os.Stdout, read.invocations))
}

func fromFiles(w io.Writer, files []string) error {
	if len(files) == 0 {
		return errors.New("-from needs files: try -from ids.txt")
	}
	var read reader
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		read.begin() // output of go test does not say so itself
		err = read.all(f)
		f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return write(w, read.invocations)
}
