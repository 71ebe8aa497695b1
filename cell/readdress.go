// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Readdress turns a copy of an installation into a separate installation when it is opened: its map then leads to the
// copy and has a new ID. It is idempotent; after an error, repeat the call.
type Readdress struct {
	// URL maps a URL, or a template of URLs, of the original to one of the copy, and reports whether it has an entry
	// for the URL. A URL of the copy stays as it is.
	URL func(url string) (string, bool)
	// Agree is called with the old and new URL of every cell before anything is written. If it returns an error,
	// Readdress changes nothing.
	Agree func(m *Map, cells []Readdressed) error
}

// Rewrite returns a Readdress.URL that replaces URL prefixes, given as pairs of old and new: with postgres://db1/locus
// and postgres://db2/locus, postgres://db1/locus_g{g}_{i}?port=1 becomes postgres://db2/locus_g{g}_{i}?port=1. If the
// new prefix has parameters, they replace those of the old URL.
func Rewrite(pairs [][2]string) func(url string) (string, bool) {
	return func(url string) (string, bool) {
		for _, pair := range pairs {
			if _, stays := under(url, pair[1]); stays {
				return url, true
			}
		}
		for _, pair := range pairs {
			if rest, ok := under(url, pair[0]); ok {
				_, query, _ := strings.Cut(url, "?")
				to, newer, found := strings.Cut(pair[1], "?")
				if found {
					query = newer
				}
				if query != "" {
					query = "?" + query
				}
				return to + rest + query, true
			}
		}
		return url, false
	}
}

// under reports whether url is below the URL of, and returns the rest of its path, without parameters.
func under(url, of string) (rest string, ok bool) {
	url, has, _ := strings.Cut(url, "?")
	of, query, asks := strings.Cut(of, "?")
	if asks && has != query {
		return "", false
	}
	rest, ok = strings.CutPrefix(url, of)
	return rest, ok && (rest == "" || rest[0] == '/' || len(rest) > 2 && rest[:2] == "_g" &&
		(rest[2] == '{' || '0' <= rest[2] && rest[2] <= '9'))
}

// Readdressed is a cell whose URL is rewritten.
type Readdressed struct {
	Cell     ID
	From, To string
}

// readdress rewrites the map of a copy; db is the database of its authority.
func (c *Cells[T]) readdress(ctx context.Context, db Opened[T], m *Map) (*Map, error) {
	for {
		next, cells, err := m.readdressed(c.opts.Readdress.URL)
		if err != nil {
			return nil, err
		}
		if err := c.opts.Readdress.Agree(m, cells); err != nil {
			return nil, err
		}
		newest, err := c.survey(ctx, m, cells)
		switch {
		case err != nil:
			return nil, err
		case newest.Epoch() > m.Epoch(): // the authority was restored from an older backup than this cell
			m = newest
			continue
		}
		return next, c.rename(ctx, db, next, cells)
	}
}

// readdressed returns the map with other URLs and another ID, and each cell with its old and new URL. A map that
// already leads to the copy is returned unchanged.
func (m *Map) readdressed(url func(string) (string, bool)) (*Map, []Readdressed, error) {
	var unknown []string
	rewrite := func(from string) string {
		to, known := url(from)
		if !known && !slices.Contains(unknown, from) {
			unknown = append(unknown, from)
		}
		return to
	}
	next, err := m.next(func(s *Spec) {
		for _, g := range s.Generations {
			for i := range g.URLs {
				g.URLs[i] = rewrite(g.URLs[i])
			}
		}
		for id, home := range s.Moved {
			home.URL = rewrite(home.URL)
			s.Moved[id] = home
		}
		var id [16]byte
		rand.Read(id[:])
		s.ID = hex.EncodeToString(id[:])
	})
	if len(unknown) > 0 {
		for i := range unknown {
			unknown[i] = Redact(unknown[i])
		}
		return nil, nil, fmt.Errorf("%w: its cell map points to %v, whose copy is not named: give --map OLD=NEW for each server, OLD=OLD for one that was restored in place",
			ErrCopy, unknown)
	}
	if err != nil {
		return nil, nil, err
	}
	cells := make([]Readdressed, 0, len(m.Cells()))
	same := true
	for _, id := range m.Cells() {
		cells = append(cells, Readdressed{id, m.URL(id), next.URL(id)})
		same = same && m.URL(id) == next.URL(id)
	}
	if same {
		next = m
	}
	return next, cells, nil
}

