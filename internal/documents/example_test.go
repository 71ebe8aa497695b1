// SPDX-License-Identifier: Apache-2.0

package documents_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/locus-db/locus/internal/documents"
	"github.com/locus-db/locus/rollup"
)

// shelf is a Store in memory, for one build of one generation.
type shelf map[string]documents.Document

func (shelf) StoreID() string { return "shelf" }

func (s shelf) Documents(_ context.Context, _ documents.Namespace, keys [][]byte) ([]documents.Document, error) {
	found := make([]documents.Document, len(keys))
	for i, key := range keys {
		found[i] = s[string(key)]
	}
	return found, nil
}

func (s shelf) Scan(_ context.Context, _ documents.Namespace, after []byte, limit int) (page []documents.Document, _ error) {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		if len(page) < limit && key > string(after) {
			page = append(page, s[key])
		}
	}
	return page, nil
}

func (s shelf) Swap(_ context.Context, _ documents.Namespace, swaps []documents.Swap) ([]bool, error) {
	done := make([]bool, len(swaps))
	for i, swap := range swaps {
		there, is := s[string(swap.Key)]
		if done[i] = is == swap.Is && there.Watermark == swap.Was; done[i] {
			s[string(swap.Key)] = swap.Document
		}
	}
	return done, nil
}

func (s shelf) Drop(context.Context, int64, int) (n int, _ error) {
	n = len(s)
	clear(s)
	return n, nil
}

// Groups that a build writes are found page by page, and a second build that comes late does not change them.
func ExampleGroups() {
	ctx, g := context.Background(), &rollup.Generation{Number: 1, BuildID: 7, Watermark: 5}
	groups := documents.Groups{Store: shelf{}, Page: 2}
	rows := []rollup.Row{{Key: []byte("ears"), Body: []byte("2")}, {Key: []byte("fur"), Body: []byte("1")},
		{Key: []byte("wings"), Body: []byte("4")}}
	fmt.Println(groups.Fill(ctx, g, rows))
	fmt.Println(groups.Fill(ctx, g, rows[:1]))
	all, _, err := groups.Scan(ctx, g, nil, 0)
	for _, one := range all {
		fmt.Printf("%s %s up to %d\n", one.Key, one.Body, one.Watermark)
	}
	fmt.Println(err)
	// Output:
	// <nil>
	// rollup: another process writes the documents
	// ears 2 up to 5
	// fur 1 up to 5
	// wings 4 up to 5
	// <nil>
}
