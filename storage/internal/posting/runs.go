// SPDX-License-Identifier: Apache-2.0

package posting

import (
	"context"
	"errors"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/resolve/derived"
)

// The tables of the postings.
const (
	StateTable = "posting_state"
	ChunkTable = "posting_chunk"
)

// Row is a row of the chunk table.
type Row struct {
	ID   int64
	Body []byte
	Sum  int64 // see SumOf
}

// SumOf returns the checksum of a row of the chunk table, or with id 1 of the row of the state.
func SumOf(id int64, body []byte) int64 { return cell.Sum(id, body) }

// Rows reads and writes the rows of a cell inside one transaction.
type Rows interface {
	// State reads the row of the state. With lock, other transactions that lock it wait for this one to end.
	State(ctx context.Context, lock bool) (Row, error)
	// PutState writes it.
	PutState(ctx context.Context, state Row) error
	// Chunks reads rows of the chunk table, in any order; missing ones are left out.
	Chunks(ctx context.Context, ids []int64) ([]Row, error)
	// PutChunks writes new rows, DropChunks deletes some.
	PutChunks(ctx context.Context, rows []Row) error
	DropChunks(ctx context.Context, ids []int64) error
	// Clear deletes all rows of the chunk table.
	Clear(ctx context.Context) error
}

// Distant is Rows that are read over a network.
type Distant interface {
	Rows
	// StateAhead is State, and reads rows of the chunk table in the same round trip; missing ones are left out.
	StateAhead(ctx context.Context, lock bool, ids []int64) (state Row, chunks []Row, err error)
}

const (
	// tailSize is the size in bytes at which the tail becomes a run. Until then, batches of a few records write one
	// row.
	tailSize = 512
	// fanout is how many runs are merged into one.
	fanout = 8
	// levelZero is the maximum number of entries in a run of level 0; each level has fanout times as many.
	levelZero = 2000
	// extended is how many postings may be appended to a run if all of them come after it, so that a load writes few
	// runs.
	extended = 2 * levelZero
	// dropsAtOnce is how many rows are deleted at a time.
	dropsAtOnce = 4096
	// tries is how often rows are read again because another transaction has merged them in the meantime.
	tries = 20
)

// Runs is the postings of a cell inside a transaction.
type Runs struct {
	rows  Rows
	cache *Cache
	// steady is set if the rows that the transaction reads do not change.
	steady bool
	state  *state        // nil if it has to be read
	ahead  map[int64]Row // rows of the chunk table that were read with the state
}

// New returns the postings of a cell. snapshot states that all statements of the transaction see the same rows;
// otherwise they do so only from its first write on.
func New(rows Rows, cache *Cache, snapshot bool) *Runs {
	return &Runs{rows: rows, cache: cache, steady: snapshot}
}

// current returns the state as the transaction sees it. asks are the queries that will follow.
func (r *Runs) current(ctx context.Context, lock bool, asks []ask) (*state, error) {
	if r.state != nil && r.steady {
		return r.state, nil
	}
	row, err := r.read(ctx, lock, asks)
	if err != nil {
		return nil, err
	}
	if err := row.damage(StateTable); err != nil {
		return nil, err
	}
	s, err := parseState(row.Body)
	if err != nil {
		return nil, cell.Damaged(StateTable, row.ID, err)
	}
	r.state = s
	r.steady = r.steady || lock
	r.cache.saw(s)
	return s, nil
}

// read reads the row of the state. Over a network it also reads the rows that asks need, provided that the list of runs
// is still the one that this process saw last.
func (r *Runs) read(ctx context.Context, lock bool, asks []ask) (Row, error) {
	distant, is := r.rows.(Distant)
	if !is {
		return r.rows.State(ctx, lock)
	}
	state, chunks, err := distant.StateAhead(ctx, lock, r.guess(asks))
	r.ahead = make(map[int64]Row, len(chunks))
	for _, row := range chunks {
		r.ahead[row.ID] = row
	}
	return state, err
}

