// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/backup"
	"github.com/locus-db/locus/internal/dump"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/sources"
	"github.com/locus-db/locus/storage/all"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/upgrade/"+release+" from an installation of this Locus")

// release is the release whose formats this tree has. A change of a stored format needs a new release here. The
// fixtures of former releases stay: every later Locus opens data of all of them.
const release = "0.4.0"

// fixture is the description in fixture.json of the files next to it.
type fixture struct {
	Formats  map[string]int    `json:"formats"`  // of what Locus wrote
	Entities map[string]string `json:"entities"` // the id of each key
	Groups   map[string]string `json:"groups"`   // of the rollup
	Hits     int64             `json:"hits"`
	Decided  int               `json:"decided"`
	Imports  int               `json:"imports"` // sources that have a last import
}

func formats() map[string]int {
	f := all.Formats()
	f["backup"], f["dump"] = backup.Format, dump.Format
	return f
}

// noon is when the hits of fixtures were counted.
var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

const fixtureNote = "fixtures are written by: go test ./e2e/library -run TestUpgrade_Fixtures -rewrite"

// A data directory, a backup and a dump of every release are opened, verified and added to, and their content is
// unchanged.
func TestUpgrade_Fixtures(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := filepath.Join("testdata", "upgrade")
	if *rewrite {
		writeFixture(t, filepath.Join(dir, release))
	}
	releases, err := os.ReadDir(dir)
	must(t, err)
	for _, r := range releases {
		at := filepath.Join(dir, r.Name())
		var f fixture
		text, err := os.ReadFile(filepath.Join(at, "fixture.json"))
		must(t, err)
		must(t, json.Unmarshal(text, &f))
		if r.Name() == release && !maps.Equal(f.Formats, formats()) {
			t.Errorf("%s is of formats %v, and this Locus writes %v: a new format needs a release in this test; %s", release,
				f.Formats, formats(), fixtureNote)
		}
		for name, restore := range map[string]func(t *testing.T, file io.Reader, to string){
			"directory.tar.zst": untar,
			"places.backup": func(t *testing.T, file io.Reader, to string) {
				t.Helper()
				_, err := locus.RestoreBackup(t.Context(), to, file)
				must(t, err)
			},
			"places.dump": func(t *testing.T, file io.Reader, to string) {
				t.Helper()
				if restored, err := locus.Restore(t.Context(), to, file, nil); err != nil || restored.Differs() {
					t.Fatalf("%+v, %v", restored, err)
				}
			},
		} {
			t.Run(r.Name()+"/"+name, func(t *testing.T) {
				t.Parallel()
				file, err := os.Open(filepath.Join(at, name))
				must(t, err)
				defer file.Close()
				to := filepath.Join(t.TempDir(), "data")
				restore(t, file, to)
				s := open(t, to, 0)
				defer s.Close()
				f.leads(t, s)
				// made by a later matcher: it is read first, and checked and written afterwards
				if s.Kinds().State().Needed {
					must(t, s.Kinds().Upgrade(t.Context(), nil))
				}
				f.holds(t, s)
				added := put(t, s, record("new", "1", "Quill Dental of the Upgrade", "", ""),
					record("crm", "0", "Zephyr Trampolines 0", "415-555-0100", "12 Elm St"))
				if joined, err := s.Records().Get(t.Context(), entity.Ref{Source: "crm", Key: "0"}); err != nil || joined.Entity.String() != f.Entities["crm:0"] || added[0].Err != nil {
					t.Errorf("put again: %+v, %v", joined, err)
				}
				_, err = s.Counters().Add(t.Context(),
					counter.Batch{Key: "after", Hits: []counter.Hit{{Metric: "visits", N: 1, At: noon.Add(time.Hour)}}})
				must(t, err)
				if name != "directory.tar.zst" {
					return // what is dumped does not depend on which of the three it was
				}
				more := f
				more.Hits++
				more.Groups = maps.Clone(f.Groups)
				more.Groups["Quill Dental of the Upgrade"] = "1"
				var written bytes.Buffer
				d, err := s.Dump(t.Context())
				must(t, err)
				_, err = d.WriteTo(&written)
				d.Close()
				must(t, err)
				again := filepath.Join(t.TempDir(), "again")
				if restored, err := locus.Restore(t.Context(), again, &written, nil); err != nil || restored.Differs() {
					t.Fatalf("dumped again: %+v, %v", restored, err)
				}
				o := open(t, again, 0)
				defer o.Close()
				more.holds(t, o)
			})
		}
	}
}

// holds fails if an installation does not match the fixture, or a check finds something.
func (f *fixture) holds(t *testing.T, s *locus.DB) {
	t.Helper()
	f.leads(t, s)
	must(t, s.Cells().Check(t.Context(), cells.Checking{}, func(d cells.Difference) error {
		t.Errorf("%+v", d)
		return nil
	}, nil))
	if got := fixtureOf(t, s, slices.Collect(maps.Keys(f.Entities))); !maps.Equal(got.Groups, f.Groups) || got.Hits != f.Hits || got.Decided != f.Decided ||
		got.Imports != f.Imports {
		t.Errorf("is %+v\nwant %+v", got, f)
	}
}

// leads checks that each address leads to the entity that it had.
func (f *fixture) leads(t *testing.T, s *locus.DB) {
	t.Helper()
	for address, id := range f.Entities {
		e, err := s.Entities().Find(t.Context(), address)
		if err != nil || e.ID.String() != id {
			t.Errorf("%s: %+v, %v; want entity %s", address, e, err, id)
		}
	}
}

