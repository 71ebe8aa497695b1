// SPDX-License-Identifier: Apache-2.0

package celltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/locus-db/locus/cell"
)

// wantMaps fails unless the cell has exactly these versions of the map.
func wantMaps(t tester, c Cell, epoch uint64, texts ...string) {
	t.Helper()
	view(t, c, func(ctx context.Context, s cell.Store) error {
		got, text, err := s.CellMap(ctx)
		if err != nil {
			return err
		}
		all, err := s.CellMaps(ctx)
		if err != nil {
			return err
		}
		newest := ""
		if len(texts) > 0 {
			newest = texts[len(texts)-1]
		}
		if got != epoch || string(text) != newest {
			return fmt.Errorf("CellMap gave epoch %d and %q, want %d and %q", got, text, epoch, newest)
		}
		if want := []byte(fmt.Sprint(texts)); !bytes.Equal(fmt.Appendf(nil, "%s", all), want) {
			return fmt.Errorf("CellMaps gave %s, want %s", all, want)
		}
		return nil
	})
}

func putMap(ctx context.Context, c Cell, epoch uint64, text string) error {
	return c.Update(ctx, func(s cell.Store) error { return s.PutCellMap(ctx, epoch, []byte(text)) })
}

func cellMap(t tester, c Cell) {
	wantMaps(t, c, 0)
	var texts []string
	for _, epoch := range []uint64{1, 2, 5, 10, 1 << 40} { // a copy may have missed some
		text := fmt.Sprintf(`{"epoch":%d,"é":"\u0000"}`, epoch)
		texts = append(texts, text)
		update(t, c, func(ctx context.Context, s cell.Store) error {
			if err := s.PutCellMap(ctx, epoch, []byte(text)); err != nil {
				return err
			}
			got, _, err := s.CellMap(ctx)
			if err == nil && got != epoch {
				err = fmt.Errorf("CellMap in the transaction that wrote epoch %d gave %d", epoch, got)
			}
			return err
		})
		wantMaps(t, c, epoch, texts...)
	}
}

// cellMapSuperseded uses versions that only move the end of the map, and so replace each other.
func cellMapSuperseded(t tester, c Cell) {
	until := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	texts := map[uint64]string{}
	for epoch := uint64(1); epoch <= 6; epoch++ {
		spec := cell.Spec{ID: "map", Epoch: epoch, Until: until.Add(time.Duration(epoch) * time.Hour),
			Generations: []cell.Generation{{Cells: 2}}}
		if epoch > 3 {
			spec.MinFormat = 2
		}
		m, err := cell.NewMap(spec)
		if err != nil {
			t.Fatalf("NewMap: %v", err)
		}
		text, err := m.MarshalJSON()
		if err == nil {
			err = putMap(context.Background(), c, epoch, string(text))
		}
		if err != nil {
			t.Fatalf("PutCellMap of epoch %d: %v", epoch, err)
		}
		texts[epoch] = string(text)
	}
	wantMaps(t, c, 6, texts[3], texts[6])
}

func cellMapConflict(t tester, c Cell) {
	ctx := context.Background()
	if err := errors.Join(putMap(ctx, c, 1, "one"), putMap(ctx, c, 3, "three")); err != nil {
		t.Fatalf("PutCellMap: %v", err)
	}
	for _, epoch := range []uint64{1, 2, 3} {
		if err := putMap(ctx, c, epoch, "other"); !errors.Is(err, cell.ErrConflict) {
			t.Fatalf("PutCellMap of epoch %d over 3: %v, want ErrConflict", epoch, err)
		}
	}
	wantMaps(t, c, 3, "one", "three")
}

// cellMapConflictAtOnce runs eight writers that each want to write the next version.
func cellMapConflictAtOnce(t tester, c Cell) {
	const writers = 8
	ctx := context.Background()
	var texts []string
	for epoch := uint64(1); epoch <= 5; epoch++ {
		var errs [writers]error
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() { errs[w] = putMap(ctx, c, epoch, fmt.Sprint(epoch, " by ", w)) })
		}
		wg.Wait()
		won := -1
		for w, err := range errs {
			switch {
			case err == nil && won >= 0:
				t.Fatalf("PutCellMap of epoch %d succeeded for %d and %d", epoch, won, w)
			case err == nil:
				won = w
			case !errors.Is(err, cell.ErrConflict):
				t.Fatalf("PutCellMap of epoch %d by one of several: %v, want ErrConflict", epoch, err)
			}
		}
		if won < 0 {
			t.Fatalf("PutCellMap of epoch %d succeeded for nobody", epoch)
		}
		texts = append(texts, fmt.Sprint(epoch, " by ", won))
		wantMaps(t, c, epoch, texts...)
	}
}

func filter(t tester, c Cell) {
	large := bytes.Repeat([]byte{0, 1, 0xff, 'f'}, 1<<18)
	for i, f := range [][]byte{nil, []byte("f"), large, []byte("\x00"), nil, []byte("again")} {
		update(t, c, func(ctx context.Context, s cell.Store) error { return s.SetFilter(ctx, f) })
		var got []byte
		view(t, c, func(ctx context.Context, s cell.Store) (err error) {
			got, err = s.Filter(ctx)
			return err
		})
		if !bytes.Equal(got, f) || (got == nil) != (f == nil) {
			t.Fatalf("filter %d of %d bytes came back with %d bytes, nil %v", i, len(f), len(got), got == nil)
		}
	}
}