// guess returns the rows that asks need if the list of runs has not changed: chunks, and the index of runs that are new
// to the process.
func (r *Runs) guess(asks []ask) (ids []int64) {
	s := r.cache.seen()
	if s == nil || len(asks) == 0 {
		return nil
	}
	f := &finder{runs: r, state: s, indexes: r.cache.some(s.runs)}
	for i, x := range f.indexes {
		if x == nil {
			ids = append(ids, s.runs[i].indexIDs()...)
		}
	}
	return append(ids, f.missing(f.wants(asks))...)
}

var errSum = errors.New("its checksum is wrong")

func (r Row) damage(table string) error {
	if r.Sum != SumOf(r.ID, r.Body) {
		return cell.Damaged(table, r.ID, errSum)
	}
	return nil
}

// chunks reads rows of the chunk table that must be there.
func (r *Runs) chunks(ctx context.Context, ids []int64) (map[int64][]byte, error) {
	var rows []Row
	var rest []int64
	for _, id := range ids {
		if row, read := r.ahead[id]; read {
			rows = append(rows, row)
		} else {
			rest = append(rest, id)
		}
	}
	if len(rest) > 0 {
		read, err := r.rows.Chunks(ctx, rest)
		if err != nil {
			return nil, err
		}
		rows = append(rows, read...)
	}
	found := make(map[int64][]byte, len(rows))
	for _, row := range rows {
		if err := row.damage(ChunkTable); err != nil {
			return nil, err
		}
		found[row.ID] = row.Body
	}
	for _, id := range ids {
		if found[id] == nil {
			return nil, cell.Damaged(ChunkTable, id, errMissing)
		}
	}
	return found, nil
}

var errMissing = errors.New("there is no such row")

// again calls read with the state. It repeats the call if rows were missing because another transaction has merged
// them. asks are the queries of read.
func (r *Runs) again(ctx context.Context, asks []ask, read func(*state) error) error {
	for try := 1; ; try++ {
		s, err := r.current(ctx, false, asks)
		if err == nil {
			err = read(s)
		}
		if r.steady || try == tries || !errors.Is(err, errMissing) {
			return err
		}
	}
}

// Post adds and removes postings.
func (r *Runs) Post(ctx context.Context, add, remove []derived.Posting) error {
	if len(add)+len(remove) == 0 {
		return nil
	}
	batch := make([]entry, 0, len(add)+len(remove))
	for _, p := range remove {
		batch = append(batch, entry{placeOf(p), true})
	}
	for _, p := range add {
		batch = append(batch, entry{placeOf(p), false})
	}
	now, err := r.current(ctx, true, nil)
	if err != nil {
		return err
	}
	s := now.clone()
	tail, err := unpacked(s.tail)
	if err != nil {
		return cell.Damaged(StateTable, 1, err)
	}
	batch = append(batch, tail...)
	// Of equal places the first entry counts: a removal of this call, then an addition, then the tail.
	slices.SortStableFunc(batch, func(a, b entry) int { return a.compare(b.place) })
	batch = slices.CompactFunc(batch, func(a, b entry) bool { return a.place == b.place })
	if len(s.runs) == 0 {
		batch = slices.DeleteFunc(batch, func(e entry) bool { return e.gone })
	}
	if len(batch) <= tailSize {
		if body := packed(batch); len(body) <= tailSize {
			s.tail = body
			return r.put(ctx, s)
		}
	}
	s.tail = packed(nil)
	if err := r.append(ctx, s, batch); err != nil {
		return err
	}
	if err := r.level(ctx, s); err != nil {
		return err
	}
	return r.put(ctx, s)
}

// put writes the state.
func (r *Runs) put(ctx context.Context, s *state) error {
	body := s.marshal()
	if err := r.rows.PutState(ctx, Row{ID: 1, Body: body, Sum: SumOf(1, body)}); err != nil {
		return err
	}
	r.state, r.steady = s, true
	r.cache.saw(s)
	return nil
}
