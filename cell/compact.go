// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/locus-db/locus/internal/protocol"
)

const (
	// copyPage is how many rows of a cell are read at a time when copying.
	copyPage = 5000
	// dropPage is how many rows are deleted in one transaction.
	dropPage = 5000
)

// Compact makes generation to the oldest one that is searched for keys, without interrupting reads or writes: it copies
// the puids of older keys into the cells of the current generation, raises the floor of the map, and deletes the keys
// below it. Records stay where they are. It can be interrupted at any point, also by a crash; repeating the call, in
// any process, resumes it. The error is ErrMap if to is negative or newer than the current generation.
func Compact[T Store](ctx context.Context, c *Cells[T], to int, progress func(Progress)) error {
	if progress == nil {
		progress = func(Progress) {}
	}
	if err := c.Refresh(ctx); err != nil {
		return fmt.Errorf("compact: %w", err)
	}
	if current := c.Map().spec.Current; to < 0 || to > current {
		return fmt.Errorf("compact to generation %d: %w: want one up to the current, %d", to, ErrMap, current)
	}
	w := &worker[T]{cells: c, progress: progress}
	p := protocol.NewCompaction(to, c.Map().view())
	for p.Next().Do != protocol.ActionDone {
		r, err := w.compact(ctx, p)
		if err != nil {
			return fmt.Errorf("compact to generation %d: %w", to, err)
		}
		p = p.Step(r)
	}
	return nil
}

func (w *worker[T]) compact(ctx context.Context, p protocol.Compaction) (protocol.Reply, error) {
	r := p.Next()
	gen := int(r.Gen)
	switch r.Do {
	case protocol.ActionSeal:
		return protocol.Reply{}, w.seal(ctx, r)
	case protocol.ActionCopy:
		return w.copyKeys(ctx, p)
	case protocol.ActionRefresh:
		err := w.cells.Refresh(ctx)
		return protocol.Reply{View: w.cells.Map().view()}, err
	case protocol.ActionFloor:
		return w.change(ctx, func(m *Map) error { return w.raise(ctx, m, gen) })
	case protocol.ActionRetire:
		return protocol.Reply{}, w.all(ctx, StepRetired, gen, func(ctx context.Context, id ID) error {
			return w.advance(ctx, id, Retired, r.Epoch)
		})
	default: // ActionDrop
		return protocol.Reply{}, w.all(ctx, StepDropped, gen, w.drop)
	}
}

func (w *worker[T]) raise(ctx context.Context, m *Map, floor int) error {
	if m.spec.Floor < floor {
		if err := w.cells.change(ctx, m, func(s *Spec) { s.Floor = floor }); err != nil {
			return err
		}
	}
	w.progress(Progress{Step: StepFloor, Generation: floor})
	return nil
}

