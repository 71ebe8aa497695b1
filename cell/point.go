// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/internal/problem"
)

var (
	// ErrNoServer means that no cell is on a server that can be recovered to a moment of its log.
	ErrNoServer = problem.Class(problem.ErrConflict, "cell: no cell is on a server")
	// ErrNoPoint means that a cell is not on a server, but others are.
	ErrNoPoint = problem.Class(problem.ErrConflict,
		"cell: some cells are files, which cannot be recovered to a moment of their log")
)

// Point is a moment that a database server can be recovered to.
type Point struct {
	// Server has the role, the hosts and the ports, without a password.
	Server string `json:"server"`
	// Name is the name of a restore point in the log of the server. It is "" if the server made none; then Refused has
	// the reason, and At is the time to recover to.
	Name    string    `json:"name,omitempty"`
	At      time.Time `json:"at"` // by the server's clock
	Refused string    `json:"refused,omitempty"`
}

// Recoverable is a Driver of servers whose databases can be recovered to a moment of a log.
type Recoverable interface {
	// Points makes a restore point with a name in the log of each server of the databases at urls. For a server that
	// refuses, it chooses a time to recover to instead and waits a second before and after it, so nothing may be
	// written to the databases before it returns.
	Points(ctx context.Context, urls []string, name string) ([]Point, error)
	// Noted returns what was stored by PutDefinition in the database at a URL, nil if nothing was. It changes nothing
	// there.
	Noted(ctx context.Context, url, name string) ([]byte, error)
}

// Points makes a point that each server of the cells can be recovered to. The caller must block all writes. It returns
// ErrNoPoint, and makes none, if a cell is not on a server.
func (c *Cells[T]) Points(ctx context.Context, name string) ([]Point, error) {
	m := c.Map()
	urls := map[Recoverable][]string{}
	var drivers []Recoverable
	for _, id := range m.Cells() {
		r, url, err := c.recoverable(m, id)
		if err != nil {
			return nil, err
		}
		if urls[r] == nil {
			drivers = append(drivers, r)
		}
		urls[r] = append(urls[r], url)
	}
	var all []Point
	for _, r := range drivers {
		points, err := r.Points(ctx, urls[r], name)
		if err != nil {
			return nil, err
		}
		all = append(all, points...)
	}
	return all, nil
}

// Recoverable returns nil if every cell is on a server that can be recovered to a moment of its log, ErrNoServer if
// none is, and otherwise ErrNoPoint.
func (c *Cells[T]) Recoverable() error {
	m := c.Map()
	var not error
	on := 0
	for _, id := range m.Cells() {
		switch _, _, err := c.recoverable(m, id); {
		case err == nil:
			on++
		case errors.Is(err, ErrNoPoint):
			not = err
		default:
			return err
		}
	}
	if on == 0 {
		return ErrNoServer
	}
	return not
}

func (c *Cells[T]) recoverable(m *Map, id ID) (Recoverable, string, error) {
	url := c.url(m, id)
	driver, err := c.driver(url)
	if err != nil {
		return nil, "", err
	}
	r, ok := driver.(Recoverable)
	if !ok {
		return nil, "", fmt.Errorf("%w: cell %v is at %s", ErrNoPoint, id, Redact(url))
	}
	return r, url, nil
}
