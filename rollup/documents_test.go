// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/documents"
	"github.com/locus-db/locus/rollup"
)

// apartStage is a stage where some rollups keep their groups in documents.
type apartStage struct {
	*stage
	docs documents.Store // nil for a process without documents
}

func newApartStage(t *testing.T) *apartStage { return &apartStage{newStage(t), shelf{}} }

func (s *apartStage) database() rollup.Database {
	db := s.stage.database()
	db.Elsewhere = groupsIn(s.docs)
	return db
}

func (s *apartStage) follower(owner string) *rollup.Follower {
	return rollup.NewFollower(rollup.Options{Database: s.database(), Owner: owner, TTL: time.Second, Now: func() time.Time { return s.now }})
}

func (s *apartStage) define(store rollup.Place) rollup.Version {
	s.Helper()
	d := definitions(`{ rollup: pets, kind: animal, group: tags, dimension: city, measures: { n: count } }`)[0]
	d.Store = store
	var next *rollup.Version
	s.update(func(c *cell) error {
		r, changed, err := rollup.Define(s.Context(), c, d, s.now)
		if err == nil && !changed {
			r, err = rollup.Rebuild(s.Context(), c, d.Name, s.now)
		}
		next = r.Next
		return err
	})
	return *next
}

// read returns a line for each group, and their log position.
func (s *apartStage) read(number int64) (changelog.Seq, string) {
	s.Helper()
	part, err := s.database().Read(s.Context(), rollup.Query{Generation: number}, nil)
	if err != nil {
		s.Fatal(err)
	}
	d := part.Standing.Definition
	groups, _ := rollup.Merge(&d, []*rollup.Part{part}, 0)
	var line []string
	for _, g := range groups {
		line = append(line, g.Group[0]+"="+g.Total[0].String())
	}
	return part.Standing.Watermark, strings.Join(line, " ")
}

func (s *apartStage) wantRead(number int64, at changelog.Seq, want string) {
	s.Helper()
	if w, got := s.read(number); w != at || got != want {
		s.Errorf("generation %d is %q at %d, want %q at %d", number, got, w, want, at)
	}
	if v, err := s.database().Verify(s.Context(), number, nil); err != nil || v.Differs > 0 {
		s.Errorf("verify generation %d: %+v, %v", number, v, err)
	}
}

// Readers of documents see changes that are not yet written, and count changes that were written ahead of the watermark
// once.
func TestDocuments_AreReadToTheEndOfTheLog(t *testing.T) {
	t.Parallel()
	s := newApartStage(t)
	s.put("a", "ears", 1, 2)
	v := s.define(rollup.InMongoDB)
	f := s.follower("a")
	s.build(f, v)
	s.wantRead(v.Generation, 2, "ears=2")
	s.put("a", "wings", 3, 1)
	s.wantRead(v.Generation, 4, "ears=1 wings=2")
	s.before = func(n int) error { return fmt.Errorf("update %d: killed before the watermark moves", n) }
	s.now = s.now.Add(1)
	_, err := f.Step(t.Context(), s.catalog)
	if s.before = nil; err == nil {
		t.Fatal("the step came to its end")
	}
	s.wantRead(v.Generation, 4, "ears=1 wings=2")
	s.put("a", "wings", 2)
	s.wantRead(v.Generation, 5, "wings=3")
	s.step(f)
	s.wantRead(v.Generation, 5, "wings=3")
	if g := s.at.generations[v.Generation]; g.Watermark != 5 || g.Groups != 1 {
		t.Errorf("the generation has %d groups at %d", g.Groups, g.Watermark)
	}
}

