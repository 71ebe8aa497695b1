// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"
)

// check verifies that a target belongs to this installation and has a format that this release knows.
func (f *Fill) check(installation string) error {
	switch {
	case f.Name == "":
		return nil
	case f.Installation != installation:
		return fmt.Errorf("%w: it belongs to the cell map %s, this one is %s: name another collection", ErrForeign,
			f.Installation, installation)
	case f.Format > Format:
		return fmt.Errorf("%w: format %d, this release reads up to %d", ErrFormat, f.Format, Format)
	}
	return nil
}

// fillOf reads the Fill of a target and checks it.
func (c *copier) fillOf(ctx context.Context, installation string) (Fill, error) {
	f, err := c.target.Fill(ctx)
	if err != nil {
		return f, fmt.Errorf("read the identity of the mirror: %w", err)
	}
	return f, f.check(installation)
}

// load reads the cell's progress unless it is cached, and starts the cell over if the mirror has a new Fill.
func (w *worker) load(ctx context.Context) error {
	f, err := w.fillOf(ctx, w.installation)
	if err == nil && f.Format != Format {
		f, err = w.begin(ctx, f)
	}
	if err != nil || w.loaded && w.control.Fill == f.Name {
		return err
	}
	controls, err := w.target.Controls(ctx)
	if err != nil {
		return fmt.Errorf("read the position of the mirror: %w", err)
	}
	w.control, w.loaded = Control{}, true
	if i := slices.IndexFunc(controls, func(c Control) bool { return c.Cell == w.cell }); i >= 0 {
		w.control = controls[i]
	}
	if w.control.Fill == f.Name {
		return nil
	}
	return w.save(ctx, Control{Cell: w.cell, Fill: f.Name, At: f.From[w.cell], Time: f.Begun, Version: w.control.Version})
}

// begin starts a fill of all cells in place of an earlier one. If another mirror was faster, it returns theirs.
func (w *worker) begin(ctx context.Context, was Fill) (Fill, error) {
	tail, err := w.source.Tail(ctx)
	if err != nil {
		return was, fmt.Errorf("read where the logs end: %w", err)
	}
	is := Fill{Name: rand.Text(), Installation: w.installation, Format: Format, From: tail,
		Begun: w.now().UTC().Truncate(time.Millisecond)}
	ok, err := w.target.PutFill(ctx, was, is)
	switch {
	case err != nil:
		return was, fmt.Errorf("write the identity of the mirror: %w", err)
	case ok:
		return is, nil
	}
	return w.fillOf(ctx, w.installation)
}

// save writes the cell's progress. If another mirror was faster, the stored progress is read before the next
// step.
func (w *worker) save(ctx context.Context, c Control) error {
	c.Version++
	ok, err := w.target.PutControl(ctx, w.control, c)
	if err != nil {
		w.loaded = false
		return fmt.Errorf("write the position of the mirror of cell %v: %w", w.cell, err)
	}
	if w.loaded = ok; ok {
		w.control = c
	}
	return nil
}
