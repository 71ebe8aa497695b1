// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// MoveOptions say what Move cannot know of the cell's contents, and who is told how it goes on. All but
// Progress are required.
type MoveOptions[T Store] struct {
	// Copier answers with the rows of a transaction.
	Copier func(T) Copier
	// Made lists the keys of what is not copied but made again (JournaledEntity), those after the
	// key only, at most limit.
	Made func(ctx context.Context, t T, after []any, limit int) ([][]any, error)
	// Make makes, in to, what stands under these keys in from, and removes what does not. A from that
	// is nil has none of them.
	Make func(ctx context.Context, from, to Database[T], keys [][]any) error
	// Last copies what else has to follow while nobody writes.
	Last func(ctx context.Context, from, to T) error
	// Progress is told after every batch of rows.
	Progress func(MoveProgress)
}

// MoveProgress tells how far a move is.
type MoveProgress struct {
	// Step is copy, follow, switch or done.
	Step string `json:"step"`
	// Table is the one that is being copied.
	Table string `json:"table,omitempty"`
	// Rows is how many rows have been copied, Followed how many changes of the journal.
	Rows     int64 `json:"rows"`
	Followed int64 `json:"followed"`
	// Pause is how long writers of the cell have waited, once it is over.
	Pause time.Duration `json:"pause_ns,omitempty"`
}

const (
	// moveBatch is how many rows are copied in one transaction.
	moveBatch = 1000
	// moveNear is how many entries of the journal a batch may have for the cell to be switched: the
	// last of them are copied while writers wait.
	moveNear = 200
	// moveRounds bounds how often the journal is read before the switch, for a cell that is written to
	// faster than it can be followed.
	moveRounds = 1000
)

// Move moves a cell to the database at url, which is made if it is not there, while it is written to. Rows
// are copied, then what changed meanwhile; then writers wait while the last changes follow and the map says
// where the cell is now. Until the map says so every failure leaves the cell where it was, serving. A move
// that was interrupted is begun again by the same call. The error is ErrIdentity if there is another cell at
// url.
func Move[T Store](ctx context.Context, c *Cells[T], id ID, url string, opts MoveOptions[T]) (MoveProgress, error) {
	m := &mover[T]{cells: c, id: id, url: url, opts: opts}
	if opts.Progress == nil {
		m.opts.Progress = func(MoveProgress) {}
	}
	if err := m.run(ctx); err != nil {
		return m.progress, fmt.Errorf("move cell %v: %w", id, err)
	}
	return m.progress, nil
}

// mover is one Move.
type mover[T Store] struct {
	cells    *Cells[T]
	id       ID
	url      string
	opts     MoveOptions[T]
	progress MoveProgress

	from   Database[T]
	to     Opened[T]
	tables []Table // those that are copied while the cell is written to
	seq    int64   // the last entry of the journal that was followed
}

func (m *mover[T]) run(ctx context.Context) (err error) {
	if err := m.cells.Refresh(ctx); err != nil {
		return err
	}
	cmap := m.cells.Map()
	if !cmap.Has(m.id) {
		return ErrNoCell
	}
	if cmap.URL(m.id) == m.url {
		return m.done()
	}
	// The database is held for as long as the move takes: afterwards it has to be told that the cell has
	// left, when the map leads to the new one already.
	home, err := m.cells.home(m.id)
	if err != nil {
		return err
	}
	conn, err := home.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.users.Done()
	m.from = conn.Opened
	if m.to, err = m.cells.Dial(ctx, m.url, true); err != nil {
		return unfit(err)
	}
	defer func() { err = errors.Join(err, m.to.Close()) }()
	if err := m.begin(ctx, cmap); err != nil {
		return err
	}
	if err = m.copy(ctx); err == nil {
		err = m.follow(ctx, moveNear)
	}
	if err == nil {
		err = m.change(ctx)
	}
	if err != nil {
		return errors.Join(err, m.giveUp(context.WithoutCancel(ctx)))
	}
	return m.done()
}