// Readers of documents are ahead of the watermark. A generation that is frozen for another one answers from one
// position, and the other one serves once it has reached this position.
func TestP05_ReadersOfDocumentsStandStill(t *testing.T) {
	t.Parallel()
	s := newApartStage(t)
	s.put("a", "ears", 1, 2)
	f := s.follower("a")
	first := s.define(rollup.InMongoDB)
	s.build(f, first)
	s.cutOver(first.Generation)
	second := s.define(rollup.InCell)
	s.build(f, second)
	s.put("a", "wings", 3)
	s.wantRead(first.Generation, 3, "ears=2 wings=1")
	if s.freeze(first.Generation, second.Generation) {
		t.Error("the second generation is at 2, readers of the first one were at 3")
	}
	s.put("a", "wings", 4)
	s.wantRead(first.Generation, 3, "ears=2 wings=1")
	s.step(f)
	s.wantRead(first.Generation, 3, "ears=2 wings=1")
	if !s.freeze(first.Generation, second.Generation) {
		t.Error("the second generation does not take the place of the first one")
	}
	s.cutOver(second.Generation)
	s.wantRead(second.Generation, 4, "ears=2 wings=2")
	s.wantRead(first.Generation, 3, "ears=2 wings=1")
	if err := f.Erase(t.Context(), first.Generation); err != nil {
		t.Fatal(err)
	}
	if left, _ := s.docs.Scan(t.Context(), documents.Namespace{}, nil, 9); len(left) > 0 || len(s.at.generations) != 1 {
		t.Errorf("left are %v, %v", left, s.at.generations)
	}
}

// A generation frozen for one that will not come continues.
func TestDocuments_GoOn(t *testing.T) {
	t.Parallel()
	s := newApartStage(t)
	s.put("a", "ears", 1, 2)
	f := s.follower("a")
	first := s.define(rollup.InMongoDB)
	s.build(f, first)
	s.cutOver(first.Generation)
	second := s.define(rollup.InMongoDB)
	s.build(f, second)
	s.freeze(first.Generation, second.Generation)
	s.put("a", "wings", 3)
	s.wantRead(first.Generation, 2, "ears=2")
	third := s.define(rollup.InCell)
	for s.step(f).More {
		s.now = s.now.Add(1)
	}
	s.wantRead(first.Generation, 3, "ears=2 wings=1")
	if g := s.at.generations[first.Generation]; g.Watermark != 3 || g.FrozenFor != 0 || g.FrozenAt != 0 {
		t.Errorf("generation %d, before %d, is %+v", first.Generation, third.Generation, g)
	}
}

// A process without documents skips the rollups that need them, reports why, and follows the others.
func TestDocuments_AProcessWithoutThem(t *testing.T) {
	t.Parallel()
	s := newApartStage(t)
	s.put("a", "ears", 1, 2)
	f := s.follower("a")
	v := s.define(rollup.InMongoDB)
	s.build(f, v)
	s.cutOver(v.Generation)
	other := definitions(`{ rollup: beside, kind: animal, group: city }`)[0]
	apart := definitions(`{ rollup: apart, kind: animal, group: city, store: mongodb }`)[0]
	var versions []rollup.Version
	s.update(func(c *cell) error {
		for _, d := range []rollup.Definition{other, apart} {
			r, _, err := rollup.Define(s.Context(), c, d, s.now)
			if err != nil {
				return err
			}
			versions = append(versions, *r.Next)
		}
		return nil
	})
	if err := f.Release(t.Context()); err != nil {
		t.Fatal(err)
	}

	s.docs = nil
	f = s.follower("b")
	s.step(f)
	p := s.step(f)
	if !errors.Is(p.Apart, rollup.ErrNoDocuments) || !strings.Contains(p.Apart.Error(), "--mongodb") ||
		len(p.Missing) != 1 || p.Missing[0].Generation != versions[0].Generation {
		t.Errorf("a process without documents is to do %+v", p)
	}
	if err := f.Build(t.Context(), p.Missing[0], nil); err != nil {
		t.Fatal(err)
	}
	s.put("b", "wings", 3)
	if p = s.step(f); p.Applied != 1 || p.Apart == nil {
		t.Errorf("it did %+v", p)
	}
	if at := s.at.generations[versions[0].Generation].Watermark; at != 3 {
		t.Errorf("what it can follow is at %d", at)
	}
	if err := f.Build(t.Context(), versions[1], nil); !errors.Is(err, rollup.ErrNoDocuments) {
		t.Errorf("Build says %v", err)
	}
	if _, err := s.database().Read(t.Context(), rollup.Query{Generation: v.Generation}, nil); !errors.Is(err, rollup.ErrNoDocuments) {
		t.Errorf("Read says %v", err)
	}
	s.update(func(c *cell) error { return rollup.Drop(s.Context(), c, "pets") })
	if p = s.step(f); len(p.Left) > 0 || p.Apart == nil {
		t.Errorf("it is to erase %v", p.Left)
	}

	s.docs = elsewhere{shelf{}}
	if _, err := s.database().Read(t.Context(), rollup.Query{Generation: v.Generation}, nil); !errors.Is(err, rollup.ErrNoDocuments) || !strings.Contains(err.Error(), "another") {
		t.Errorf("Read says %v", err)
	}
	f = s.follower("b")
	if p = s.step(f); len(p.Left) != 1 || f.Erase(t.Context(), p.Left[0]) != nil {
		t.Errorf("who has other documents is to erase %v", p.Left)
	}
}

