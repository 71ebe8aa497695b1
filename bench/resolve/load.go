// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/bench/internal/processor"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// load puts the records of a run, slice by slice.
type load struct {
	o         options
	generator *demo.Generator
	put       func(context.Context, []demo.Record) error
	stages    *stages
	size      func() (int64, error)
	curve     *curve

	next    atomic.Int64
	begin   time.Time // of the run
	fastest float64   // speed of the machine
}

// reading is a set of counters; a line of the table is the difference of two.
type reading struct {
	used                                  processor.Used
	at                                    time.Time
	put, post, resolve, batches, compared int64
}

func (s *stages) read() reading {
	return reading{
		used: processor.Read(0), at: time.Now(), put: s.put.Load(), post: s.post.Load(), resolve: s.resolve.Load(),
		batches: s.batches.Load(), compared: s.compared.Load(),
	}
}

// run puts all records, prints a line per slice and adds it to the curve. It ends early when it is interrupted or
// the files grow too large.
func (l *load) run(ctx context.Context) error {
	o := l.o
	fmt.Printf("%s, %d processors, %s; %d records in calls of %d from %d clients through the %s, %d cells\n\n",
		runtime.Version(), runtime.NumCPU(), runtime.GOARCH, o.records, o.batch, o.clients, o.via, o.cells)
	fmt.Println("|   records | records/s | p50 ms | p99 ms | cpu µs/record | put % | post % | resolve % | records/group | compared | bytes/record | RSS MB | machine % |")
	fmt.Println("|----------:|----------:|-------:|-------:|--------------:|------:|-------:|----------:|--------------:|---------:|-------------:|-------:|----------:|")
	l.begin = time.Now()
	ends := make(chan struct{})
	defer close(ends)
	go l.progress(ends)
	var all []time.Duration
	var sum slice
	step := max(o.records/o.slices/o.batch, 1) * o.batch
	var done int64
	for done < o.records {
		to := min(done+step, o.records)
		speed := machine()
		l.fastest = max(l.fastest, speed)
		before := l.stages.read()
		latencies, err := l.calls(ctx, done, to)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if ctx.Err() != nil {
			break
		}
		s, err := l.measured(before, done, to, latencies, speed)
		if err != nil {
			return err
		}
		s.print(fmt.Sprint(to), l.fastest)
		sum.add(s)
		all = append(all, latencies...)
		l.curve.slices = append(l.curve.slices, s)
		if err := l.curve.write(o); err != nil {
			return err
		}
		if done = to; s.Bytes*float64(done) > float64(o.disk)*1e9 {
			fmt.Fprintf(os.Stderr, "the files take more than %d GB: that is enough\n", o.disk)
			break
		}
	}
	if done > 0 {
		sum.P50, sum.P99 = quantiles(all)
		sum.print("**all**", l.fastest)
	}
	return nil
}

// measured returns the slice that has just ended.
func (l *load) measured(before reading, from, to int64, latencies []time.Duration, speed float64) (slice, error) {
	now, n := l.stages.read(), float64(to-from)
	_, cpu, others := now.used.Since(before.used, int(n))
	size, err := l.size()
	s := slice{
		Backend: backendOf(l.o), Records: to, N: n, Seconds: now.at.Sub(before.at).Seconds(), CPU: cpu, Others: others,
		Bytes: float64(size) / float64(to), RSS: resident(), Machine: speed,
		Compared: float64(now.compared-before.compared) / n,
		rounds: [3]float64{
			time.Duration(now.put - before.put).Seconds(), time.Duration(now.post - before.post).Seconds(),
			time.Duration(now.resolve - before.resolve).Seconds(),
		},
		batches: float64(now.batches - before.batches),
	}
	s.PerSecond = n / s.Seconds
	s.P50, s.P99 = quantiles(latencies)
	return s, err
}

