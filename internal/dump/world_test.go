// SPDX-License-Identifier: Apache-2.0

package dump_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/blank"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/sources"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// clock is the time of an installation.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens or creates an installation that does not wait for the disk.
func open(t testing.TB, where string, opts *locus.Options) *locus.DB {
	t.Helper()
	scratch := locus.Options{}
	if opts != nil {
		scratch = *opts
	}
	scratch.Storage.Scratch = true
	db, err := locus.Open(t.Context(), where, &scratch)
	must(t, err)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func record(source, key, name, phone string) records.Input {
	in := records.Input{Ref: entity.Ref{Source: source, Key: key}, Attributes: entity.Attributes{"name": {name}}}
	if phone != "" {
		in.Attributes["phones"] = []string{phone}
	}
	return in
}

func put(t testing.TB, db *locus.DB, all ...records.Input) []records.Result {
	t.Helper()
	results, err := db.Records().Put(t.Context(), all)
	must(t, err)
	for _, r := range results {
		must(t, r.Err)
	}
	return results
}

func decide(t testing.TB, db *locus.DB, all ...decisions.Input) {
	t.Helper()
	results, err := db.Decisions().Decide(t.Context(), all)
	must(t, err)
	for _, r := range results {
		must(t, r.Err)
	}
}

// world fills an installation with at least one of everything that a dump has.
func world(t testing.TB, db *locus.DB, c *clock) {
	t.Helper()
	var all []records.Input
	for i := range 40 { // pairs that match, and records alone
		name, phone := fmt.Sprintf("Quill %c%c Books", 'a'+i%20, 'k'+i%7), fmt.Sprintf("415-555-%04d", 2300+i)
		all = append(all, record("a", fmt.Sprint(i), name, phone))
		if i%2 == 0 {
			all = append(all, record("b", fmt.Sprint(i), name+" Inc", phone))
		}
	}
	put(t, db, all...)
	put(t, db, record("a", "2", "Quill and Sons", "415-555-2302")) // version 2
	put(t, db, record("c", "x", "Nothing Alike", ""), record("c", "y", "Wholly Other", ""),
		record("c", "z", "Brass Heron", ""))
	yes := decisions.Input{Verdict: entity.VerdictSame, Author: "ann", Reason: "called <them> & asked"}
	for _, pair := range [][2]string{{"c:x", "c:y"}, {"a:1", "a:3"}, {"a:5", "a:7"}, {"a:9", "a:11"}, {"a:13", "a:15"}} {
		d := yes
		d.A, d.B = pair[0], pair[1]
		decide(t, db, d)
	}
	decide(t, db, decisions.Input{Verdict: entity.VerdictDifferent, A: "a:4", B: "b:4", Author: "bob"},
		decisions.Input{Verdict: entity.VerdictAnchor, A: "b:6"},
		decisions.Input{Verdict: entity.VerdictValue, A: "a:8", Attribute: "name", Value: "The Right Name"},
		decisions.Input{Verdict: entity.VerdictSame, A: "a:9", B: "a:11", Withdraw: true})
	deleted, err := db.Records().Delete(t.Context(),
		[]entity.Ref{{Source: "a", Key: "10"}, {Source: "c", Key: "z"}, {Source: "a", Key: "5"}, {Source: "a", Key: "17"}})
	must(t, err)
	for _, r := range deleted {
		must(t, r.Err)
	}
	put(t, db, record("a", "17", "Back Again", "")) // version 3, former birth id
	_, err = db.Records().Erase(t.Context(), []entity.Ref{{Source: "a", Key: "13"}, {Source: "a", Key: "19"}})
	must(t, err)
	put(t, db, record("a", "19", "Someone Else", ""))

	_, _, err = db.Rollups().Define(t.Context(),
		rollup.Definition{Name: "by_name", Kind: "place", Group: []string{"source"}})
	must(t, err)

	for source, n := range map[string]int64{"a": 40, "b": 20} {
		must(t, db.Sources().Imported(t.Context(), source, sources.Import{File: source + ".csv", Rows: n + 2, Stopped: "interrupted",
			Outcomes: map[string]int64{"created": n, sources.Refused: 2}, Refusals: []sources.Refusal{{Cause: "name missing", Rows: 2, First: 7}}}))
	}

	hits := func(key counter.Key, producer counter.Producer, seq uint64, all ...counter.Hit) {
		t.Helper()
		answer, err := db.Counters().Add(t.Context(), counter.Batch{Hits: all, Key: key, Producer: producer, Seq: seq})
		must(t, errors.Join(append(answer.Results, err)...))
	}
	at := c.now().Truncate(time.Second)
	hits("", counter.Producer{}, 0, counter.Hit{Metric: "page /", N: 3},
		counter.Hit{Metric: "page /b", N: 4, At: at.Add(-26 * time.Hour)},
		counter.Hit{Metric: "heat", Kind: counter.Gauge, N: -7})
	c.ahead.Add(int64(72 * time.Hour))
	must(t, db.Counters().Recorder().Maintain(t.Context()))
	hits("", counter.Producer{}, 0, counter.Hit{Metric: "page /", N: 5},
		counter.Hit{Metric: "heat", Kind: counter.Gauge, N: 9})
	for _, b := range onceBatches(c) {
		answer, err := db.Counters().Add(t.Context(), b)
		must(t, errors.Join(append(answer.Results, err)...))
	}
}

// worlds is a world that was dumped, for all tests.
type worlds struct {
	dumped
	clock  *clock
	want   []string                   // see dumped.same
	seen   map[string]string          // see answers
	former map[string]*records.Record // records of source a that were deleted or erased
}

var (
	sharing     sync.Mutex
	sharedWorld *worlds
)

func shared(t testing.TB) *worlds {
	t.Helper()
	sharing.Lock()
	defer sharing.Unlock()
	if sharedWorld == nil {
		w := &worlds{clock: &clock{}, former: map[string]*records.Record{}}
		db := open(t, blank.Dir(t, 3), &locus.Options{Now: w.clock.now})
		put(t, db, record("a", "10", "Quill kn Books", "415-555-2310"), record("a", "13", "Quill no Books", "415-555-2313"))
		for _, key := range []string{"10", "13"} {
			rec, err := db.Records().Get(t.Context(), entity.Ref{Source: "a", Key: key})
			must(t, err)
			w.former[key] = rec
		}
		world(t, db, w.clock)
		w.dumped = dump(t, db)
		w.want, w.seen = w.same(t, db.Cells().Map()), answers(t, db, w.clock)
		sharedWorld = w
	}
	return sharedWorld
}

// onceBatches are batches that count once, over metrics of several cells.
func onceBatches(c *clock) []counter.Batch {
	at := c.now().Truncate(time.Hour)
	var hits []counter.Hit
	for i := range 12 {
		hits = append(hits, counter.Hit{Metric: counter.Metric(fmt.Sprintf("once %d", i)), N: 2, At: at})
	}
	return []counter.Batch{{Hits: hits, Key: "batch-1"}, {Hits: hits[:3], Producer: counter.Producer{7}, Seq: 4}}
}

// dumped is a dump with its lines.
type dumped struct {
	file  []byte
	lines []string
}

func dump(t testing.TB, db *locus.DB) dumped {
	t.Helper()
	d, err := db.Dump(t.Context())
	must(t, err)
	return written(t, d)
}

func written(t testing.TB, d *locus.Dump) dumped {
	t.Helper()
	defer d.Close()
	var b bytes.Buffer
	_, err := d.WriteTo(&b)
	must(t, err)
	return dumped{b.Bytes(), unpack(t, b.Bytes())}
}

func unpack(t testing.TB, file []byte) []string {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(file))
	must(t, err)
	defer z.Close()
	text, err := io.ReadAll(z)
	must(t, err)
	return slices.Collect(strings.Lines(string(text)))
}

