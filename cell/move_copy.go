// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// each calls do with the keys of rebuilt rows, a batch at a time.
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

// copy copies all rows. Concurrent changes are in the journal.
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
			if err := m.target.Update(ctx, func(t T) error {
				return m.opts.Copier(t).WriteRows(ctx, table.Name, rows)
			}); err != nil {
				return fmt.Errorf("write %s: %w", table.Name, err)
			}
			m.progress.Rows += int64(len(rows))
			m.tell("copy", table.Name)
		}
	}
	return m.each(ctx, m.from, func(keys [][]any) error {
		if err := m.opts.Make(ctx, m.from, m.target, keys); err != nil {
			return fmt.Errorf("make %s: %w", JournaledEntity, err)
		}
		m.progress.Rows += int64(len(keys))
		m.tell("copy", JournaledEntity)
		return nil
	})
}

// follow replays the journal until a batch has at most near entries.
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
	return fmt.Errorf("%w: changes arrive faster than they can be copied: try again when there are fewer writes",
		ErrUnavailable)
}

// repeat copies the current rows of journal entries to the target.
func (m *mover[T]) repeat(ctx context.Context, entries []JournalEntry) error {
	changed, seen := map[string][][]any{}, map[string]bool{}
	for _, e := range entries {
		if name := fmt.Sprintf("%s %v", e.Table, e.Key); !seen[name] {
			seen[name] = true
			changed[e.Table] = append(changed[e.Table], e.Key)
		}
	}
	if keys := changed[JournaledEntity]; len(keys) > 0 {
		if err := m.opts.Make(ctx, m.from, m.target, keys); err != nil {
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
	return m.target.Update(ctx, func(t T) error {
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
