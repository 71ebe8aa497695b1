// SPDX-License-Identifier: Apache-2.0

package compare

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

// Main parses the flags, measures, prints the tables and returns the exit code.
func (s *Suite) Main() int {
	var o options
	flag.IntVar(&o.invocations, "invocations", 6, "how often the benchmarks are started; each gives one ratio")
	flag.IntVar(&o.count, "count", 3, "measurements of a benchmark in an invocation, of which the median counts")
	flag.DurationVar(&o.benchtime, "benchtime", 100*time.Millisecond, "length of a measurement")
	flag.StringVar(&o.cpu, "cpu", "1,2", "goroutines that work at a time")
	flag.StringVar(&o.toolchains, "go", "", "more toolchains to build with, like go1.27.1,go1.28.0")
	flag.StringVar(&o.save, "save", "", "file to keep what the benchmarks printed")
	flag.BoolVar(&o.from, "from", false, "measure nothing: read files that -save or go test -bench wrote")
	flag.BoolVar(&s.busy, "busy", false, "compare the time of the processor: for a machine that others use meanwhile")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := s.run(ctx, o, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", s.Name, err)
		return 1
	}
	return 0
}

func (s *Suite) run(ctx context.Context, o options, files []string) error {
	if o.from {
		return s.fromFiles(os.Stdout, files)
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
	// Measurements before a failure or ctrl-C are still printed.
	var read reader
	err := s.measure(ctx, o, &read, saved)
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "\ninterrupted: the tables hold what was measured until now")
		err = nil
	}
	return cmp.Or(err, s.write(os.Stdout, read.invocations))
}

func (s *Suite) fromFiles(w io.Writer, files []string) error {
	if len(files) == 0 {
		return errors.New("-from needs files: try -from saved.txt")
	}
	var read reader
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		read.begin() // the output of go test does not mark it
		err = read.all(f)
		f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return s.write(w, read.invocations)
}