func (m *mover[T]) done() error {
	m.tell("done", "")
	return nil
}

func (m *mover[T]) tell(step, table string) {
	m.progress.Step, m.progress.Table = step, table
	m.opts.Progress(m.progress)
}

// begin empties the target, which an interrupted move may have left half full, and lets the source note what
// changes.
func (m *mover[T]) begin(ctx context.Context, cmap *Map) error {
	if err := putFirst(ctx, m.to, cmap); err != nil {
		return err
	}
	if err := m.to.Identify(ctx, cmap.IdentityOf(m.id, m.cells.opts.Rules)); err != nil {
		return err
	}
	if err := m.from.Exclusive(ctx, func(t T) error {
		head, err := t.Head(ctx)
		if err != nil {
			return err
		}
		if head.Home == Moving { // the last move was interrupted there
			head.Home = Serving
			if err := t.SetHead(ctx, head); err != nil {
				return err
			}
		}
		rows := m.opts.Copier(t)
		m.tables = slices.DeleteFunc(slices.Clone(rows.Tables()), func(t Table) bool { return t.Name == Total })
		return errors.Join(rows.Journal(ctx, false), rows.Journal(ctx, true))
	}); err != nil {
		return err
	}
	if err := m.empty(ctx); err != nil {
		return fmt.Errorf("empty the new database: %w", err)
	}
	return nil
}

// key is the key of a row.
func key(t Table, row []any) []any { return row[:t.Key] }

func (m *mover[T]) empty(ctx context.Context) error {
	for _, table := range m.tables {
		for more := true; more; {
			if err := m.to.Update(ctx, func(t T) error {
				rows, err := m.opts.Copier(t).ReadRows(ctx, table.Name, nil, moveBatch)
				if more = len(rows) == moveBatch; err != nil {
					return err
				}
				for i := range rows {
					rows[i] = key(table, rows[i])
				}
				return m.opts.Copier(t).DeleteRows(ctx, table.Name, rows)
			}); err != nil {
				return err
			}
		}
	}
	return m.each(ctx, m.to, func(keys [][]any) error { return m.opts.Make(ctx, nil, m.to, keys) })
}

// each lists what is made again, a batch at a time.
func (m *mover[T]) each(ctx context.Context, in Database[T], do func(keys [][]any) error) error {
	for after := []any(nil); ; {
		var keys [][]any
		if err := in.View(ctx, func(t T) (err error) {
			keys, err = m.opts.Made(ctx, t, after, moveBatch)
			return err
		}); err != nil || len(keys) == 0 {
			return err
		}
		if err := do(keys); err != nil {
			return err
		}
		after = keys[len(keys)-1]
	}
}

// copy copies all rows. What changes meanwhile is in the journal.
func (m *mover[T]) copy(ctx context.Context) error {
	for _, table := range m.tables {
		for after := []any(nil); ; {
			var rows [][]any
			if err := m.from.View(ctx, func(t T) (err error) {
				rows, err = m.opts.Copier(t).ReadRows(ctx, table.Name, after, moveBatch)
				return err
			}); err != nil {
				return fmt.Errorf("read %s: %w", table.Name, err)
			}
			if len(rows) == 0 {
				break
			}
			after = slices.Clone(key(table, rows[len(rows)-1]))
			if err := m.to.Update(ctx, func(t T) error { return m.opts.Copier(t).WriteRows(ctx, table.Name, rows) }); err != nil {
				return fmt.Errorf("write %s: %w", table.Name, err)
			}
			m.progress.Rows += int64(len(rows))
			m.tell("copy", table.Name)
		}
	}
	return m.each(ctx, m.from, func(keys [][]any) error {
		if err := m.opts.Make(ctx, m.from, m.to, keys); err != nil {
			return fmt.Errorf("make %s: %w", JournaledEntity, err)
		}
		m.progress.Rows += int64(len(keys))
		m.tell("copy", JournaledEntity)
		return nil
	})
}