func pack(t testing.TB, lines []string) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	must(t, err)
	return z.EncodeAll([]byte(strings.Join(lines, "")), nil)
}

// of returns the lines of a type, decoded.
func (d dumped) of(t testing.TB, kind string) (all []map[string]any) {
	t.Helper()
	for _, line := range d.lines {
		var of map[string]any
		must(t, json.Unmarshal([]byte(line), &of))
		if of["type"] == kind {
			all = append(all, of)
		}
	}
	return all
}

// same returns the lines that a dump of the same things has, in any cells: sorted, with keys in place of numbers, dedup
// records of several cells once.
func (d dumped) same(t testing.TB, m *cell.Map) []string {
	t.Helper()
	keys := map[any]string{}
	for _, r := range d.of(t, "record") {
		k := m.KeyOf(r["source"].(string), r["key"].(string))
		keys[r["puid"]] = fmt.Sprintf("%016x%x", uint64(k.Ring), k.Digest)
	}
	for _, r := range d.of(t, "deleted") {
		keys[r["puid"]] = r["key"].(string)
	}
	lines := map[string]bool{}
	merged := map[string][]byte{}
	for _, kind := range []string{"rules", "terms", "rollup", "import", "decision", "record", "deleted", "birth", "metric", "bucket", "day", "batch", "horizon", "end"} {
		for _, of := range d.of(t, kind) {
			for _, name := range []string{"puid", "a", "b"} {
				if number, is := of[name]; is {
					of[name] = keys[number]
				}
			}
			switch kind {
			case "batch":
				results, _ := of["results"].(string)
				delete(of, "results")
				line, _ := json.Marshal(of)
				merged[string(line)] = union(t, merged[string(line)], results)
				continue
			case "end":
				delete(of, "batches")
			}
			line, err := json.Marshal(of)
			must(t, err)
			lines[string(line)] = true
		}
	}
	for line, results := range merged {
		lines[line+" "+hex.EncodeToString(results)] = true
	}
	return slices.Sorted(maps.Keys(lines))
}

