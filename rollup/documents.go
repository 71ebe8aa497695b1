// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/changelog"
)

// Documents keep the groups of one cell in a database that does nothing whole but one document. Methods take
// batches and answer in their order; they know nothing of what they keep. A backend certifies itself with
// rolluptest.RunDocuments.
//
// All that it has to promise is that a Swap compares and writes a document in one, and that what it said is
// done is seen by everybody from then on. What was written of a batch when a method fails is open.
type Documents interface {
	// Home tells the database from every other one, and from what it was before it was emptied: groups are
	// not looked for in one that never had them.
	Home() string
	// Documents answers with the document of each key, one without a key where there is none.
	Documents(ctx context.Context, s Space, keys [][]byte) ([]Document, error)
	// Scan answers with documents, empty ones too, in the order of the bytes of their keys: those after a
	// key, nil for the first ones, at most limit.
	Scan(ctx context.Context, s Space, after []byte, limit int) ([]Document, error)
	// Swap writes documents, each by itself and only if it is still as it was, and answers which were
	// written, or are there already as they were to be. One that is not as it was, or was to be new and is
	// there, is no error.
	Swap(ctx context.Context, s Space, swaps []Swap) (done []bool, err error)
	// Drop deletes documents of a generation, by whomever it was filled, at most limit, and answers how many.
	Drop(ctx context.Context, generation int64, limit int) (int, error)
}

// Document is one group with the place in the log up to which it is true. Its key has 1 to 2,000 bytes.
// An empty body is a group of nothing. It stays: it keeps out whoever comes late with what the group was.
type Document struct {
	Key, Body []byte
	Watermark changelog.Seq
}

// Space is whose documents are meant. Who fills a generation has a number of its own, so that nobody reads
// what another one, who was stopped and wakes up late, still writes.
type Space struct{ Generation, Fill int64 }

// Swap is a document to be written in the place of one with the watermark Was, or, if none Is there, of none.
type Swap struct {
	Document
	Is  bool
	Was changelog.Seq
}

// space is where the documents of a generation are.
func (g *Generation) space() Space { return Space{g.Number, g.Fill} }

// documents are those of a generation. The error is ErrNoDocuments if this process does not have them.
func (db Database) documents(g *Generation) (Documents, error) {
	switch {
	case db.Documents == nil:
		return nil, fmt.Errorf("%w: rollup %s has them in MongoDB: start it with --mongodb", ErrNoDocuments, g.Definition.Name)
	case db.Documents.Home() != g.Home:
		return nil, fmt.Errorf("%w: rollup %s has them in another MongoDB database than the one that it was given: give it that one, or rebuild the rollup",
			ErrNoDocuments, g.Definition.Name)
	}
	return db.Documents, nil
}

// generations are those of a cell. Documents that contain changes of a history that was lost to a backup are
// as good as none: their generation is to be filled again.
func generations(ctx context.Context, tx Tx) ([]Generation, error) {
	all, err := tx.Generations(ctx)
	for i := range all {
		g := &all[i]
		if !g.Definition.apart() || !g.readable() || g.Watermark == unbuilt {
			continue
		}
		history, err := tx.History(ctx)
		if err != nil {
			return nil, err
		}
		if g.History != history {
			g.State = Filling
		}
	}
	return all, err
}

// pending is how many changes documents may be ahead of their generation's watermark. All who follow or read take
// the same number, so nobody meets a document ahead of where it goes itself. A variable, so that tests make it
// small.
var pending = 20_000
