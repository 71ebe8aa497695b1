// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/buildinfo"
	"github.com/locus-db/locus/rollups"
)

// Liveness is the answer of /livez.
type Liveness struct {
	Live bool `json:"live"`
}

// Health is the answer of /readyz.
type Health struct {
	Ready  bool   `json:"ready"`
	Reason string `json:"reason,omitempty" doc:"Why it is not ready, or what is missing: a shared installation also works without some of its cells"`
	// These fields are missing while they are unknown.
	Epoch uint64    `json:"epoch,omitempty" doc:"Version of the cell map that this server uses"`
	Until time.Time `json:"until,omitzero" doc:"End of the time, as ids record it, that the map covers"`
	Redo  int       `json:"redo,omitempty" doc:"Records that are stored but not yet resolved"`
	// Migrating is set during a migration of a kind.
	Migrating string       `json:"migrating,omitempty" doc:"Kind whose records are being resolved again"`
	Upgrade   string       `json:"upgrade,omitempty" doc:"Step of a running upgrade, or needed if the entities were made by an older version of the matcher"`
	Cells     []CellHealth `json:"cells,omitempty" doc:"The oldest generation first"`
}

// CellHealth is the state of a cell in /readyz.
type CellHealth struct {
	Cell    cell.ID        `json:"cell"`
	Answers bool           `json:"answers"`
	Writes  bool           `json:"writes" doc:"Whether the cell currently accepts writes; another program may hold a lock"`
	Keys    cell.KeyState  `json:"keys" enum:"open,sealed,retired"`
	Home    cell.Placement `json:"home" enum:"serving,moving,moved"`
}

// healthOf converts a status for /readyz.
func healthOf(status *cells.Status) Health {
	h := Health{
		Ready: status.Ready, Reason: printable(status.Reason), Epoch: status.Epoch, Until: status.Until, Redo: status.Redo,
		Migrating: status.Migrating, Upgrade: status.Upgrade,
		Cells: make([]CellHealth, 0, len(status.Cells)),
	}
	for _, of := range status.Cells {
		h.Cells = append(h.Cells, CellHealth{Cell: of.Cell, Answers: answers(of), Writes: of.Writes, Keys: of.Head.Keys,
			Home: of.Head.Home})
	}
	return h
}

// Version is the answer of /version.
type Version buildinfo.Info

// recent caches an answer of the stores, so that any number of monitoring clients costs at most one query a second.
type recent[T any] struct {
	mu     sync.Mutex
	asked  time.Time
	answer T
	err    error
}

// get returns an answer younger than age.
func (r *recent[T]) get(ctx context.Context, age time.Duration, ask func(context.Context) (T, error)) (T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.asked.IsZero() && time.Since(r.asked) < age {
		return r.answer, r.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	r.answer, r.err = ask(ctx)
	r.asked = time.Now()
	return r.answer, r.err
}

// patience limits how long the stores may take for a health check or a scrape: long enough to give up on a few
// unreachable cells and still get replies from the others.
const patience = 5 * time.Second

// recentStatus returns the state of the stores, at most a second old.
func (s *Server) recentStatus(ctx context.Context) (*cells.Status, error) {
	return s.ready.get(ctx, time.Second, s.svc.Cells().Status)
}

// recentBackup returns when the last backup was made, at most a minute old; the zero time if none is known.
func (s *Server) recentBackup(ctx context.Context) (time.Time, error) {
	m, err := s.backedUp.get(ctx, time.Minute, s.svc.LastBackup)
	if err != nil || m == nil {
		return time.Time{}, err
	}
	return m.At, nil
}

// recentRollups returns the rollups, at most a second old, and how many changes this process has applied.
func (s *Server) recentRollups(ctx context.Context) ([]rollups.Status, int64, error) {
	all, err := s.standing.get(ctx, time.Second, s.svc.Rollups().List)
	return all, s.svc.Rollups().Applied(), err
}

func (s *Server) livez(*call) (any, error) { return Liveness{Live: true}, nil }

func (s *Server) readyz(c *call) (any, error) {
	if s.draining.Load() {
		return s.unready(c, Health{Reason: "draining"})
	}
	status, err := s.recentStatus(c)
	if err != nil {
		return s.unready(c, Health{Reason: string(toFault(err, "").Code) + ": a cell is unavailable"})
	}
	h := healthOf(status)
	if who, err := s.caller(c.r); err != nil || !s.allowed(c.r) || !who.May(access.Operate) {
		h = Health{Ready: h.Ready}
	}
	if !h.Ready {
		return s.unready(c, h)
	}
	return h, nil
}

func (s *Server) unready(c *call, h Health) (any, error) {
	c.w.Header().Set("Retry-After", retryAfter(nil))
	writeJSON(c.w, http.StatusServiceUnavailable, "application/json", h)
	return nil, nil
}

func (s *Server) version(*call) (any, error) {
	v := Version(buildinfo.Read())
	v.Version = s.opts.Version
	return v, nil
}

func (s *Server) metrics(c *call) (any, error) {
	s.opts.Metrics.ServeHTTP(c.w, c.r)
	return nil, nil
}

func (s *Server) openapi(c *call) (any, error) {
	document, err := s.document()
	if err != nil {
		return nil, err
	}
	c.w.Header().Set("Content-Type", "application/json")
	_, _ = c.w.Write(document)
	return nil, nil
}
