// SPDX-License-Identifier: Apache-2.0

// Command simulate simulates the growth of an installation from its first cells to many, with billions of records,
// in a second: how full and even cells become, how many of them a lookup visits, what room is left, and what the
// same growth would have cost without Locus. It needs no data: the same seed gives the same result.
//
//	go run ./simulate -to 16384
//	go run ./simulate -from 48 -to 12288 -records 50000000000 -seed 7 -json
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/locus-db/locus/bench/internal/simulate"
	"github.com/locus-db/locus/internal/term"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var o simulate.Options
	from := flag.Uint64("from", 16, "how many cells the first generation has; each has twice as many as the one before")
	to := flag.Uint64("to", 16384, "how many cells the last generation has")
	flag.Int64Var(&o.Records, "records", 10_000_000_000, "how many records come in all, at least 1")
	flag.Uint64Var(&o.Seed, "seed", 1, "of all that is drawn")
	asJSON := flag.Bool("json", false, "print the report as JSON")
	flag.Parse()
	var err error
	if o.Cells, err = simulate.Doubling(*from, *to); err != nil {
		return err
	}
	report, err := simulate.Run(o)
	if err != nil {
		return err
	}
	if *asJSON {
		return json.NewEncoder(os.Stdout).Encode(report)
	}
	if err := report.Table().Write(os.Stdout, term.Style{}); err != nil {
		return err
	}
	fmt.Println()
	if err := report.Beside().Write(os.Stdout, term.Style{}); err != nil {
		return err
	}
	for _, note := range report.Notes() {
		fmt.Fprintln(os.Stderr, note)
	}
	return nil
}
