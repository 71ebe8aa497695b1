// SPDX-License-Identifier: Apache-2.0

package documentstest_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/documentstest"
	"github.com/locus-db/locus/internal/documents"
	"github.com/locus-db/locus/internal/longtest"
)

func TestMain(m *testing.M) { conformance.ExpectFailures(); m.Run() }

// drawer keeps documents in memory, with at most one bug that a backend could have.
type drawer struct {
	mu   sync.Mutex
	bug  string
	docs map[place]documents.Document
	// before holds the state before the last write.
	before map[place]documents.Document
}

type place struct {
	cell string
	in   documents.Namespace
	key  string
}

type drawerOf struct {
	*drawer
	cell string
}

func openDocuments(_ *testing.T, bug string) documentstest.Shelf {
	d := &drawer{bug: bug, docs: map[place]documents.Document{}, before: map[place]documents.Document{}}
	return documentstest.Shelf{Of: func(cell string) documents.Store { return drawerOf{d, cell} }}
}

func (d drawerOf) StoreID() string {
	if d.bug == "every cell has a home" {
		return d.cell
	}
	return "drawer"
}

// at returns the place of a document, as the bug changes it.
func (d drawerOf) at(in documents.Namespace, key []byte) place {
	p := place{d.cell, in, string(key)}
	switch d.bug {
	case "keys end at zero":
		p.key, _, _ = strings.Cut(p.key, "\x00")
	case "keys fold":
		p.key = strings.ToLower(p.key)
	case "fills are one":
		p.in.BuildID = 0
	case "generations are one":
		p.in.Generation = 0
	case "cells are one":
		p.cell = ""
	case "cells end at a slash":
		p.cell, _, _ = strings.Cut(p.cell, "/")
	}
	return p
}

func (d drawerOf) Documents(ctx context.Context, in documents.Namespace, keys [][]byte) ([]documents.Document, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	docs := make([]documents.Document, len(keys))
	for i, key := range keys {
		docs[i] = d.docs[d.at(in, key)]
		switch {
		case d.bug == "empty documents are not there" && len(docs[i].Body) == 0:
			docs[i] = documents.Document{}
		case d.bug == "a document is found once" && slices.ContainsFunc(keys[:i], func(k []byte) bool { return bytes.Equal(k, key) }):
			docs[i] = documents.Document{}
		case d.bug == "long batches are cut" && i >= 1000:
			docs[i] = documents.Document{}
		}
	}
	switch d.bug {
	case "documents in the order of keys":
		slices.SortFunc(docs, func(a, b documents.Document) int { return bytes.Compare(a.Key, b.Key) })
	case "missing documents are left out":
		docs = slices.DeleteFunc(docs, func(doc documents.Document) bool { return doc.Key == nil })
	}
	return docs, d.cancelled(ctx)
}

func (d drawerOf) cancelled(ctx context.Context) error {
	if d.bug == "the context is not asked" {
		return nil
	}
	return ctx.Err()
}

func (d drawerOf) order(a, b string) int {
	if d.bug == "keys by their length" { // as BSON orders binary values
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	}
	return cmp.Compare(a, b)
}