// follow does again what the journal notes, until a batch of it has no more than so many entries.
func (m *mover[T]) follow(ctx context.Context, near int) error {
	for range moveRounds {
		var entries []JournalEntry
		if err := m.from.View(ctx, func(t T) (err error) {
			entries, err = m.opts.Copier(t).Journaled(ctx, m.seq, moveBatch)
			return err
		}); err != nil {
			return fmt.Errorf("read the journal: %w", err)
		}
		if len(entries) > 0 {
			if err := m.repeat(ctx, entries); err != nil {
				return err
			}
			m.seq = entries[len(entries)-1].Seq
			m.progress.Followed += int64(len(entries))
			m.tell("follow", "")
		}
		if len(entries) <= near {
			return nil
		}
	}
	return fmt.Errorf("%w: it is written to faster than it can be followed: try again at a calmer time", ErrUnavailable)
}

// repeat brings the rows of journal entries to the target as they are now.
func (m *mover[T]) repeat(ctx context.Context, entries []JournalEntry) error {
	changed, seen := map[string][][]any{}, map[string]bool{}
	for _, e := range entries {
		if name := fmt.Sprintf("%s %v", e.Table, e.Key); !seen[name] {
			seen[name] = true
			changed[e.Table] = append(changed[e.Table], e.Key)
		}
	}
	if keys := changed[JournaledEntity]; len(keys) > 0 {
		if err := m.opts.Make(ctx, m.from, m.to, keys); err != nil {
			return fmt.Errorf("make %s: %w", JournaledEntity, err)
		}
		delete(changed, JournaledEntity)
	}
	rows := map[string][][]any{}
	if err := m.from.View(ctx, func(t T) error {
		for table, keys := range changed {
			found, err := m.opts.Copier(t).RowsAt(ctx, table, keys)
			if err != nil {
				return fmt.Errorf("read %s: %w", table, err)
			}
			rows[table] = found
		}
		return nil
	}); err != nil {
		return err
	}
	return m.to.Update(ctx, func(t T) error {
		for table, found := range rows {
			var write, remove [][]any
			for i, row := range found {
				if row == nil {
					remove = append(remove, changed[table][i])
				} else {
					write = append(write, row)
				}
			}
			copier := m.opts.Copier(t)
			if err := errors.Join(copier.DeleteRows(ctx, table, remove), copier.WriteRows(ctx, table, write)); err != nil {
				return fmt.Errorf("write %s: %w", table, err)
			}
		}
		return nil
	})
}

// change makes writers wait, brings the rest, and has the map say where the cell is now.
func (m *mover[T]) change(ctx context.Context) error {
	m.tell("switch", "")
	begin := m.cells.opts.Now()
	var head Head
	if err := m.from.Exclusive(ctx, func(t T) (err error) {
		if head, err = t.Head(ctx); err != nil {
			return err
		}
		head.Home = Moving
		return t.SetHead(ctx, head)
	}); err != nil {
		return err
	}
	if err := m.follow(ctx, 0); err != nil {
		return err
	}
	if err := m.last(ctx, head); err != nil {
		return err
	}
	if err := m.point(ctx, head.Incarnation+1); err != nil {
		return err
	}
	m.progress.Pause = m.cells.opts.Now().Sub(begin)
	return nil
}

