// SPDX-License-Identifier: Apache-2.0

package celltest_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance/celltest"
)

// plant gives a cell the planted bug of this name.
func plant(c celltest.Cell, bug string) celltest.Cell {
	if bug == "range is left" {
		c.LeaveRoom = func(int64) error { return nil }
	}
	if bug != "" {
		b := &buggy{Database: c.Database, bug: bug, lo: c.Lo, hi: c.Hi, rows: map[cell.Key]int64{}}
		b.both.Add(2)
		c.Database = b
	}
	return c
}

// buggy has bugs in whole transactions, buggyStore in calls of one.
type buggy struct {
	celltest.Database
	bug    string
	lo, hi int64

	updating atomic.Int64
	both     sync.WaitGroup // two writers have begun
	begun    atomic.Int64

	mu      sync.Mutex
	rows    map[cell.Key]int64 // rows that differ from the cell's
	given   int64              // the last puid
	base    int64              // subtracted from puids
	skipped uint64
	maps    [][]byte // every version
	pulses  map[cell.ID]cell.Pulse
}

type runner = func(context.Context, func(cell.Store) error) error

func (b *buggy) store(s cell.Store) *buggyStore { return &buggyStore{Store: s, buggy: b} }

// Update has the bugs of writers.
func (b *buggy) Update(ctx context.Context, fn func(cell.Store) error) error {
	b.updating.Add(1)
	defer b.updating.Add(-1)
	run := b.Database.Update
	switch b.bug {
	case "rollback keeps rows":
		return always(ctx, run, func(s cell.Store) error { return fn(b.store(s)) })
	case "error is swallowed":
		_ = run(ctx, func(s cell.Store) error { return fn(b.store(s)) })
		return nil
	case "updates write heads", "moved cells are written":
		run = b.Database.Exclusive
	case "seals do not wait":
		return fn(&each{b.Database.Update})
	case "heads are read outside", "maps are compared outside":
		var before outside
		if err := b.Database.View(ctx, func(s cell.Store) (err error) {
			before.head, err = s.Head(ctx)
			before.epoch, _, _ = s.CellMap(ctx)
			return err
		}); err != nil {
			return err
		}
		if b.bug == "maps are compared outside" {
			if b.begun.Add(1) <= 2 {
				b.both.Done()
			}
			b.both.Wait()
		}
		return run(ctx, func(s cell.Store) error {
			before.Store = s
			return fn(&before)
		})
	}
	return run(ctx, func(s cell.Store) error { return fn(b.store(s)) })
}

// Exclusive has the bugs of seals.
func (b *buggy) Exclusive(ctx context.Context, fn func(cell.Store) error) error {
	run := b.Database.Exclusive
	switch b.bug {
	case "exclusives always commit":
		return always(ctx, run, fn)
	case "exclusives run together":
		return fn(&each{run})
	case "writers overtake":
		for b.updating.Load() > 0 {
			runtime.Gosched()
		}
	case "seals read before they wait":
		var rows []cell.Row
		if err := b.View(ctx, func(s cell.Store) (err error) {
			rows, err = s.Scan(ctx, nil, 1<<20)
			return err
		}); err != nil {
			return err
		}
		return run(ctx, func(s cell.Store) error { return fn(&early{s, rows}) })
	}
	return run(ctx, func(s cell.Store) error { return fn(b.store(s)) })
}

// View has the bugs of readers.
func (b *buggy) View(ctx context.Context, fn func(cell.Store) error) error {
	run := b.Database.View
	switch b.bug {
	case "views see what is committed":
		return fn(&each{run})
	case "views write":
		run = b.Database.Exclusive
	}
	return run(ctx, func(s cell.Store) error { return fn(b.store(s)) })
}

// always commits, whatever fn returns.
func always(ctx context.Context, run runner, fn func(cell.Store) error) (err error) {
	return errors.Join(run(ctx, func(s cell.Store) error { err = fn(s); return nil }), err)
}

// outside is a transaction that read the head and the map before it began.
type outside struct {
	cell.Store
	head  cell.Head
	epoch uint64
}

func (o *outside) Head(context.Context) (cell.Head, error) { return o.head, nil }

func (o *outside) PutCellMap(ctx context.Context, epoch uint64, text []byte) error {
	if epoch <= o.epoch {
		return cell.ErrConflict
	}
	if has, _, err := o.Store.CellMap(ctx); err != nil || epoch <= has {
		return err // overwritten: two writers both believe that they were first
	}
	return o.Store.PutCellMap(ctx, epoch, text)
}

// early is a transaction that reads the state from before it waited.
type early struct {
	cell.Store
	rows []cell.Row
}

func (e *early) Lookup(_ context.Context, keys []cell.Key) ([]int64, error) {
	puids := make([]int64, len(keys))
	for i, k := range keys {
		for _, row := range e.rows {
			if row.Key == k {
				puids[i] = row.PUID
			}
		}
	}
	return puids, nil
}