// fixtureOf describes an installation.
func fixtureOf(t *testing.T, s *locus.DB, addresses []string) *fixture {
	t.Helper()
	f := &fixture{Formats: formats(), Entities: map[string]string{}, Groups: map[string]string{}}
	for _, address := range addresses {
		e, err := s.Entities().Find(t.Context(), address)
		must(t, err)
		f.Entities[address] = e.ID.String()
	}
	for _, g := range latest(t, s, "names").Groups {
		f.Groups[g.Group[0]] = g.Total[0].String()
	}
	series, err := s.Counters().Recorder().Series(t.Context(), counter.Query{Metrics: []counter.Metric{"visits"}, Step: counter.ByDay, From: noon.Add(-48 * time.Hour), To: noon.Add(48 * time.Hour)})
	must(t, err)
	f.Hits = int64(series.Lines[0].Total)
	page, err := s.Decisions().List(t.Context(), decisions.Query{Limit: 100})
	must(t, err)
	f.Decided = len(page.Decisions)
	imports, err := s.Sources().Imports(t.Context())
	must(t, err)
	f.Imports = len(imports)
	return f
}

// writeFixture makes an installation of this Locus, and its files.
func writeFixture(t *testing.T, at string) {
	t.Helper()
	must(t, errors.Join(os.RemoveAll(at), os.MkdirAll(at, 0o750)))
	dir := filepath.Join(t.TempDir(), "data")
	s := open(t, dir, 2)
	var addresses []string
	add := func(inputs ...records.Input) {
		put(t, s, inputs...)
		for _, in := range inputs {
			addresses = append(addresses, in.Ref.Source+":"+in.Ref.Key)
		}
	}
	add(record("crm", "0", "Zephyr Trampolines 0", "415-555-0100", "12 Elm St"),
		record("web", "0", "Zephyr Trampolines 0", "(415) 555-0100", "12 Elm Street"))
	add(shops(12)...)
	add(records.Input{Ref: entity.Ref{Source: "hr", Key: "1"}, Kind: "person", Attributes: entity.Attributes{"name": {"Ann Lee"}, "emails": {"ann@example.org"}}},
		records.Input{Ref: entity.Ref{Source: "web", Key: "ann"}, Kind: "person", Attributes: entity.Attributes{"name": {"Lee, Ann"}, "emails": {"ann@example.org"}}})
	put(t, s, record("crm", "deleted", "Zephyr Trampolines 0", "415-555-0100", ""),
		record("crm", "erased", "Blue Door Books", "", ""))
	_, err := s.Records().Delete(t.Context(), []entity.Ref{{Source: "crm", Key: "deleted"}})
	must(t, err)
	_, err = s.Records().Erase(t.Context(), []entity.Ref{{Source: "crm", Key: "erased"}})
	must(t, err)
	_, err = s.Decisions().Merge(t.Context(), "s0:0", "hr:1", decisions.By{Author: "test"})
	if err == nil {
		t.Fatal("a shop and a person were merged")
	}
	_, err = s.Decisions().Merge(t.Context(), "s0:0", "s0:11", decisions.By{Author: "test", Reason: "the same owner"})
	must(t, err)
	_, err = s.Counters().Add(t.Context(),
		counter.Batch{Key: "before", Hits: []counter.Hit{{Metric: "visits", N: 7, At: noon}}})
	must(t, err)
	_, _, err = s.Rollups().Define(t.Context(), rollup.Definition{Name: "names", Kind: "place", Group: []string{"name"}, Measures: []rollup.Measure{{Name: "n", Func: rollup.Count}}})
	must(t, err)
	must(t, s.Sources().Imported(t.Context(), "crm", sources.Import{File: "crm.csv", Rows: 3,
		Outcomes: map[string]int64{"created": 2, sources.Refused: 1}, Refusals: []sources.Refusal{{Cause: "name missing", Rows: 1, First: 4}}}))
	text, err := json.MarshalIndent(fixtureOf(t, s, addresses), "", "  ")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(at, "fixture.json"), append(text, '\n'), 0o600))
	copyTo := func(name string, write func(io.Writer) error) {
		file, err := os.Create(filepath.Join(at, name))
		must(t, err)
		must(t, errors.Join(write(file), file.Close()))
	}
	copyTo("places.backup", func(w io.Writer) error { _, err := s.Backup(t.Context(), w); return err })
	copyTo("places.dump", func(w io.Writer) error {
		d, err := s.Dump(t.Context())
		if err != nil {
			return err
		}
		defer d.Close()
		_, err = d.WriteTo(w)
		return err
	})
	must(t, s.Close())
	copyTo("directory.tar.zst", func(w io.Writer) error {
		z, err := zstd.NewWriter(w)
		if err != nil {
			return err
		}
		to := tar.NewWriter(z)
		return errors.Join(to.AddFS(os.DirFS(dir)), to.Close(), z.Close())
	})
}

// untar unpacks a directory.
func untar(t *testing.T, file io.Reader, to string) {
	t.Helper()
	z, err := zstd.NewReader(file)
	must(t, err)
	defer z.Close()
	for from := tar.NewReader(z); ; {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		must(t, err)
		at := filepath.Join(to, filepath.FromSlash(h.Name))
		if h.FileInfo().IsDir() {
			must(t, os.MkdirAll(at, 0o700))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(at), 0o700))
		content, err := io.ReadAll(from)
		must(t, err)
		must(t, os.WriteFile(at, content, 0o600))
	}
}
