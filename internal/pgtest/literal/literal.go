// SPDX-License-Identifier: Apache-2.0

// Package literal is the directory of keys as the source text describes it, as a reference for tests of package
// cell. Growth adds a generation of cells, and then
//
//	look for the key in the newest generation, then in the one before it, down to the oldest;
//	where it is in none, insert it in the newest.
//
// Each cell has a unique index over its keys. Each router has the cell map, and reads it again after some keys. No
// cell is sealed and none knows the map: two routers that know different generations both miss a key and both
// insert it, and so does a router that is delayed between lookup and insertion.
package literal

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locus-db/locus/cell"
)

// Scheme stores its keys in a table of its own, in the databases of an installation.
type Scheme struct {
	newest func() (*cell.Map, error)
	lazy   int

	mu    sync.Mutex
	cells map[cell.ID]*database
}

// New returns a scheme whose routers read the newest map again after every lazy keys. The delay is counted in keys,
// not in time, so that a slow machine gives the same result as a fast one.
func New(newest func() (*cell.Map, error), lazy int) *Scheme {
	return &Scheme{newest: newest, lazy: lazy, cells: map[cell.ID]*database{}}
}

// Router is one of the processes that give out puids. It is safe for concurrent use.
type Router struct {
	scheme *Scheme

	mu   sync.Mutex
	m    *cell.Map
	keys int // keys put, minus those before its second map
}

// Router returns a router without a map, which will read its second one after first keys.
func (s *Scheme) Router(first int) *Router { return &Router{scheme: s, keys: -first} }

// Put returns the puid of a key, and allocates one if it finds none. After an error the key may have one.
func (r *Router) Put(ctx context.Context, source, key string) (puid int64, err error) {
	m, err := r.known()
	if err != nil {
		return 0, fmt.Errorf("read the cell map: %w", err)
	}
	k := m.KeyOf(source, key)
	for gen := m.Current(); gen >= m.Floor(); gen-- {
		if puid, err = r.scheme.find(ctx, m, m.Key(gen, k.Position()), k); err != nil || puid != 0 {
			return puid, err
		}
	}
	return r.scheme.insert(ctx, m, m.Home(k.Position()), k)
}

// known returns the map that the router has.
func (r *Router) known() (*cell.Map, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys++
	if r.m != nil && r.keys%r.scheme.lazy != 0 {
		return r.m, nil
	}
	m, err := r.scheme.newest()
	if err == nil {
		r.m = m
	}
	return m, err
}

// Count returns how many keys have a puid, and how many have more than one.
func (s *Scheme) Count(ctx context.Context, m *cell.Map) (keys, twice int, err error) {
	seen := map[string]int{}
	for _, id := range m.Cells() {
		rows, err := s.exec(ctx, m, id, "SELECT ring, digest FROM literal_key")
		if err != nil {
			return 0, 0, err
		}
		for _, row := range rows {
			name := string(row[0]) + string(row[1])
			if seen[name]++; seen[name] == 2 {
				twice++
			}
		}
	}
	return len(seen), twice, nil
}

// Close closes the connections.
func (s *Scheme) Close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, db := range s.cells {
		if db.conn != nil {
			errs = append(errs, db.conn.Close(ctx))
		}
	}
	return errors.Join(errs...)
}

const (
	sqlTable  = "CREATE TABLE IF NOT EXISTS literal_key (ring bigint, digest bytea, puid bigint GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (ring, digest))"
	sqlFind   = "SELECT puid FROM literal_key WHERE ring = $1 AND digest = decode($2, 'hex')"
	sqlInsert = "INSERT INTO literal_key (ring, digest) VALUES ($1, decode($2, 'hex')) ON CONFLICT DO NOTHING"
)

func (s *Scheme) find(ctx context.Context, m *cell.Map, id cell.ID, k cell.Key) (int64, error) {
	rows, err := s.exec(ctx, m, id, sqlFind, arguments(k)...)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	n, err := strconv.ParseInt(string(rows[0][0]), 10, 64)
	lo, _ := m.PuidRange(id)
	return lo + n, err
}

func (s *Scheme) insert(ctx context.Context, m *cell.Map, id cell.ID, k cell.Key) (int64, error) {
	if _, err := s.exec(ctx, m, id, sqlInsert, arguments(k)...); err != nil {
		return 0, err
	}
	return s.find(ctx, m, id, k)
}

func arguments(k cell.Key) [][]byte {
	return [][]byte{strconv.AppendInt(nil, k.Ring, 10), hex.AppendEncode(nil, k.Digest[:])}
}

// database is a connection to a cell shared by all routers: they interleave between statements, not within one.
type database struct {
	mu   sync.Mutex
	conn *pgconn.PgConn
}

// exec runs one statement in a cell.
func (s *Scheme) exec(ctx context.Context, m *cell.Map, id cell.ID, sql string, args ...[]byte) ([][][]byte, error) {
	s.mu.Lock()
	db := s.cells[id]
	if db == nil {
		db = &database{}
		s.cells[id] = db
	}
	s.mu.Unlock()
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.conn == nil {
		conn, err := pgconn.Connect(ctx, m.URL(id))
		if err != nil {
			return nil, err
		}
		if _, err := conn.Exec(ctx, sqlTable).ReadAll(); err != nil {
			return nil, errors.Join(err, conn.Close(ctx))
		}
		db.conn = conn
	}
	result := db.conn.ExecParams(ctx, sql, args, nil, nil, nil).Read()
	if db.conn.IsClosed() {
		db.conn = nil
	}
	return result.Rows, result.Err
}