// elsewhere is another document database.
type elsewhere struct{ shelf }

func (elsewhere) StoreID() string { return "elsewhere" }

// A restored cell has documents of a lost history: they are rebuilt.
func TestP04_DocumentsOfALostHistory(t *testing.T) {
	t.Parallel()
	s := newApartStage(t)
	s.put("a", "ears", 1, 2)
	f := s.follower("a")
	v := s.define(rollup.InMongoDB)
	s.build(f, v)
	s.cutOver(v.Generation)
	backup := s.at
	s.put("a", "wings", 1, 3)
	s.step(f)
	s.wantRead(v.Generation, 4, "ears=1 wings=2")

	s.at = backup.clone()
	s.at.history++
	s.at.bounds.Last += 10
	if _, err := s.database().Read(t.Context(), rollup.Query{Generation: v.Generation}, nil); !errors.Is(err, rollup.ErrGone) {
		t.Errorf("groups of a lost history are read: %v", err)
	}
	s.put("a", "fur", 4)
	p := s.step(f)
	if len(p.Missing) != 1 {
		t.Fatalf("nothing is to be built: %+v", p)
	}
	if err := f.Build(t.Context(), p.Missing[0], nil); err != nil {
		t.Fatal(err)
	}
	s.wantRead(v.Generation, 13, "ears=2 fur=1")
}

