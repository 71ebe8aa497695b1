// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
	"github.com/locus-db/locus/storage/mongodb"
)

// openDocuments opens a document database, as a process does before it opens an installation with it.
func openDocuments(t *testing.T, uri string) *mongodb.Documents {
	t.Helper()
	d, err := mongodb.Open(t.Context(), uri, &mongodb.Options{UnsafeDurability: true, Timeout: patience(t)})
	must(t, err)
	docs, err := d.Documents(t.Context())
	must(t, err)
	return docs
}

// openWithDocuments opens the installation in a directory with a document database, which is closed on error.
func openWithDocuments(t *testing.T, dir string, docs locus.Documents, readOnly bool) (*locus.DB, error) {
	t.Helper()
	cells, err := storage.Open(t.Context(), dir, &storage.Options{Cells: 2, Scratch: true})
	if err != nil {
		return nil, err
	}
	return locus.OpenCells(t.Context(), cells, &locus.Options{Documents: docs, ReadOnly: readOnly})
}

// A document database belongs to one installation. Another installation cannot start with it, not even read-only, and
// works without it as before.
func TestP08_ADatabaseOfDocumentsBelongsToOneInstallation(t *testing.T) {
	t.Parallel()
	uri, mine, other := mongotest.URI(t), t.TempDir(), t.TempDir()
	for _, dir := range []string{mine, other} {
		s, err := openWithDocuments(t, dir, nil, false)
		must(t, err)
		must(t, s.Close())
	}
	s, err := openWithDocuments(t, mine, openDocuments(t, uri), false)
	must(t, err)
	id := s.Cells().Map().Spec().ID
	must(t, s.Close())
	for _, readOnly := range []bool{true, false, false} {
		if _, err := openWithDocuments(t, other, openDocuments(t, uri), readOnly); !errors.Is(err, locus.ErrDocuments) || !strings.Contains(err.Error(), id) {
			t.Errorf("read only %v: the database of another installation: %v, want ErrDocuments, and which one it is",
				readOnly, err)
		}
	}
	for _, uri := range []string{"", mongotest.URI(t)} {
		var docs locus.Documents
		if uri != "" {
			docs = openDocuments(t, uri)
		}
		s, err := openWithDocuments(t, other, docs, false)
		must(t, err)
		must(t, s.Close())
	}
	s, err = openWithDocuments(t, mine, openDocuments(t, uri), false)
	must(t, err)
	must(t, s.Close())
}

// Two installations start with the same empty database at the same moment. Exactly one becomes its owner.
func TestP08_OneOfTwoGetsADatabaseOfDocuments(t *testing.T) {
	t.Parallel()
	proxy := mongotest.NewProxy(t, mongotest.URI(t))
	dirs := []string{t.TempDir(), t.TempDir()}
	docs := []*mongodb.Documents{openDocuments(t, proxy.URI()), openDocuments(t, proxy.URI())}
	type opened struct {
		s   *locus.DB
		err error
	}
	came := make(chan opened, len(dirs))
	var arrived []<-chan struct{}
	var release []func()
	for range dirs {
		a, r := proxy.Hold("insert", "locus")
		arrived, release = append(arrived, a), append(release, r)
	}
	for i, dir := range dirs {
		go func() {
			s, err := openWithDocuments(t, dir, docs[i], false)
			came <- opened{s, err}
		}()
	}
	for i := range dirs {
		<-arrived[i]
	}
	for i := range dirs {
		release[i]()
	}
	won := 0
	for range dirs {
		switch o := <-came; {
		case o.err == nil:
			won++
			must(t, o.s.Close())
		case !errors.Is(o.err, locus.ErrDocuments):
			t.Error(o.err)
		}
	}
	if won != 1 {
		t.Errorf("%d of two installations got one database, want 1", won)
	}
}