func (d drawerOf) Scan(ctx context.Context, in documents.Namespace, after []byte, limit int) (docs []documents.Document, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	of := d.at(in, nil)
	var places []place
	for p := range d.docs {
		if p.cell != of.cell || p.in != of.in {
			continue
		}
		if o := d.order(p.key, string(after)); after == nil || o > 0 || o == 0 && d.bug == "after is included" {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, func(a, b place) int { return d.order(a.key, b.key) })
	for _, p := range places {
		if d.bug != "empty documents are not scanned" || len(d.docs[p].Body) > 0 {
			docs = append(docs, d.docs[p])
		}
	}
	if d.bug == "limits are not kept" {
		limit++
	}
	return docs[:min(limit, len(docs))], d.cancelled(ctx)
}

func (d drawerOf) Swap(ctx context.Context, in documents.Namespace, swaps []documents.Swap) ([]bool, error) {
	if err := d.cancelled(ctx); err != nil {
		return nil, err
	}
	var done []bool
	for _, s := range swaps {
		one, err := d.swap(in, s)
		if err != nil {
			return nil, err
		}
		done = append(done, one)
	}
	switch {
	case d.bug == "all is done or nothing is said" && slices.Contains(done, false):
		return make([]bool, len(swaps)), nil
	case d.bug == "everything is done":
		return slices.Repeat([]bool{true}, len(swaps)), nil
	case d.bug == "what is not done is left out":
		return slices.DeleteFunc(done, func(is bool) bool { return !is }), nil
	}
	return done, nil
}

func (d drawerOf) swap(in documents.Namespace, s documents.Swap) (bool, error) {
	d.mu.Lock()
	at := d.at(in, s.Key)
	there, is := d.docs[at]
	defer d.mu.Unlock()
	if old, ok := d.before[at]; ok && d.bug == "it compares, and then it writes" {
		there, is = old, old.Key != nil // two compared before either wrote
	}
	was := s.Was
	switch d.bug {
	case "older ones are written over": // protocol A
		if is && s.Is && there.Watermark <= s.Was {
			was = there.Watermark
		}
	case "the watermark has 53 bits":
		there.Watermark = changelog.Seq(float64(there.Watermark>>10)) << 10
		was = changelog.Seq(float64(was>>10)) << 10
	case "a new one is written over what is there":
		is = is && s.Is
	case "what is not there is made":
		if s.Is && !is {
			is, there.Watermark = true, s.Was
		}
	}
	switch {
	case d.bug == "a duplicate key fails" && is && !s.Is:
		return false, errors.New("duplicate key")
	case is != s.Is, is && there.Watermark != was:
		return false, nil
	case d.bug == "empty documents are deleted" && len(s.Body) == 0:
		delete(d.docs, at)
		return true, nil
	case d.bug == "bodies of 64 KiB":
		s.Body = s.Body[:min(len(s.Body), 1<<16)]
	case d.bug == "no watermark below zero":
		s.Watermark = max(s.Watermark, 0)
	}
	d.docs[at], d.before[at] = s.Document, d.docs[at]
	return true, nil
}

func (d drawerOf) Drop(ctx context.Context, generation int64, limit int) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	of := d.at(documents.Namespace{Generation: generation}, nil)
	n := 0
	for _, p := range slices.SortedFunc(maps.Keys(d.docs), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.in.BuildID, b.in.BuildID), cmp.Compare(a.key, b.key))
	}) {
		number := p.in.Generation == of.in.Generation ||
			d.bug == "generations are dropped by their digits" &&
				strings.HasPrefix(fmt.Sprint(p.in.Generation), fmt.Sprint(generation))
		if p.cell != of.cell || !number || n == limit && d.bug != "dropping ignores the limit" ||
			d.bug == "one fill is dropped" && p.in.BuildID > 1 {
			continue
		}
		delete(d.docs, p)
		n++
	}
	if d.bug == "dropping tells the limit" {
		n = limit
	}
	return n, d.cancelled(ctx)
}

func TestRun_PassesWithoutBug(t *testing.T) {
	t.Parallel()
	documentstest.Run(t, func(t *testing.T) documentstest.Shelf { t.Helper(); return openDocuments(t, "") })
}

// TestRun_FindsEveryBug plants one bug at a time; the case meant for it must find it.
func TestRun_FindsEveryBug(t *testing.T) {
	t.Parallel()
	documentstest.Cases.FindsEveryBug(t, openDocuments, conformance.Bugs{
		ByCase: map[string]string{
			"every cell has a home":                   "EmptyShelf",
			"what is not there is made":               "EmptyShelf",
			"missing documents are left out":          "EmptyShelf",
			"keys end at zero":                        "DocumentsComeBackWhole",
			"keys fold":                               "DocumentsComeBackWhole",
			"bodies of 64 KiB":                        "DocumentsComeBackWhole",
			"no watermark below zero":                 "DocumentsComeBackWhole",
			"documents in the order of keys":          "DocumentsInTheOrderAsked",
			"a document is found once":                "DocumentsInTheOrderAsked",
			"what is not done is left out":            "DocumentsInTheOrderAsked",
			"all is done or nothing is said":          "DocumentsInTheOrderAsked",
			"keys by their length":                    "ScansInTheOrderOfBytes",
			"after is included":                       "ScansInTheOrderOfBytes",
			"limits are not kept":                     "ScansInPages",
			"older ones are written over":             "SwapsCompareTheWatermark",
			"the watermark has 53 bits":               "SwapsCompareTheWatermark",
			"everything is done":                      "SwapsCompareTheWatermark",
			"a new one is written over what is there": "SwapsCompareTheWatermark",
			"a duplicate key fails":                   "SwapsCompareTheWatermark",
			"empty documents are deleted":             "EmptyDocumentsStay",
			"empty documents are not there":           "EmptyDocumentsStay",
			"empty documents are not scanned":         "EmptyDocumentsStay",
			"long batches are cut":                    "ManyDocuments",
			"fills are one":                           "SpacesAreApart",
			"generations are one":                     "SpacesAreApart",
			"cells are one":                           "SpacesAreApart",
			"cells end at a slash":                    "SpacesAreApart",
			"generations are dropped by their digits": "SpacesAreApart",
			"one fill is dropped":                     "DropsGenerationsInPortions",
			"dropping ignores the limit":              "DropsGenerationsInPortions",
			"dropping tells the limit":                "DropsGenerationsInPortions",
			"the context is not asked":                "CancelledCall",
			"it compares, and then it writes":         "OneOfManyWins",
		},
		ByModel: []string{
			"keys end at zero", "missing documents are left out", "limits are not kept", "everything is done",
			"empty documents are deleted",
			"fills are one", "generations are one", "older ones are written over", "a new one is written over what is there",
			"keys by their length",
		},
		Tries: longtest.Sample(30, 3, 3, 3), // histories are few under -short
	})
}