// With too many dimension values, the generation freezes at the position of its readers, and the other groups still
// answer.
func TestDocuments_AGenerationThatFails(t *testing.T) {
	t.Parallel()
	s := newApartStage(t)
	weigh := func(place int64, tag, weight string) {
		s.update(func(c *cell) error {
			c.put(rollup.Entities, place, &changelog.Image{Kind: "animal", Attributes: map[string][]string{"tags": {tag}, "weight": {weight}, "at": {fmt.Sprint(place)}}})
			return nil
		})
	}
	d := definitions(`{ rollup: pets, kind: animal, group: tags, dimension: at, measures: { w: { sum: weight } }, store: mongodb }`)[0]
	for i := range rollup.Slots {
		weigh(int64(i+1), "ears", "2")
	}
	s.update(func(c *cell) error { _, _, err := rollup.Define(s.Context(), c, d, s.now); return err })
	f := s.follower("a")
	s.step(f)
	for _, v := range s.step(f).Missing {
		if err := f.Build(t.Context(), v, nil); err != nil {
			t.Fatal(err)
		}
	}
	weigh(10_002, "wings", "7")
	weigh(10_003, "ears", "2") // one dimension value too many
	weigh(10_004, "fur", "5")
	before := fmt.Sprint(s.docs)
	s.step(f)
	if g := s.at.generations[1]; g.State != rollup.Failed || !strings.Contains(g.Reason, "5 values of at") || fmt.Sprint(s.docs) != before {
		t.Errorf("the generation is %+v, documents %v", g, s.docs)
	}
	last := s.at.generations[1].FrozenAt
	weigh(10_004, "fur", "6")
	for _, c := range []struct{ group, want string }{{"wings", "7"}, {"fur", "5"}, {"ears", "10"}} {
		part, err := s.database().Read(context.Background(), rollup.Query{Generation: 1, Keys: [][]string{{c.group}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		groups, _ := rollup.Merge(&d, []*rollup.Part{part}, 0)
		if len(groups) != 1 || groups[0].Total[0].String() != c.want || part.Standing.Watermark != last {
			t.Errorf("group %s is %v at %d", c.group, groups, part.Standing.Watermark)
		}
	}
	if v, err := s.database().Verify(t.Context(), 1, nil); err != nil || v.Differs != 0 || v.Watermark != last {
		t.Errorf("Verify of what stands still: %+v, %v", v, err)
	}
}

// Pages cover all groups, whatever empty documents lie between them.
func TestDocuments_PagesOverEmptyOnes(t *testing.T) {
	t.Parallel()
	s := newApartStage(t)
	for i := range int64(30) {
		s.put("a", fmt.Sprintf("t%02d", i), i)
	}
	f := s.follower("a")
	v := s.define(rollup.InMongoDB)
	s.build(f, v)
	s.update(func(c *cell) error {
		for i := range int64(30) {
			if i%10 != 9 {
				c.put(rollup.Entities, i, nil)
			}
		}
		return nil
	})
	for s.step(f).More {
	}
	d := v.Definition
	var got []string
	for q := (rollup.Query{Generation: v.Generation, Limit: 1}); ; {
		part, err := s.database().Read(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		groups, more := rollup.Merge(&d, []*rollup.Part{part}, q.Limit)
		for _, g := range groups {
			got, q.After = append(got, g.Group[0]), g.Group
		}
		if !more {
			break
		}
	}
	if fmt.Sprint(got) != "[t09 t19 t29]" {
		t.Errorf("the pages are %v", got)
	}
}

func TestDocuments_OnlyWhatAddsUp(t *testing.T) {
	t.Parallel()
	const text = `{ rollup: x, kind: k, group: g, store: %s, measures: { a: { %s: w } } }`
	for _, f := range []string{"min", "max", "distinct"} {
		_, err := rollup.Parse(fmt.Appendf(nil, text, "mongodb", f))
		if invalid, ok := errors.AsType[*rollup.InvalidError](err); !ok || !strings.Contains(invalid.Error(), "measures.a") || !strings.Contains(invalid.Error(), f+" keeps every value") {
			t.Errorf("%s: %v", f, err)
		}
	}
	for _, f := range []string{"sum", "avg"} {
		d, err := rollup.Parse(fmt.Appendf(nil, text, "mongodb", f))
		if err != nil || d.Store != rollup.InMongoDB {
			t.Fatalf("%s: %+v, %v", f, d, err)
		}
		plain, err := rollup.Parse([]byte(strings.Replace(fmt.Sprintf(text, "mongodb", f), "store: mongodb, ", "", 1)))
		if err != nil || plain.Equal(*d) {
			t.Errorf("where groups are kept makes no difference to a definition, %v", err)
		}
		written, err := d.MarshalJSON()
		again, errAgain := rollup.Parse(written)
		if err != nil || errAgain != nil || !again.Equal(*d) {
			t.Errorf("%s, read again: %v, %v, %v", written, again, err, errAgain)
		}
	}
	if _, err := rollup.Parse(fmt.Appendf(nil, text, "attic", "sum")); err == nil || !strings.Contains(err.Error(), "store") {
		t.Errorf("a store that is none: %v", err)
	}
}

// hooked calls a function once before a write.
type hooked struct {
	shelf
	before *func()
}

func (h hooked) Swap(ctx context.Context, in documents.Namespace, swaps []documents.Swap) ([]bool, error) {
	if do := *h.before; do != nil {
		*h.before = nil
		do()
	}
	return h.shelf.Swap(ctx, in, swaps)
}

// A worker is paused between its read and its write, while another one takes the lease and writes the next batch: the
// group has returned to its previous state, is empty, or is new. The late write of the first one has no effect.
func TestP04_ALateWorkerWritesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, then string // the tags of animal 2
		want        string
	}{
		"what it was": {"ears", "wings", "ears=1 wings=1"},
		"empty":       {"fur", "wings", "ears=1 wings=1"},
		"another":     {"fur", "ears", "ears=2"},
		"more":        {"ears", "ears", "ears=2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newApartStage(t)
			var late func()
			s.docs = hooked{shelf{}, &late}
			s.put("a", "ears", 1)
			v := s.define(rollup.InMongoDB)
			a, b := s.follower("a"), s.follower("b")
			s.build(a, v)
			s.put("a", c.first, 2)
			late = func() {
				s.put("b", c.then, 2)
				if err := a.Release(t.Context()); err != nil {
					t.Fatal(err)
				}
				s.step(b)
				s.wantRead(v.Generation, 3, c.want)
			}
			if p, err := a.Step(t.Context(), s.catalog); p.Held || err != nil {
				t.Errorf("the late worker says %+v, %v", p, err)
			}
			s.wantRead(v.Generation, 3, c.want)
			s.step(b)
			s.wantRead(v.Generation, 3, c.want)
			if g := s.at.generations[v.Generation]; g.Watermark != 3 || int(g.Groups) != strings.Count(c.want, "=") {
				t.Errorf("the generation has %d groups at %d", g.Groups, g.Watermark)
			}
		})
	}
}

// killedBetween writes the first of several documents, and no other.
type killedBetween struct{ shelf }

func (k killedBetween) Swap(_ context.Context, in documents.Namespace, swaps []documents.Swap) ([]bool, error) {
	k.swap(in, swaps[0])
	return nil, errSimKilled
}

// asked calls a function once before a read.
type asked struct {
	shelf
	before *func()
}

func (a asked) Documents(ctx context.Context, in documents.Namespace, keys [][]byte) ([]documents.Document, error) {
	if do := *a.before; do != nil {
		*a.before = nil
		do()
	}
	return a.shelf.Documents(ctx, in, keys)
}

// A worker whose lease was copied with its process finds a document beyond the end of its batch: another one wrote it
// and was killed before the next document. The watermark must not pass that one.
func TestP04_ADocumentBeyondTheBatch(t *testing.T) {
	t.Parallel()
	s := newApartStage(t)
	var paused func()
	all := shelf{}
	s.docs = asked{all, &paused}
	s.put("a", "ears", 1)
	v := s.define(rollup.InMongoDB)
	a := s.follower("a")
	s.build(a, v)
	s.put("a", "ears", 2)
	s.put("a", "wings", 3)
	paused = func() {
		s.put("a", "ears", 4)
		held := s.at.leases[rollup.LeaseName]
		s.update(func(c *cell) error { delete(c.leases, rollup.LeaseName); return nil })
		s.docs = killedBetween{all}
		if p, err := s.follower("b").Step(t.Context(), s.catalog); err != nil || !errors.Is(p.Apart, errSimKilled) {
			t.Errorf("the other worker is not killed: %+v, %v", p, err)
		}
		s.update(func(c *cell) error { c.leases[rollup.LeaseName] = held; return nil })
	}
	s.step(a)
	if paused != nil {
		t.Fatal("the worker did not read documents")
	}
	if g := s.at.generations[v.Generation]; g.Watermark != 1 {
		t.Errorf("the watermark is %d, and the document of wings has nothing after 1", g.Watermark)
	}
	s.wantRead(v.Generation, 4, "ears=3 wings=1")
	s.docs = all
	s.step(a)
	s.wantRead(v.Generation, 4, "ears=3 wings=1")
}