// each runs every call in a transaction of its own.
type each struct{ run runner }

func (e *each) do(ctx context.Context, fn func(cell.Store) error) error {
	defer runtime.Gosched() // let another goroutine run
	return e.run(ctx, fn)
}

func (e *each) Head(ctx context.Context) (head cell.Head, err error) {
	err = e.do(ctx, func(s cell.Store) (err error) { head, err = s.Head(ctx); return err })
	return head, err
}

func (e *each) Require(ctx context.Context, check func(cell.Head) error) error {
	return e.do(ctx, func(s cell.Store) error { return s.Require(ctx, check) })
}

func (e *each) SetHead(ctx context.Context, head cell.Head) error {
	return e.do(ctx, func(s cell.Store) error { return s.SetHead(ctx, head) })
}

func (e *each) Lookup(ctx context.Context, keys []cell.Key) (puids []int64, err error) {
	err = e.do(ctx, func(s cell.Store) (err error) { puids, err = s.Lookup(ctx, keys); return err })
	return puids, err
}

func (e *each) Allocate(ctx context.Context, keys []cell.Key) (as []cell.Allocation, err error) {
	err = e.do(ctx, func(s cell.Store) (err error) { as, err = s.Allocate(ctx, keys); return err })
	return as, err
}

func (e *each) Copy(ctx context.Context, rows []cell.Row) error {
	return e.do(ctx, func(s cell.Store) error { return s.Copy(ctx, rows) })
}

func (e *each) Scan(ctx context.Context, after *cell.Key, limit int) (rows []cell.Row, err error) {
	err = e.do(ctx, func(s cell.Store) (err error) { rows, err = s.Scan(ctx, after, limit); return err })
	return rows, err
}

func (e *each) Drop(ctx context.Context, limit int) (n int, err error) {
	err = e.do(ctx, func(s cell.Store) (err error) { n, err = s.Drop(ctx, limit); return err })
	return n, err
}

func (e *each) Skip(ctx context.Context, n uint64) error {
	return e.do(ctx, func(s cell.Store) error { return s.Skip(ctx, n) })
}

func (e *each) CellMap(ctx context.Context) (epoch uint64, text []byte, err error) {
	err = e.do(ctx, func(s cell.Store) (err error) { epoch, text, err = s.CellMap(ctx); return err })
	return epoch, text, err
}

func (e *each) CellMaps(ctx context.Context) (texts [][]byte, err error) {
	err = e.do(ctx, func(s cell.Store) (err error) { texts, err = s.CellMaps(ctx); return err })
	return texts, err
}

func (e *each) PutCellMap(ctx context.Context, epoch uint64, text []byte) error {
	return e.do(ctx, func(s cell.Store) error { return s.PutCellMap(ctx, epoch, text) })
}

func (e *each) Witnesses(ctx context.Context) (pulses map[cell.ID]cell.Pulse, err error) {
	err = e.do(ctx, func(s cell.Store) (err error) { pulses, err = s.Witnesses(ctx); return err })
	return pulses, err
}

func (e *each) Attest(ctx context.Context, pulses map[cell.ID]cell.Pulse) error {
	return e.do(ctx, func(s cell.Store) error { return s.Attest(ctx, pulses) })
}

func (e *each) Mark(ctx context.Context, text string) error {
	return e.do(ctx, func(s cell.Store) error { return s.Mark(ctx, text) })
}

func (e *each) Rename(ctx context.Context, mapID string) error {
	return e.do(ctx, func(s cell.Store) error { return s.Rename(ctx, mapID) })
}

func (e *each) Filter(ctx context.Context) (f []byte, err error) {
	err = e.do(ctx, func(s cell.Store) (err error) { f, err = s.Filter(ctx); return err })
	return f, err
}

func (e *each) SetFilter(ctx context.Context, filter []byte) error {
	return e.do(ctx, func(s cell.Store) error { return s.SetFilter(ctx, filter) })
}

type buggyStore struct {
	cell.Store
	*buggy
}

func (s *buggyStore) SetHead(ctx context.Context, head cell.Head) error {
	switch s.bug {
	case "fences are narrow":
		head.Fence = int64(int32(head.Fence))
	case "images are forgotten":
		head.Images = ""
	}
	return s.Store.SetHead(ctx, head)
}

// keys drops the columns that a wrong primary key would ignore.
func (s *buggyStore) keys(keys []cell.Key) []cell.Key {
	keys = slices.Clone(keys)
	for i := range keys {
		switch s.bug {
		case "ring alone is the key":
			keys[i].Digest = [16]byte{}
		case "digest alone is the key":
			keys[i].Ring = 0
		}
	}
	return keys
}

func (s *buggyStore) Lookup(ctx context.Context, keys []cell.Key) ([]int64, error) {
	puids, err := s.Store.Lookup(ctx, s.keys(keys))
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, puid := range puids {
		if over, ok := s.rows[keys[i]]; ok {
			puids[i] = over
		}
		if puid != cell.Nothing && s.bug == "puid 0" {
			puids[i]--
		}
	}
	if s.bug == "missing keys are left out" {
		puids = slices.DeleteFunc(puids, func(puid int64) bool { return puid == cell.Nothing })
	}
	return puids, err
}

