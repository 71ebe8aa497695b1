// SPDX-License-Identifier: Apache-2.0

package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance/mirrortest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small is an installation with one record per entity, in several cells.
type small struct {
	mu      sync.Mutex
	name    string
	logs    map[cell.ID][]changelog.Change
	trimmed map[cell.ID]changelog.Seq
	states  map[locality.ID]mirror.State
	fails   error
}

func newSmall(cells int) *small {
	s := &small{name: "one", logs: map[cell.ID][]changelog.Change{}, trimmed: map[cell.ID]changelog.Seq{},
		states: map[locality.ID]mirror.State{}}
	for i := range cells {
		s.logs[cell.ID{Index: uint32(i)}] = nil
	}
	return s
}

// put adds an entity, or a new version of it; id is its first byte, and i its cell.
func (s *small) put(i uint32, id byte, name string) locality.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, of := locality.ID{0: id, 15: 1}, cell.ID{Index: i}
	seq := changelog.Seq(len(s.logs[of]) + 1)
	s.logs[of] = append(s.logs[of], changelog.Change{Seq: seq, Time: time.Now(), Kind: changelog.Changed, Entity: at})
	s.states[at] = mirror.State{ID: at, Kind: mirror.Entity, Cell: of, At: seq, Thing: &mirror.Thing{
		Kind: "place", Stamp: uint64(seq) + uint64(id)<<32, Members: []entity.Member{{PUID: entity.PUID(id) + 1}},
		Attributes: []mirror.Attribute{{Name: "name", Value: &name,
			Values: []entity.MergedValue{{Value: name, Members: []int{0}}}}},
	}}
	return at
}

// fail makes every call fail with err from now on; nil restores them.
func (s *small) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = err
}

func (s *small) Installation(context.Context) (string, []cell.ID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []cell.ID
	for id := range s.logs {
		ids = append(ids, id)
	}
	return s.name, ids, s.fails
}

func (s *small) Tail(context.Context) (map[cell.ID]changelog.Seq, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tail := map[cell.ID]changelog.Seq{}
	for id, log := range s.logs {
		tail[id] = changelog.Seq(len(log))
	}
	return tail, s.fails
}

func (s *small) Changes(_ context.Context, of cell.ID, after changelog.Seq, limit int) ([]changelog.Change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if after < s.trimmed[of] {
		return nil, changelog.ErrTrimmed
	}
	log := slices.Clone(s.logs[of][after:])
	return log[:min(len(log), limit)], s.fails
}

func (s *small) ListStates(_ context.Context, of cell.ID, after locality.ID, limit int) (page []mirror.State, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.states {
		if st.Cell == of && st.ID.Compare(after) > 0 {
			page = append(page, st)
		}
	}
	slices.SortFunc(page, func(a, b mirror.State) int { return a.ID.Compare(b.ID) })
	return page[:min(len(page), limit)], s.fails
}

func (s *small) States(_ context.Context, ids []locality.ID, _ []entity.PUID) (states []mirror.State, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		st, there := s.states[id]
		if !there {
			st = mirror.State{ID: id, Kind: mirror.Unknown}
		}
		states = append(states, st)
	}
	return states, s.fails
}

// once runs a mirror until the target is up to date.
func once(t *testing.T, s *small, target mirror.Target) {
	t.Helper()
	if err := mirror.New(s, target, &mirror.Options{Once: true}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func verify(t *testing.T, s *small, target mirror.Target, opts *mirror.VerifyOptions) *mirror.Verification {
	t.Helper()
	v, err := mirror.Verify(t.Context(), s, target, opts)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestMirror_FollowsAndEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, target := newSmall(3), mirrortest.NewModel()
		s.put(0, 10, "a")
		ctx, cancel := context.WithCancel(t.Context())
		m := mirror.New(s, target, nil)
		done := make(chan error, 1)
		go func() { done <- m.Run(ctx) }()
		time.Sleep(time.Second) //nolint:forbidigo // no second passes in a bubble
		s.put(2, 20, "b")
		s.put(0, 10, "c")
		s.mu.Lock()
		s.logs[cell.ID{Gen: 1}] = nil // a cell was added
		s.mu.Unlock()
		time.Sleep(time.Minute) //nolint:forbidigo // nor here
		if v := verify(t, s, target, nil); v.Differ() > 0 || v.Compared != 2 {
			t.Errorf("%+v", v)
		}
		standings := m.Standings()
		if len(standings) != 4 || !standings[3].Filled || standings[0].At != 2 || standings[0].Behind() != 0 ||
			standings[0].Lag(time.Now()) != 0 {
			t.Errorf("%+v", standings)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestMirror_TriesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, target := newSmall(1), mirrortest.NewModel()
		s.put(0, 1, "a")
		var told []string
		m := mirror.New(s, target, &mirror.Options{Events: mirror.Events{Trouble: func(_ cell.ID, err error) { told = append(told, fmt.Sprint(err)) }}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- m.Run(ctx) }()
		time.Sleep(time.Second) //nolint:forbidigo // no second passes in a bubble
		s.put(0, 1, "b")
		s.fail(fmt.Errorf("%w: away", cell.ErrUnavailable))
		time.Sleep(time.Hour) //nolint:forbidigo // nor here
		s.fail(nil)
		time.Sleep(time.Minute) //nolint:forbidigo // nor here
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if len(told) != 2 || told[1] != "<nil>" {
			t.Errorf("told %q", told)
		}
		if v := verify(t, s, target, nil); v.Differ() > 0 {
			t.Errorf("%+v", v)
		}
	})
}

func TestMirror_EndsWithWhatIsNotToBeTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, target := newSmall(2), mirrortest.NewModel()
		once(t, s, target)
		failed := errors.New("forbidden")
		go func() {
			time.Sleep(time.Second) //nolint:forbidigo // no second passes in a bubble
			s.fail(failed)
			s.put(0, 1, "a")
		}()
		if err := mirror.New(s, target, nil).Run(t.Context()); !errors.Is(err, failed) {
			t.Error(err)
		}
	})
}