func (w *worker[T]) drop(ctx context.Context, id ID) error {
	return w.cells.patiently(ctx, id, func(h *home[T]) error {
		for n := dropPage; n == dropPage; {
			if err := h.Update(ctx, func(t T) error {
				head, err := t.Head(ctx)
				if err == nil && head.Keys != Retired {
					err = fmt.Errorf("it is %v: only what was copied is deleted", head.Keys)
				}
				if err == nil {
					n, err = t.Drop(ctx, dropPage)
				}
				if err == nil && n < dropPage {
					err = t.SetFilter(ctx, nil)
				}
				return err
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// copyKeys copies the older rows that p selects into the cells of the current generation, several cells at a time. The
// reply is Fenced if a target cell takes no keys. Rows of a cell that is retired during the read may be missing: the
// process that retired it has copied them.
func (w *worker[T]) copyKeys(ctx context.Context, p protocol.Compaction) (protocol.Reply, error) {
	m := w.cells.Map()
	began := w.cells.opts.Now()
	var mu sync.Mutex
	total := Progress{Step: StepCopied, Generation: int(p.Next().Gen)}
	err := each(ctx, m.cells(total.Generation), func(ctx context.Context, target ID) error {
		return w.copyInto(ctx, m, p, target, func(rows int) {
			mu.Lock()
			defer mu.Unlock()
			total.Done += rows
			if took := w.cells.opts.Now().Sub(began); took > 0 {
				total.PerSecond = float64(total.Done) / took.Seconds()
			}
			w.progress(total)
		})
	})
	if errors.Is(err, ErrFenced) {
		return protocol.Reply{Fenced: true}, nil
	}
	return protocol.Reply{}, err
}

// copyInto copies into one cell of the current generation. Because segments nest, its rows come from one cell of each
// older generation, in copy order.
func (w *worker[T]) copyInto(ctx context.Context, m *Map, p protocol.Compaction, target ID,
	copied func(rows int)) error {
	lo, end := m.bounds(target)
	newest, oldest := p.From()
	var sources []*source[T]
	for gen := newest; gen >= oldest; gen-- {
		h, err := w.cells.home(m.Key(gen, uint32(lo)))
		if err != nil {
			return err
		}
		sources = append(sources, newSource(h, lo, end))
	}
	var batch []Row
	rows := make([]int64, len(sources))
	for {
		first, err := firstKey(ctx, sources)
		if err != nil {
			return err
		}
		if len(batch) == copyPage || first == nil && len(batch) > 0 {
			if err := w.put(ctx, target, p.Next().Epoch, batch); err != nil {
				return err
			}
			copied(len(batch))
			batch = batch[:0]
		}
		if first == nil {
			return nil
		}
		k := *first
		for i, s := range sources {
			rows[i] = s.take(k)
		}
		if puid := p.Carry(rows); puid != Nothing {
			batch = append(batch, Row{Key: k, PUID: puid})
		}
	}
}

// put writes rows into a cell; ErrFenced if the cell does not admit writers with a map of this epoch.
func (w *worker[T]) put(ctx context.Context, id ID, epoch uint64, rows []Row) error {
	return w.cells.patiently(ctx, id, func(h *home[T]) error {
		return h.Update(ctx, func(t T) error {
			head, err := t.Head(ctx)
			switch {
			case err != nil:
				return err
			case !head.admits(epoch):
				return fmt.Errorf("it is %v: %w", head.Keys, ErrFenced)
			}
			return t.Copy(ctx, rows)
		})
	})
}

// Compare orders keys by ring position, then by digest.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Ring, other.Ring), bytes.Compare(k.Digest[:], other.Digest[:]))
}

// source reads the rows of a part of the ring from one cell.
type source[T Store] struct {
	home  *home[T]
	after *Key
	end   uint64 // first position that is not read
	page  []Row
	done  bool
}

// newSource returns a source of the positions from lo to end-1.
func newSource[T Store](h *home[T], lo, end uint64) *source[T] {
	s := &source[T]{home: h, end: end}
	if lo > 0 {
		before := Key{Ring: int64((lo<<32 - 1) ^ 1<<63)}
		for i := range before.Digest {
			before.Digest[i] = 0xff
		}
		s.after = &before
	}
	return s
}

// next returns the next row without consuming it, nil at the end.
func (s *source[T]) next(ctx context.Context) (*Row, error) {
	if len(s.page) == 0 && !s.done {
		if err := s.home.View(ctx, func(t T) error {
			var err error
			s.page, err = t.Scan(ctx, s.after, copyPage)
			return err
		}); err != nil {
			return nil, fmt.Errorf("read the keys of cell %v: %w", s.home.id, err)
		}
		s.done = len(s.page) < copyPage
		for i, row := range s.page {
			if uint64(row.Key.Position()) >= s.end {
				s.page, s.done = s.page[:i], true
				break
			}
		}
		if len(s.page) > 0 {
			s.after = &s.page[len(s.page)-1].Key
		}
	}
	if len(s.page) == 0 {
		return nil, nil
	}
	return &s.page[0], nil
}

// take consumes the next row if its key is k and returns its puid, otherwise Nothing.
func (s *source[T]) take(k Key) int64 {
	if len(s.page) == 0 || s.page[0].Key != k {
		return Nothing
	}
	puid := s.page[0].PUID
	s.page = s.page[1:]
	return puid
}

// firstKey returns the lowest key that any source has next, nil if all are at their end.
func firstKey[T Store](ctx context.Context, sources []*source[T]) (first *Key, err error) {
	for _, s := range sources {
		row, err := s.next(ctx)
		if err != nil {
			return nil, err
		}
		if row != nil && (first == nil || row.Key.Compare(*first) < 0) {
			first = &row.Key
		}
	}
	return first, nil
}
