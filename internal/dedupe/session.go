// SPDX-License-Identifier: Apache-2.0

package dedupe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// Options configures Open. Nil is the default.
type Options struct {
	// Keep is the directory of the data, which then stays and can be served; it must not exist or be empty. "" is a
	// temporary one, which Close removes.
	Keep string
	// Kinds replaces built-in kinds by others, by their names, or adds to them.
	Kinds []*match.Schema
	// Terms has the frequencies of words of names in rows of the kind Counted. Defaults to
	// match.DefaultTermFrequencies().
	Terms   *match.TermFrequencies
	Counted string
	// Resolving, if set, is called again and again while all rows are resolved.
	Resolving func(resolve.LoadProgress)
}

// observed is the time of all records: the views of entities depend on the ages of records, and the result of a file
// must not depend on when it is read.
var observed = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// batch is how many rows are stored at once.
const batch = 8000

// Session is a temporary installation with the rows of files. It is not safe for concurrent use.
type Session struct {
	DB   *locus.DB
	dir  string // to remove, "" to keep
	kind string // of all rows
	rows []row

	resolving func(resolve.LoadProgress)
}

// row is a row of the input, in the order of the files.
type row struct {
	puid    entity.PUID // 0 for a refused row
	cluster int32
	weight  match.Weight
}

// Open creates the installation, in SQLite, whose package the program imports. It belongs to this process and can be
// read by its user only.
func Open(ctx context.Context, opts *Options) (*Session, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	s := &Session{resolving: o.Resolving}
	if s.resolving == nil {
		s.resolving = func(resolve.LoadProgress) {}
	}
	dir := o.Keep
	if dir == "" {
		var err error
		if s.dir, err = os.MkdirTemp("", "locus-dedupe-"); err != nil {
			return nil, fmt.Errorf("make a temporary directory: %w", err)
		}
		dir = filepath.Join(s.dir, "data")
	} else if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("keep the data in %s: the directory is not empty", dir)
	}
	var err error
	s.DB, err = locus.Open(ctx, "sqlite:"+dir, &locus.Options{Kinds: Kinds(o.Kinds...), Hold: true, Storage: storage.Options{Cells: 1, Scratch: o.Keep == ""}})
	if err == nil && o.Terms != nil && o.Terms.Hash() != match.DefaultTermFrequencies().Hash() {
		err = s.use(ctx, o.Counted, o.Terms)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// use makes a kind without records use a term-frequency table.
func (s *Session) use(ctx context.Context, kind string, terms *match.TermFrequencies) error {
	stored, err := s.DB.Kinds().StoreTermFrequencies(ctx, kind, terms)
	if err != nil {
		return err
	}
	return s.DB.Kinds().Migrate(ctx, kinds.Proposal{Kind: kind, Terms: stored.Hash}, nil)
}

// resolve resolves all rows at once. Add has only stored them.
func (s *Session) resolve(ctx context.Context) error {
	return s.DB.Records().Load(ctx, s.resolving)
}

// Kinds returns the built-in kinds and the given ones, which replace a built-in one of their name.
func Kinds(own ...*match.Schema) []*match.Schema {
	kinds := slices.DeleteFunc(match.Kinds(), func(k *match.Schema) bool {
		return slices.ContainsFunc(own, func(o *match.Schema) bool { return o.Kind == k.Kind })
	})
	for _, o := range own {
		kind := *o
		kinds = append(kinds, &kind)
	}
	return kinds
}

// Close closes the installation and removes it, unless it is to be kept.
func (s *Session) Close() error {
	var err error
	if s.DB != nil {
		err = s.DB.Close()
		s.DB = nil
	}
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}