// survey checks every database of the copy before the first is written to: it must exist, be the right cell, and not be
// the original's database. It returns the newest map found in them.
func (c *Cells[T]) survey(ctx context.Context, m *Map, cells []Readdressed) (*Map, error) {
	newest := m
	var mu sync.Mutex
	err := c.apart(ctx, cells, func(ctx context.Context, r Readdressed, db Opened[T]) error {
		if r.From == r.To { // already readdressed, and perhaps renamed
			return nil
		}
		if err := db.Identify(ctx, m.IdentityOf(r.Cell, c.opts.Rules)); err != nil {
			return err
		}
		// an original that cannot be reached cannot be this database
		if same, err := c.leads(ctx, r.From, db); err == nil && same {
			return fmt.Errorf("%w: %s is the same database as %s: nothing was copied there", ErrIdentity, Redact(r.To), Redact(r.From))
		}
		_, has, err := readMap(ctx, db)
		mu.Lock()
		defer mu.Unlock()
		if err == nil && has != nil && has.spec.ID == m.spec.ID && has.Epoch() > newest.Epoch() {
			newest = has
		}
		return err
	})
	return newest, err
}

// rename gives every cell the new map and its ID, the authority first, because it keeps the map IDs that the others may
// still have.
func (c *Cells[T]) rename(ctx context.Context, db Opened[T], next *Map, cells []Readdressed) error {
	text, err := next.MarshalJSON()
	if err != nil {
		return err
	}
	give := func(t T) error {
		if err := t.Rename(ctx, next.spec.ID); err != nil {
			return err
		}
		if err := putNewer(ctx, t, next.Epoch(), text); err != nil {
			return err
		}
		return tell(ctx, t, next.Epoch())
	}
	names := []string{next.spec.ID}
	if err := db.Exclusive(ctx, func(t T) error {
		texts, err := t.CellMaps(ctx)
		if err != nil {
			return err
		}
		for _, text := range texts {
			kept, err := ParseMap(text)
			if err != nil {
				return err
			}
			if !slices.Contains(names, kept.spec.ID) {
				names = append(names, kept.spec.ID)
			}
		}
		return give(t)
	}); err != nil {
		return err
	}
	return c.apart(ctx, cells, func(ctx context.Context, r Readdressed, db Opened[T]) error {
		id := next.IdentityOf(r.Cell, c.opts.Rules)
		var err error
		for _, id.Map = range names {
			if err = db.Identify(ctx, id); !errors.Is(err, ErrIdentity) {
				break
			}
		}
		if err != nil {
			return err
		}
		return db.Exclusive(ctx, give)
	})
}

// apart opens each database of a copy on a separate connection, several at a time, and calls do with it.
func (c *Cells[T]) apart(ctx context.Context, cells []Readdressed,
	do func(context.Context, Readdressed, Opened[T]) error) error {
	at := map[ID]Readdressed{}
	ids := make([]ID, 0, len(cells))
	for _, r := range cells {
		at[r.Cell] = r
		ids = append(ids, r.Cell)
	}
	return each(ctx, ids, func(ctx context.Context, id ID) error {
		db, err := c.Dial(ctx, at[id].To, false)
		if err == nil {
			err = errors.Join(do(ctx, at[id], db), db.Close())
		}
		if err != nil {
			return fmt.Errorf("readdress cell %v at %s: %w", id, Redact(at[id].To), err)
		}
		return nil
	})
}