func (s *buggyStore) Allocate(ctx context.Context, keys []cell.Key) ([]cell.Allocation, error) {
	had, err := s.Store.Lookup(ctx, s.keys(keys))
	if err != nil {
		return nil, err
	}
	as, err := s.Store.Allocate(ctx, s.keys(keys))
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[cell.Key]bool{}
	for i := range as {
		a := &as[i]
		s.given = max(s.given, a.PUID)
		switch s.bug {
		case "all are fresh":
			a.Fresh = true
		case "duplicates in a batch":
			if seen[keys[i]] {
				a.PUID += 1000
			}
		case "old keys get new puids", "writers do not see each other":
			if had[i] != cell.Nothing {
				*a = cell.Allocation{PUID: a.PUID + 1000, Fresh: true}
			}
		case "puid 0":
			a.PUID--
		case "puids fall":
			a.PUID = s.hi + s.lo + 1 - a.PUID
		case "puids of dropped rows return":
			a.PUID -= s.base
		}
		seen[keys[i]] = true
	}
	if s.bug == "long batches are cut" && len(as) > 999 {
		as = as[:999]
	}
	if s.bug == "order is lost" && len(as) > 1 {
		as[0], as[1] = as[1], as[0]
	}
	return as, err
}

func (s *buggyStore) Copy(ctx context.Context, rows []cell.Row) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range rows {
		if s.bug == "copies overwrite" {
			s.rows[row.Key] = row.PUID
		}
	}
	return s.Store.Copy(ctx, rows)
}

func (s *buggyStore) Scan(ctx context.Context, after *cell.Key, limit int) ([]cell.Row, error) {
	all, err := s.Store.Scan(ctx, nil, 1<<30)
	if err != nil {
		return nil, err
	}
	order := func(a, b cell.Key) int {
		if s.bug == "rings are unsigned" {
			return cmp.Or(cmp.Compare(uint64(a.Ring), uint64(b.Ring)), bytes.Compare(a.Digest[:], b.Digest[:]))
		}
		return cmp.Or(cmp.Compare(a.Ring, b.Ring), bytes.Compare(a.Digest[:], b.Digest[:]))
	}
	slices.SortFunc(all, func(a, b cell.Row) int { return order(a.Key, b.Key) })
	all = slices.DeleteFunc(all, func(row cell.Row) bool {
		return after != nil && (order(row.Key, *after) < 0 || row.Key == *after && s.bug != "the key itself is scanned")
	})
	return all[:min(limit, len(all))], nil
}

func (s *buggyStore) Drop(ctx context.Context, limit int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bug == "puids of dropped rows return" {
		s.base = s.given - s.lo
	}
	if s.bug == "limit is for readers only" {
		limit = 1 << 30
	}
	return s.Store.Drop(ctx, limit)
}

func (s *buggyStore) Skip(ctx context.Context, n uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.skipped += n; s.bug == "nothing is skipped" || s.bug == "skipping goes round" && s.skipped >= 1<<32-1 {
		return nil
	}
	return s.Store.Skip(ctx, n)
}

func (s *buggyStore) CellMap(ctx context.Context) (uint64, []byte, error) {
	epoch, text, err := s.Store.CellMap(ctx)
	if s.bug == "old maps are the newest" && err == nil && epoch > 0 {
		texts, err := s.Store.CellMaps(ctx)
		return epoch, texts[0], err
	}
	return epoch, text, err
}

func (s *buggyStore) PutCellMap(ctx context.Context, epoch uint64, text []byte) error {
	if has, _, err := s.Store.CellMap(ctx); s.bug == "any map is newer" && has >= epoch {
		return err
	}
	if s.bug == "superseded maps are kept" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.maps = append(s.maps, text)
	}
	return s.Store.PutCellMap(ctx, epoch, text)
}

func (s *buggyStore) CellMaps(ctx context.Context) ([][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.maps != nil {
		return s.maps, nil
	}
	return s.Store.CellMaps(ctx)
}

func (s *buggyStore) Witnesses(ctx context.Context) (map[cell.ID]cell.Pulse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bug == "low pulses overwrite" {
		return maps.Clone(s.pulses), nil
	}
	return s.Store.Witnesses(ctx)
}

func (s *buggyStore) Attest(ctx context.Context, pulses map[cell.ID]cell.Pulse) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pulses == nil {
		s.pulses = map[cell.ID]cell.Pulse{}
	}
	maps.Copy(s.pulses, pulses)
	return s.Store.Attest(ctx, pulses)
}

func (s *buggyStore) SetFilter(ctx context.Context, filter []byte) error {
	if s.bug == "filters are kept" && filter == nil {
		return nil
	}
	return s.Store.SetFilter(ctx, filter)
}