func TestMirror_BelongsToOneInstallation(t *testing.T) {
	t.Parallel()
	s, target := newSmall(2), mirrortest.NewModel()
	once(t, s, target)
	s.name = "another"
	if err := mirror.New(s, target, nil).Run(t.Context()); !errors.Is(err, mirror.ErrForeign) {
		t.Error(err)
	}
	if _, err := mirror.Verify(t.Context(), s, target, nil); !errors.Is(err, mirror.ErrForeign) {
		t.Error(err)
	}
	if _, err := mirror.StandingOf(t.Context(), s, target); !errors.Is(err, mirror.ErrForeign) {
		t.Error(err)
	}
	later := mirrortest.NewModel()
	if ok, err := later.PutFill(t.Context(), mirror.Fill{}, mirror.Fill{Name: "x", Installation: "another", Format: mirror.Format + 1}); !ok || err != nil {
		t.Fatal(err)
	}
	if err := mirror.New(s, later, nil).Run(t.Context()); !errors.Is(err, mirror.ErrFormat) {
		t.Error(err)
	}
}

// If the log does not reach back to the mirror's position, everything is filled again, and nothing is missed.
func TestMirror_FillsAgainAfterTheLogWasTrimmed(t *testing.T) {
	t.Parallel()
	s, target := newSmall(2), mirrortest.NewModel()
	s.put(0, 1, "a")
	once(t, s, target)
	s.put(0, 1, "b")
	s.put(0, 2, "c")
	s.trimmed[cell.ID{}] = 3
	var refilled []cell.ID
	m := mirror.New(s, target, &mirror.Options{Once: true, Events: mirror.Events{Refill: func(id cell.ID, why error) {
		if !errors.Is(why, changelog.ErrTrimmed) {
			t.Error(why)
		}
		refilled = append(refilled, id)
	}}})
	if err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v := verify(t, s, target, nil); v.Differ() > 0 || v.Compared != 2 || len(refilled) != 1 {
		t.Errorf("%+v, filled again: %v", v, refilled)
	}
}

// If the target is dropped, the next mirror starts from scratch.
func TestMirror_BeginsAnewInAnEmptyTarget(t *testing.T) {
	t.Parallel()
	s := newSmall(2)
	s.put(1, 1, "a")
	for range 2 {
		target := mirrortest.NewModel()
		once(t, s, target)
		if v := verify(t, s, target, nil); v.Differ() > 0 || v.Compared != 1 {
			t.Errorf("%+v", v)
		}
	}
}

func TestVerify_FindsEveryDifference(t *testing.T) {
	t.Parallel()
	s, target := newSmall(2), mirrortest.NewModel()
	ids := make([]locality.ID, 9)
	for i := range ids {
		ids[i] = s.put(uint32(i%2), byte(10*i), fmt.Sprint("name ", i))
	}
	once(t, s, target)
	docs, err := target.Documents(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	target.Drop(ids[0])
	target.Drop(ids[8])
	docs[3].Thing.Attributes[0].Name = "nAme" // with an unchanged stamp
	target.Put(docs[3])
	surplus := docs[4]
	surplus.ID[15] = 9
	target.Put(surplus)
	gone := mirror.Document{State: mirror.State{ID: locality.Max(), Kind: mirror.Deleted}, Version: 1}
	target.Put(gone) // of an ID unknown after a restore
	want := []mirror.Difference{{ids[0], mirror.Missing}, {ids[3], mirror.Different}, {surplus.ID, mirror.Surplus},
		{ids[8], mirror.Missing}}
	v := verify(t, s, target, nil)
	if !slices.Equal(v.First, want) || v.Missing != 2 || v.Different != 1 || v.Surplus != 1 || v.Differ() != 4 ||
		len(v.Late) > 0 || v.Compared != 11 {
		t.Errorf("%+v", v)
	}
	if v := verify(t, s, target, &mirror.VerifyOptions{Repair: true}); v.Repaired != 4 {
		t.Errorf("%+v", v)
	}
	if v := verify(t, s, target, nil); v.Differ() > 0 {
		t.Errorf("after the repair: %+v", v)
	}
	if docs, err := target.Documents(t.Context(), []locality.ID{surplus.ID}); err != nil || len(docs) != 1 || docs[0].Kind != mirror.Deleted || docs[0].Thing != nil {
		t.Errorf("%+v, %v", docs, err)
	}
}

// A mirror that catches up in time shows no difference; one that does not is reported as late.
func TestVerify_TellsLateFromWrong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, target := newSmall(1), mirrortest.NewModel()
		once(t, s, target)
		s.put(0, 1, "a")
		if v := verify(t, s, target, nil); v.Missing != 1 || !slices.Equal(v.Late, []cell.ID{{}}) {
			t.Errorf("%+v", v)
		}
		go func() {
			time.Sleep(time.Second) //nolint:forbidigo // no second passes in a bubble
			if err := mirror.New(s, target, &mirror.Options{Once: true}).Run(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		if v := verify(t, s, target, nil); v.Differ() > 0 || len(v.Late) > 0 {
			t.Errorf("%+v", v)
		}
		synctest.Wait()
	})
}
