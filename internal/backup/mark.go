// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/storage"
)

// Mark is the note that a backup was made.
type Mark struct {
	// Name is the name of the backup in the tool that made it; "" for a backup by Locus.
	Name string `json:"name,omitempty"`
	// At is the moment that the backup represents.
	At time.Time `json:"at"`
	// Points are the moments that the servers can be recovered to, if Point has made it.
	Points []cell.Point `json:"points,omitempty"`
}

// MaxName is the longest name of a Mark, in bytes.
const MaxName = 100

// row is the name of the row that has the newest Mark, in the cell with the map.
const row = "backup/last"

// Note stores that a backup was made. An older one than the newest changes nothing.
func Note(ctx context.Context, e *engine.Engine, m Mark) error {
	if len(m.Name) > MaxName {
		return problem.Invalid("/name", "range", "the name has %d bytes: at most %d", len(m.Name), MaxName)
	}
	m.At = m.At.UTC().Truncate(time.Millisecond)
	err := e.Update(ctx, e.Map().Authority(), func(tx storage.Tx) error {
		newest, err := newest(ctx, tx)
		if err != nil || newest != nil && newest.At.After(m.At) {
			return err
		}
		body, err := json.Marshal(m)
		if err != nil {
			return fmt.Errorf("mark: %w", err)
		}
		return tx.PutDefinition(ctx, row, body)
	})
	return engine.Wrap(err)
}

// Newest returns the newest Mark, nil if there is none.
func Newest(ctx context.Context, e *engine.Engine) (m *Mark, err error) {
	err = e.View(ctx, e.Map().Authority(), func(tx storage.Tx) error {
		m, err = newest(ctx, tx)
		return err
	})
	return m, engine.Wrap(err)
}

func newest(ctx context.Context, tx storage.Tx) (*Mark, error) {
	body, err := tx.Definition(ctx, row)
	if err != nil || body == nil {
		return nil, err
	}
	var m Mark
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, fmt.Errorf("row %s: %w", row, err)
	}
	return &m, nil
}
