// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/storage"
)

const (
	// maxPoint is the longest name of a restore point of PostgreSQL, in bytes.
	maxPoint = 63
	// pointRow is the name of the row that says in each cell which mark it is before or beyond.
	pointRow = "backup/point"
	// patience is how long it may take until all cells are held, while writes wait.
	patience = 10 * time.Second
	// breath is how often a transaction that blocks a cell sends a statement, because servers end transactions that are
	// idle for seconds.
	breath = time.Second
)

// Errors of Point, and of AtMark: a cell was not recovered to the mark.
var (
	ErrNoServer  = cell.ErrNoServer
	ErrNoPoint   = cell.ErrNoPoint
	ErrNotAtMark = problem.Class(problem.ErrConflict, "restore: not every cell is at the mark")
)

// passing is the result of pointRow.
type passing struct {
	ID   string `json:"id"` // of the mark, since a name may come again
	Name string `json:"name"`
	// Passed is written in the transaction that held the cell, so no state of the cell after the mark lacks it.
	Passed bool `json:"passed,omitempty"`
}

// Point makes a moment to which all servers of the cells can be recovered together, and notes it. Every write waits
// while the servers make their restore points, and for two seconds if one of them makes none. It returns
// cell.ErrNoServer if no cell is on a server, and cell.ErrNoPoint if only some are.
func Point(ctx context.Context, e *engine.Engine, name string) (*Mark, error) {
	if name == "" || len(name) > maxPoint || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, problem.Invalid("/name", "range", "want a name of 1 to %d letters, digits and signs of ASCII", maxPoint)
	}
	for {
		if err := e.Refresh(ctx); err != nil {
			return nil, err
		}
		if err := e.Cells.Recoverable(); err != nil {
			return nil, err
		}
		p := &point{engine: e, ids: e.Map().Cells(), passing: passing{ID: rand.Text(), Name: name}}
		m, err := p.make(ctx)
		if errors.Is(err, errGrown) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("mark %s: %w", name, engine.Wrap(err))
		}
		return m, Note(ctx, e, *m)
	}
}

// errGrown means that cells were added while the others were being locked.
var errGrown = errors.New("backup: cells were added")

// point is a mark while it is made.
type point struct {
	engine *engine.Engine
	ids    []cell.ID
	passing
}

func (p *point) make(ctx context.Context) (m *Mark, err error) {
	if err := p.engine.Parallel(p.ids, func(_ int, id cell.ID) error {
		return p.engine.Update(ctx, id, func(tx storage.Tx) error { return p.put(ctx, tx, p.passing) })
	}); err != nil {
		return nil, err
	}
	group, ctx := errgroup.WithContext(ctx)
	made := make(chan struct{})
	err = p.hold(ctx, group, made)
	if err == nil {
		err = p.engine.Refresh(ctx)
	}
	if err == nil && !slices.Equal(p.ids, p.engine.Map().Cells()) {
		err = errGrown
	}
	if err == nil {
		m = &Mark{Name: p.Name, At: p.engine.Now()}
		m.Points, err = p.engine.Cells.Points(ctx, p.Name)
	}
	if err == nil {
		close(made)
	} else {
		group.Go(func() error { return err }) // which lets the cells go
	}
	return m, group.Wait()
}

// hold locks every cell, the authority first, until made is closed. So of two concurrent marks one waits for the other.
func (p *point) hold(ctx context.Context, group *errgroup.Group, made <-chan struct{}) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	authority := p.engine.Map().Authority()
	rest := slices.DeleteFunc(slices.Clone(p.ids), func(id cell.ID) bool { return id == authority })
	for _, ids := range [][]cell.ID{{authority}, rest} {
		held := make(chan struct{}, len(ids))
		for _, id := range ids {
			group.Go(func() error {
				if err := p.one(ctx, id, held, made); err != nil {
					return fmt.Errorf("hold up writes to cell %v: %w", id, err)
				}
				return nil
			})
		}
		for range ids {
			select {
			case <-held:
			case <-late.C:
				return fmt.Errorf("%w: the %d cells are held at the same time, by a connection each, and were not within %v",
					engine.ErrUnavailable, len(p.ids), patience)
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// one locks a cell until made is closed. Its transaction then says that the cell has passed the mark.
func (p *point) one(ctx context.Context, id cell.ID, held chan<- struct{}, made <-chan struct{}) error {
	once := false
	return p.engine.Do(ctx, id, func(c storage.Cell) error {
		return c.Exclusive(ctx, func(tx storage.Tx) error {
			if once {
				return fmt.Errorf("%w: the connection was lost", engine.ErrUnavailable)
			}
			if h, err := tx.Head(ctx); err != nil || h.Home != cell.Serving {
				return errors.Join(err, cell.ErrMoved)
			}
			once = true
			held <- struct{}{}
			breathe := time.NewTicker(breath)
			defer breathe.Stop()
			for {
				select {
				case <-made:
					passed := p.passing
					passed.Passed = true
					return p.put(ctx, tx, passed)
				case <-breathe.C:
					if _, err := tx.Definition(ctx, pointRow); err != nil {
						return err
					}
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
		})
	})
}

func (p *point) put(ctx context.Context, tx storage.Tx, of passing) error {
	body, err := json.Marshal(of)
	if err != nil {
		return err
	}
	return tx.PutDefinition(ctx, pointRow, body)
}

// AtMark returns nil if every cell is at the mark of that name, as Point has left it, and otherwise ErrNotAtMark with
// the cells that are not. It reads the databases at the URLs of the cells, and changes nothing there.
func AtMark(ctx context.Context, urls map[cell.ID]string, name string) error {
	marks := map[string][]string{} // cells by the mark
	var wrong []string
	for _, id := range slices.SortedFunc(maps.Keys(urls), cell.ID.Compare) {
		of, err := noted(ctx, urls[id])
		if err != nil {
			return fmt.Errorf("cell %v: %w", id, err)
		}
		at := cell.Redact(urls[id])
		switch {
		case of.Name != name:
			wrong = append(wrong, fmt.Sprintf("cell %v at %s is at no mark %s: its server was recovered to an earlier moment, or to another mark", id, at, name))
		case of.Passed:
			wrong = append(wrong, fmt.Sprintf("cell %v at %s is beyond it: its server was recovered to a later moment, or not at all", id, at))
		default:
			marks[of.ID] = append(marks[of.ID], id.String())
		}
	}
	if len(wrong) == 0 && len(marks) > 1 {
		wrong = append(wrong, fmt.Sprintf("there were %d marks of that name, and not all cells are at the same: %v",
			len(marks), marks))
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%w %s: recover these servers again, and repeat the command: %s", ErrNotAtMark, name,
			strings.Join(wrong, "; "))
	}
	return nil
}

// noted reads pointRow of the database at a URL.
func noted(ctx context.Context, url string) (of passing, err error) {
	driver, err := storage.DriverOf(url)
	if err != nil {
		return of, err
	}
	r, ok := driver.(cell.Recoverable)
	if !ok {
		return of, fmt.Errorf("%w: it is at %s", cell.ErrNoPoint, cell.Redact(url))
	}
	body, err := r.Noted(ctx, url, pointRow)
	if err != nil || body == nil {
		return of, err
	}
	return of, json.Unmarshal(body, &of)
}