// union adds the bits of a bitmap in base64; all of the two bytes that these tests need if it is empty.
func union(t testing.TB, a []byte, results string) []byte {
	t.Helper()
	var b []byte
	must(t, json.Unmarshal([]byte(`"`+results+`"`), &b))
	if len(b) == 0 {
		return []byte("all")
	}
	if string(a) == "all" {
		return a
	}
	out := make([]byte, len(b))
	copy(out, a)
	for i := range b {
		out[i] |= b[i]
	}
	return out
}

// answers returns what readers of an installation see: the target of each id, entities with their views, series.
func answers(t testing.TB, db *locus.DB, c *clock) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, id := range db.Cells().Map().Cells() {
		for after := (locality.ID{}); ; {
			states, next, err := db.Changes().ListStates(t.Context(), id, after, mirror.MostStates)
			must(t, err)
			for _, s := range states {
				if s.Settling {
					t.Errorf("%v is settling", s.ID)
				}
				all[s.ID.String()] = fmt.Sprint(s.Kind, " ", s.To)
			}
			if after = next; after.IsZero() {
				break
			}
		}
	}
	for e, err := range db.Entities().All(t.Context(), &entities.AllOptions{}) {
		must(t, err)
		text := e.Kind
		for _, m := range e.Members {
			text += fmt.Sprintf(" %v@%d", m.Ref, m.Version)
		}
		for _, a := range e.View {
			for _, v := range a.Values {
				text += fmt.Sprintf("; %s=%q %v %v", a.Name, v.Value, v.Members, v.Pinned)
			}
		}
		all["entity "+e.ID.String()] = text
	}
	for rec, err := range db.Records().All(t.Context(), &records.AllOptions{}) {
		must(t, err)
		all[rec.Ref.String()] = fmt.Sprint(rec.Kind, rec.Version, rec.Birth, rec.Entity, rec.Observed, rec.Attributes)
	}
	page, err := db.Decisions().List(t.Context(), decisions.Query{Withdrawn: true, Limit: locus.MaxLimit})
	must(t, err)
	for _, d := range page.Decisions {
		if d.Withdrawn && d.Author == "" && (d.RefA == entity.Ref{}) != (d.RefB == entity.Ref{}) {
			continue // the trace of an erased record, which is listed only if the other record has the lower puid
		}
		all[fmt.Sprint("decision ", d.Verdict, min(d.RefA.String(), d.RefB.String()), max(d.RefA.String(), d.RefB.String()),
			d.At)] = fmt.Sprint(d.Withdrawn, d.Author, d.Reason, d.Attribute, d.Value)
	}
	for _, metric := range []counter.Metric{"page /", "page /b", "heat", "once 5"} {
		for _, step := range []counter.Step{counter.ByHour, counter.ByDay} {
			s, err := db.Counters().Recorder().Series(t.Context(), counter.Query{
				Metrics: []counter.Metric{metric}, From: c.now().Add(-6 * 24 * time.Hour),
				To: c.now().Add(24 * time.Hour), Step: step,
			})
			must(t, err)
			text, err := json.Marshal(s.Lines)
			must(t, err)
			all[fmt.Sprint(metric, step)] = string(text)
		}
	}
	return all
}

// check reports everything that differs from what it should be.
func check(t testing.TB, db *locus.DB) {
	t.Helper()
	must(t, db.Cells().Check(t.Context(), cells.Checking{}, func(d cells.Difference) error {
		t.Errorf("check: %+v", d)
		return nil
	}, nil))
}

func restore(t testing.TB, where string, file []byte, cells int) *locus.Restored {
	t.Helper()
	r, err := locus.Restore(t.Context(), where, bytes.NewReader(file),
		&locus.Options{Storage: storage.Options{Cells: cells, Scratch: true}})
	must(t, err)
	if r.Differs() || r.Expected == "" || r.Dropped != 0 {
		t.Errorf("restored into %d cells: %+v", cells, r)
	}
	return r
}
