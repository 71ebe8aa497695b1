// SPDX-License-Identifier: Apache-2.0

package mirrortest

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

// Model is a target in memory. It is safe for concurrent use.
type Model struct {
	mu       sync.Mutex
	docs     map[locality.ID]mirror.Document
	fill     mirror.Fill
	controls map[cell.ID]mirror.Control
}

var _ mirror.Target = (*Model)(nil)

// NewModel returns an empty target.
func NewModel() *Model {
	return &Model{docs: map[locality.ID]mirror.Document{}, controls: map[cell.ID]mirror.Control{}}
}

// Held implements mirror.Target.
func (m *Model) Held(ctx context.Context, ids []locality.ID) ([]mirror.Held, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	held := make([]mirror.Held, len(ids))
	for i, id := range ids {
		held[i].ID = id
		if d, there := m.docs[id]; there {
			held[i] = mirror.Held{ID: id, Version: d.Version, Kind: d.Kind, Stamp: d.Stamp()}
		}
	}
	return held, ctx.Err()
}

// Write implements mirror.Target.
func (m *Model) Write(ctx context.Context, docs []mirror.Document) (written int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range docs {
		if m.docs[d.ID].Version == d.Version-1 {
			m.docs[d.ID] = copied(d)
			written++
		}
	}
	return written, ctx.Err()
}

// Documents implements mirror.Target.
func (m *Model) Documents(ctx context.Context, ids []locality.ID) (docs []mirror.Document, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		if d, there := m.docs[id]; there {
			docs = append(docs, copied(d))
		}
	}
	slices.SortFunc(docs, byID)
	return docs, ctx.Err()
}

// Scan implements mirror.Target.
func (m *Model) Scan(ctx context.Context, after locality.ID, limit int) (docs []mirror.Document, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range slices.SortedFunc(maps.Values(m.docs), byID) {
		if d.ID.Compare(after) > 0 && len(docs) < limit {
			docs = append(docs, copied(d))
		}
	}
	return docs, ctx.Err()
}

// Fill implements mirror.Target.
func (m *Model) Fill(ctx context.Context) (mirror.Fill, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fill, ctx.Err()
}

// PutFill implements mirror.Target.
func (m *Model) PutFill(ctx context.Context, was, is mirror.Fill) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fill.Name != was.Name {
		return false, ctx.Err()
	}
	is.From = maps.Clone(is.From)
	m.fill = is
	return true, ctx.Err()
}

// Controls implements mirror.Target.
func (m *Model) Controls(ctx context.Context) ([]mirror.Control, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.controls)), ctx.Err()
}

// PutControl implements mirror.Target.
func (m *Model) PutControl(ctx context.Context, was, is mirror.Control) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if there := m.controls[is.Cell]; there.Fill != was.Fill || there.Version != was.Version {
		return false, ctx.Err()
	}
	is.Settling = slices.Clone(is.Settling)
	m.controls[is.Cell] = is
	return true, ctx.Err()
}

// Put overwrites a document without a version check, as a user other than a mirror would.
func (m *Model) Put(d mirror.Document) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.docs[d.ID] = copied(d)
}

// Drop deletes the document of an ID, as a user other than a mirror would.
func (m *Model) Drop(id locality.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.docs, id)
}

func byID(a, b mirror.Document) int { return a.ID.Compare(b.ID) }

// copied returns a deep copy of a document.
func copied(d mirror.Document) mirror.Document {
	if d.Thing != nil {
		text, err := json.Marshal(d.Thing)
		thing := new(mirror.Thing)
		if err == nil {
			err = json.Unmarshal(text, thing)
		}
		if err != nil {
			panic(err) // numbers and texts only
		}
		d.Thing = thing
	}
	return d
}
