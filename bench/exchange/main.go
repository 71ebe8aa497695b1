// SPDX-License-Identifier: Apache-2.0

// Command exchange measures files in and out of Locus as a user sees it: the binary, run on the rows of locus demo, one
// command after another. Each line is the median of the rounds: records per second of the clock, processor time of a
// record, and the highest memory. The last column compares a command with another one of the same round.
//
//	go -C bench run ./exchange                   100,000 records, three rounds
//	go -C bench run ./exchange -records 1000000 -rounds 1
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/locus-db/locus/internal/demo"
)

func main() {
	records := flag.Int64("records", 100_000, "how many records")
	rounds := flag.Int("rounds", 3, "how often each command is run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *records, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "exchange:", err)
		stop()
		os.Exit(1)
	}
}

// command is one line of the table.
type command struct {
	name string
	args []string // DIR is the directory of the round
	// against is the command that the speed is divided by, "" for none.
	against string
}

var commands = []command{
	{"ingest CSV", []string{"ingest", "DIR/rows.csv", "--kind", "place", "--key", "key", "--data", "DIR/first"}, ""},
	{"export records as CSV", []string{"export", "records", "-o", "DIR/out.csv", "--data", "DIR/first"},
		"entity list --all"},
	{"export records as JSON lines", []string{"export", "records", "-o", "DIR/out.jsonl", "--data", "DIR/first"},
		"entity list --all"},
	{"export records as Parquet", []string{"export", "records", "-o", "DIR/out.parquet", "--data", "DIR/first"},
		"entity list --all"},
	{"export entities as CSV", []string{"export", "entities", "-o", "DIR/entities.csv", "--data", "DIR/first"},
		"entity list --all"},
	{"entity list --all", []string{"entity", "list", "--all", "--json", "--data", "DIR/first"}, ""},
	{"ingest exported CSV", []string{"ingest", "DIR/out.csv", "--data", "DIR/csv"}, ""},
	{"ingest exported JSON lines", []string{"ingest", "DIR/out.jsonl", "--data", "DIR/jsonl"}, "ingest exported CSV"},
	{"ingest exported Parquet", []string{"ingest", "DIR/out.parquet", "--data", "DIR/parquet"}, "ingest exported CSV"},
	{"ingest --dry-run", []string{"ingest", "DIR/out.csv", "--dry-run", "--data", "DIR/first"}, ""},
	{"dedupe", []string{"dedupe", "DIR/rows.csv", "--kind", "place", "--key", "key", "-o", "DIR/deduped.csv"},
		"ingest CSV"},
	{"dump", []string{"dump", "-o", "DIR/dump.jsonl.zst", "--data", "DIR/first"}, ""},
	{"restore", []string{"restore", "DIR/dump.jsonl.zst", "--data", "DIR/restored"}, "ingest CSV"},
}

// cost is what a run of a command took.
type cost struct {
	clock, processor time.Duration
	memory           int64 // bytes
}

func run(ctx context.Context, records int64, rounds int) error {
	dir, err := os.MkdirTemp("", "locus-exchange-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "locus")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/locus-db/locus/cmd/locus").CombinedOutput(); err != nil {
		return fmt.Errorf("build locus: %w: %s", err, out)
	}
	rows := filepath.Join(dir, "rows.csv")
	if err := write(rows, records); err != nil {
		return err
	}
	costs := map[string][]cost{}
	for round := range rounds {
		at := filepath.Join(dir, fmt.Sprint(round))
		if err := errors.Join(os.Mkdir(at, 0o777), os.Link(rows, filepath.Join(at, "rows.csv"))); err != nil {
			return err
		}
		for _, c := range commands {
			fmt.Fprintf(os.Stderr, "round %d: %s\n", round+1, c.name)
			took, err := measure(ctx, at, binary, c.args)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			costs[c.name] = append(costs[c.name], took)
		}
		if err := os.RemoveAll(at); err != nil {
			return err
		}
	}
	report(os.Stdout, records, costs)
	return nil
}

// measure runs a command.
func measure(ctx context.Context, dir, binary string, args []string) (cost, error) {
	args = slices.Clone(args)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "DIR", dir)
	}
	c := exec.CommandContext(ctx, binary, args...)
	var text strings.Builder
	c.Stdout, c.Stderr = io.Discard, &text
	begun := time.Now()
	if err := c.Run(); err != nil {
		return cost{}, fmt.Errorf("%w: %s", err, text.String())
	}
	took := cost{clock: time.Since(begun), processor: c.ProcessState.UserTime() + c.ProcessState.SystemTime()}
	if used, is := c.ProcessState.SysUsage().(*syscall.Rusage); is {
		took.memory = used.Maxrss << 10 // kilobytes, on Linux
	}
	return took, nil
}

// write writes the rows of locus demo.
func write(name string, records int64) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	columns := []string{"name", "phones", "address", "city", "region", "postcode", "latitude", "longitude", "websites"}
	w := csv.NewWriter(f)
	_ = w.Write(append([]string{"source", "key"}, columns...)) // Flush has the error
	for r := range demo.New(1, records).All() {
		row := []string{r.Source, r.Key}
		for _, c := range columns {
			row = append(row, strings.Join(r.Attributes[c], ";"))
		}
		_ = w.Write(row)
	}
	w.Flush()
	return w.Error()
}

// report prints the table.
func report(to io.Writer, records int64, costs map[string][]cost) {
	fmt.Fprintf(to, "| %d records | records/s | processor, us a record | memory, MB | of |\n|---|---|---|---|---|\n",
		records)
	for _, c := range commands {
		all := costs[c.name]
		compared := ""
		if c.against != "" {
			ratio := median(all, func(i int) float64 { return costs[c.against][i].clock.Seconds() / all[i].clock.Seconds() })
			compared = fmt.Sprintf("%.2f of %s", ratio, c.against)
		}
		fmt.Fprintf(to, "| %s | %.0f | %.0f | %.0f | %s |\n", c.name,
			median(all, func(i int) float64 { return float64(records) / all[i].clock.Seconds() }),
			median(all, func(i int) float64 { return float64(all[i].processor.Microseconds()) / float64(records) }),
			median(all, func(i int) float64 { return float64(all[i].memory) / 1e6 }), compared)
	}
}

// median returns the median of a figure of the rounds.
func median(all []cost, of func(i int) float64) float64 {
	figures := make([]float64, len(all))
	for i := range all {
		figures[i] = of(i)
	}
	slices.Sort(figures)
	return figures[len(figures)/2]
}
