// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"context"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/rollup"
)

// Store keeps the groups of one cell in a database where only the write of a single document is atomic. Methods take
// batches, return results in the same order, and treat bodies as opaque. A backend runs documentstest.Run to certify
// itself.
//
// Swap must compare and write each document atomically, and a write reported as done must be visible to all
// readers from then on. If a method fails, any part of its batch may have been written.
type Store interface {
	// StoreID returns an ID of the database that is unique and changes when the database is emptied, so that groups
	// are not looked up in a database that never had them.
	StoreID() string
	// Documents returns the document of each key; its Key is nil if there is none.
	Documents(ctx context.Context, s Namespace, keys [][]byte) ([]Document, error)
	// Scan returns at most limit documents, empty ones included, in byte order of their keys, after the given
	// key; nil starts at the beginning.
	Scan(ctx context.Context, s Namespace, after []byte, limit int) ([]Document, error)
	// Swap writes each document atomically if it is unchanged. It reports which were written or already have the
	// requested content. A document that changed, or that exists although it was to be new, is not an error.
	Swap(ctx context.Context, s Namespace, swaps []Swap) (done []bool, err error)
	// Drop deletes at most limit documents of a generation, in all namespaces, and returns how many.
	Drop(ctx context.Context, generation int64, limit int) (int, error)
}

// Document is one group with the log position up to which it is true. Its key has 1 to 2,000 bytes. An empty body means
// an empty group; its document is kept so that a late write of older content fails.
type Document struct {
	Key, Body []byte
	Watermark changelog.Seq
}

// Namespace identifies a set of documents. Each build of a generation has its own BuildID, so that no reader sees
// documents still being written by a paused build that resumes late.
type Namespace struct{ Generation, BuildID int64 }

// Swap writes a document in place of the one with watermark Was or, if Is is false, creates it.
type Swap struct {
	Document
	Is  bool
	Was changelog.Seq
}

// namespace returns the namespace of the generation's documents.
func namespace(g *rollup.Generation) Namespace { return Namespace{g.Number, g.BuildID} }