// last brings what is copied while nobody writes: the totals, the filter, the maps and the head.
func (m *mover[T]) last(ctx context.Context, head Head) error {
	return m.from.View(ctx, func(from T) error {
		total, err := m.opts.Copier(from).ReadRows(ctx, Total, nil, 1)
		if err != nil {
			return fmt.Errorf("read totals: %w", err)
		}
		filter, err := from.Filter(ctx)
		if err != nil {
			return err
		}
		texts, err := from.CellMaps(ctx)
		if err != nil {
			return err
		}
		return m.to.Exclusive(ctx, func(to T) error {
			if err := m.opts.Copier(to).WriteRows(ctx, Total, total); err != nil {
				return fmt.Errorf("write totals: %w", err)
			}
			if err := to.Skip(ctx, skipped); err != nil {
				return err
			}
			if err := to.SetFilter(ctx, filter); err != nil {
				return err
			}
			for _, text := range texts {
				kept, err := ParseMap(text)
				if err != nil {
					return err
				}
				if err := putNewer(ctx, to, kept.Epoch(), text); err != nil {
					return err
				}
			}
			if err := m.opts.Last(ctx, from, to); err != nil {
				return err
			}
			head.Home, head.Incarnation = Serving, head.Incarnation+1
			return to.SetHead(ctx, head)
		})
	})
}

// point has the map say where the cell is now, and tells whoever comes to the old database with an old map.
func (m *mover[T]) point(ctx context.Context, incarnation int) error {
	moved := func(s *Spec) {
		if s.Moved == nil {
			s.Moved = map[ID]Home{}
		}
		s.Moved[m.id] = Home{URL: m.url, Incarnation: incarnation}
	}
	if m.cells.Map().spec.Authority == m.id {
		return m.pointAuthority(ctx, moved)
	}
	if err := m.cells.retry(ctx, func(cmap *Map) error {
		if cmap.URL(m.id) == m.url {
			return nil // it was not known whether the map had been changed, and it was
		}
		return m.cells.change(ctx, cmap, moved)
	}); err != nil {
		return err
	}
	return m.left(ctx, func(T) error { return nil })
}

// left notes in the old database that the cell is elsewhere, and what else is written together with that.
func (m *mover[T]) left(ctx context.Context, also func(T) error) error {
	return m.from.Exclusive(ctx, func(t T) error {
		head, err := t.Head(ctx)
		if err != nil {
			return err
		}
		head.Home = Moved
		return errors.Join(also(t), t.SetHead(ctx, head))
	})
}

// pointAuthority moves the cell that keeps the newest map: the new database gets the version that says so
// first, and the old one has it from the moment at which it is the authority no more.
func (m *mover[T]) pointAuthority(ctx context.Context, moved func(*Spec)) error {
	old := m.cells.Map()
	next, err := old.successor(moved)
	if err != nil {
		return err
	}
	text, err := next.MarshalJSON()
	if err != nil {
		return err
	}
	put := func(t T) error {
		epoch, _, err := t.CellMap(ctx)
		switch {
		case err != nil || epoch == next.Epoch():
			return err
		case epoch != old.Epoch():
			return fmt.Errorf("%w: it has epoch %d, the one to follow has %d", ErrConflict, epoch, old.Epoch())
		}
		return t.PutCellMap(ctx, next.Epoch(), text)
	}
	if err := m.to.Exclusive(ctx, put); err != nil {
		return err
	}
	if err := m.left(ctx, put); err != nil {
		return err
	}
	m.cells.advance(next)
	m.cells.spread(ctx, old, next, text)
	return nil
}

// giveUp lets the cell serve where it was, unless the map says already that it is elsewhere.
func (m *mover[T]) giveUp(ctx context.Context) error {
	if err := m.cells.Refresh(ctx); err != nil {
		return fmt.Errorf("it is not known whether the cell has moved: repeat the move once the authority answers: %w", err)
	}
	if m.cells.Map().URL(m.id) == m.url {
		return m.left(ctx, func(T) error { return nil })
	}
	return m.from.Exclusive(ctx, func(t T) error {
		head, err := t.Head(ctx)
		if err != nil || head.Home != Moving {
			return err
		}
		head.Home = Serving
		return errors.Join(t.SetHead(ctx, head), m.opts.Copier(t).Journal(ctx, false))
	})
}
