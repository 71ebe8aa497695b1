// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/audits"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/rollups"
	"github.com/locus-db/locus/storage"
)

// Handle inspects and changes the cells of an installation. Get it from DB.Cells of package locus. It is safe for
// concurrent use.
type Handle struct {
	engine  *engine.Engine
	rollups *rollups.Handle
	log     *audits.Handle
}

// New returns the cells handle of an installation.
func New(e *engine.Engine, r *rollups.Handle, log *audits.Handle) *Handle { return &Handle{e, r, log} }

// Map returns the cell map.
func (h *Handle) Map() *cell.Map { return h.engine.Map() }

// Servers inspects the database servers of the cells: their connections, clocks and replicas. Cells in files have none.
func (h *Handle) Servers(ctx context.Context) []cell.Server { return h.engine.Cells.Servers(ctx) }

// Documents returns the name of the document database of the installation, "" if there is none.
func (h *Handle) Documents() string {
	if h.engine.Documents == nil {
		return ""
	}
	return h.engine.Documents.String()
}

// Status is the state of the installation.
type Status struct {
	Ready  bool         `json:"ready"`
	Reason string       `json:"reason,omitempty"` // why it is not ready, or the unreachable parts
	Rules  string       `json:"rules"`            // version of the matcher that makes the entities
	Kinds  []KindStatus `json:"kinds"`
	// Documents is the document database of the installation, "" if there is none.
	Documents string `json:"documents,omitempty"`
	// Migrating is the kind whose records are being resolved again, "" if there is none. Switched is how many records
	// are done.
	Migrating string `json:"migrating,omitempty"`
	// Upgrade is the step of a running upgrade, or "needed" if the entities were made by an older version of the
	// matcher.
	Upgrade  string `json:"upgrade,omitempty"`
	Migrated int    `json:"migrated,omitempty"`
	// Epoch is the version of the cell map, which covers ids up to Until. Generation takes new keys, Floor is the
	// oldest generation that still holds keys, and Generations is their number.
	Epoch       uint64        `json:"epoch"`
	Generation  int           `json:"generation"`
	Floor       int           `json:"floor"`
	Generations int           `json:"generations"`
	Until       time.Time     `json:"until,omitzero"`
	Counts      entity.Counts `json:"counts"`
	// Redo is how many records have effects that are not worked out yet. A cell restored from a backup or replica adds
	// one until its losses are repaired in all cells.
	Redo  int          `json:"redo"`
	Queue int          `json:"queue"`
	Cells []CellStatus `json:"cells"`
	// Down lists the unreachable cells. Counts and Redo are sums over the others.
	Down []cell.ID `json:"down,omitempty"`
}

// KindStatus is how the records of a kind are resolved: the version of its rules, and a migration.
type KindStatus struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
	Terms   string `json:"term_frequencies"` // hash of the name statistics
}

// CellStatus is the state of one cell.
type CellStatus struct {
	cell.Stats
	Counts entity.Counts `json:"counts"`
	Redo   int           `json:"redo"`
	// Writes reports whether the cell currently accepts writes: another program may hold a lock.
	Writes bool `json:"writes"`
	// Down reports that the cell is unreachable; only its id and URL are set.
	Down bool `json:"down,omitempty"`
}

func (h *Handle) kindStatus() []KindStatus {
	var kinds []KindStatus
	for _, k := range h.engine.Resolver.Rules().Kinds() {
		schema := k.Matcher.Schema()
		kinds = append(kinds, KindStatus{schema.Kind, schema.Version,
			fmt.Sprintf("%016x", k.Matcher.TermFrequencies().Hash())})
	}
	return kinds
}

// Status queries every cell. Unreachable cells do not fail the call. A single-process installation is ready only if all
// cells answer; a shared one while at least one does. Cells that accept no writes are named; an installation is not
// ready if no cell accepts writes.
func (h *Handle) Status(ctx context.Context) (*Status, error) {
	m := h.engine.Map()
	ids := m.Cells()
	status := &Status{
		Ready: true, Rules: h.engine.Resolver.Rules().Matcher, Kinds: h.kindStatus(), Documents: h.Documents(),
		Epoch: m.Epoch(), Generation: m.Current(), Generations: m.Generations(), Floor: m.Floor(), Until: m.Until(),
		Cells: make([]CellStatus, len(ids)),
	}
	if h.engine.Queue != nil {
		status.Queue = h.engine.Queue.Waiting()
	}
	rules := h.engine.Resolver.Rules()
	if c := rules.Change(); c != nil {
		status.Migrating, status.Migrated, status.Upgrade = c.Kind, c.Records(), string(c.Step)
	}
	if rules.Outdated() {
		status.Upgrade = "needed"
	}
	errs := make([]error, len(ids))
	engine.Parallel(len(ids), func(i int) {
		// An unreachable cell must not use up the time for the others.
		ctx, cancel := context.WithTimeout(ctx, engine.CellPatience)
		defer cancel()
		status.Cells[i], errs[i] = h.Cell(ctx, ids[i])
	})
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w: %w", engine.ErrUnavailable, ctx.Err())
	}
	silent, unwritable := 0, 0
	for i, c := range status.Cells {
		status.Counts = status.Counts.Add(c.Counts)
		status.Redo += c.Redo
		if errs[i] == nil && !c.Writes && !h.engine.ReadOnly {
			unwritable++
			status.Reason = fmt.Sprintf("cell %v takes no writes", ids[i])
		}
		if errs[i] != nil {
			silent++
			status.Down = append(status.Down, ids[i])
			status.Reason = fmt.Sprintf("cell %v is unavailable", ids[i])
			h.engine.Logger.Warn("cell is unavailable", "cell", ids[i], "err", errs[i])
		}
	}
	switch {
	case silent > 1:
		status.Reason = fmt.Sprintf("%d of %d cells are unavailable", silent, len(ids))
	case silent == 0 && unwritable > 1:
		status.Reason = fmt.Sprintf("%d of %d cells take no writes", unwritable, len(ids))
	}
	status.Ready = (silent == 0 || silent < len(ids) && !h.engine.Alone()) && silent+unwritable < len(ids)
	return status, nil
}

// Cell queries one cell. With an error, only its id and URL are set. The error is cell.ErrNoCell if the cell map does
// not list it.
func (h *Handle) Cell(ctx context.Context, id cell.ID) (CellStatus, error) {
	if !h.engine.Map().Has(id) {
		return CellStatus{}, fmt.Errorf("cell %v: %w", id, cell.ErrNoCell)
	}
	nothing := CellStatus{Stats: cell.Stats{Cell: id, URL: cell.Redact(h.engine.Map().URL(id))}, Down: true}
	stats, err := h.engine.Cells.Stats(ctx, id)
	if err != nil {
		return nothing, err
	}
	c := CellStatus{Stats: stats}
	if err := h.engine.View(ctx, id, func(tx storage.Tx) (err error) {
		if c.Counts, err = tx.Counts(ctx); err != nil {
			return err
		}
		if c.Redo, err = tx.RedoDepth(ctx); err == nil && stats.Head.Unsettled() {
			c.Redo++ // its losses are not repaired yet
		}
		return err
	}); err != nil {
		return nothing, err
	}
	if h.engine.Passive {
		return c, nil
	}
	err = h.engine.Cells.Writable(ctx, id)
	if c.Writes = err == nil || errors.Is(err, cell.ErrMoved); !c.Writes {
		h.engine.Logger.Warn("cell takes no writes", "cell", id, "err", err)
	}
	return c, nil
}