// loadAll resolves all records that were put in one load, and prints the cost of its steps and of the whole run.
func (l *load) loadAll(ctx context.Context, service *locus.DB) error {
	before, last := l.stages.read(), time.Now()
	n := float64(l.o.records)
	used, peak := before.used, resident()
	var steps []resolve.LoadStep
	seconds, micros, memory := map[resolve.LoadStep]float64{}, map[resolve.LoadStep]float64{}, map[resolve.LoadStep]float64{}
	if err := service.Records().Load(ctx, func(p resolve.LoadProgress) {
		if !slices.Contains(steps, p.Step) {
			steps = append(steps, p.Step)
		}
		now := processor.Read(0)
		_, cpu, _ := now.Since(used, int(n))
		seconds[p.Step] += time.Since(last).Seconds()
		micros[p.Step] += cpu
		memory[p.Step] = max(memory[p.Step], resident())
		used, last, peak = now, time.Now(), max(peak, memory[p.Step])
	}); err != nil {
		return err
	}
	now := l.stages.read()
	servers, program, _ := now.used.Since(before.used, int(n))
	all := time.Since(l.begin)
	fmt.Printf("\nload: %.1f s, cpu %.0f µs/record, %.0f of it of database servers\n", now.at.Sub(before.at).Seconds(),
		servers+program, servers)
	for _, step := range steps {
		fmt.Printf("  %-8s %6.1f s, cpu %3.0f µs/record, RSS %5.0f MB\n", step, seconds[step], micros[step], memory[step])
	}
	fmt.Printf("put and load: %.0f records/s, peak RSS %.0f MB while loading\n", n/all.Seconds(), peak)
	return nil
}

// fill loads the records that a run begins with.
func fill(ctx context.Context, o options, target string, generator *demo.Generator) error {
	service, err := locus.Open(ctx, target, &locus.Options{Hold: true, Storage: storage.Options{Cells: o.cells}})
	if err != nil {
		return err
	}
	const group = 64_000
	for from := int64(0); from < o.onto; from += group {
		var records []demo.Record
		for i := from; i < min(from+group, o.onto); i++ {
			records = append(records, generator.Record(i))
		}
		if err := putLibrary(ctx, service, records); err != nil {
			return errors.Join(err, service.Close())
		}
	}
	return errors.Join(service.Records().Load(ctx, func(resolve.LoadProgress) {}), service.Close())
}

// progress regularly prints how far the run is.
func (l *load) progress(ends <-chan struct{}) {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ends:
			fmt.Fprint(os.Stderr, "\r\033[K")
			return
		case <-tick.C:
			done := max(min(l.next.Load(), l.o.records), 1)
			spent := time.Since(l.begin)
			left := time.Duration(float64(spent) / float64(done) * float64(l.o.records-done)).Round(time.Second)
			fmt.Fprintf(os.Stderr, "\r\033[K%d of %d, %.0f a second, %v left", done, l.o.records,
				float64(done)/spent.Seconds(), left)
		}
	}
}

// calls puts the records with numbers from one to another.
func (l *load) calls(ctx context.Context, from, to int64) ([]time.Duration, error) {
	var (
		mu        sync.Mutex
		latencies []time.Duration
		failed    error
		wg        sync.WaitGroup
	)
	l.next.Store(from)
	begin := time.Now()
	for range l.o.clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				first := l.next.Add(l.o.batch) - l.o.batch
				if first >= to {
					return
				}
				records := make([]demo.Record, 0, l.o.batch)
				for i := first; i < min(first+l.o.batch, to); i++ {
					records = append(records, l.generator.Record(l.o.onto+i))
				}
				sent := time.Now()
				if l.o.rate > 0 {
					sent = begin.Add(time.Duration(float64(first-from) / float64(l.o.rate) * float64(time.Second)))
					select {
					case <-time.After(time.Until(sent)):
					case <-ctx.Done():
						return
					}
				}
				err := l.put(ctx, records)
				took := time.Since(sent)
				mu.Lock()
				latencies = append(latencies, took)
				failed = cmp.Or(failed, err)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return latencies, failed
}

// quantiles returns the median and the 99th percentile in milliseconds.
func quantiles(latencies []time.Duration) (p50, p99 float64) {
	slices.Sort(latencies)
	at := func(share float64) float64 {
		return float64(latencies[int(share*float64(len(latencies)-1))].Microseconds()) / 1000
	}
	return at(0.5), at(0.99)
}

// machine returns the current speed of the processors, in rounds of a loop that needs nothing else.
func machine() float64 {
	var rounds atomic.Int64
	var wg sync.WaitGroup
	begin := time.Now()
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			x := uint64(1)
			for time.Since(begin) < 100*time.Millisecond {
				for range 100_000 {
					x = x*6364136223846793005 + 1442695040888963407
				}
				rounds.Add(1 + int64(x&1)) // uses x so that the compiler keeps the loop
			}
		})
	}
	wg.Wait()
	return float64(rounds.Load()) / time.Since(begin).Seconds()
}
