// SPDX-License-Identifier: Apache-2.0

//go:build unix

package docs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/mongotest"
)

// The blocks that need MongoDB, in a shell of their own.
func TestCommands_OnMongoDB(t *testing.T) {
	t.Parallel()
	for _, p := range pages(t) {
		blocks := p.blocks(t)
		if !slices.ContainsFunc(blocks, func(b block) bool { return b.marker == "run"+onMongoDB }) {
			continue
		}
		t.Run(p.path, func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			s.mongodb = mongotest.TrustedURI(t)
			s.page(p.path, blocks, onMongoDB)
		})
	}
}

// TestMongoDB_PagesNameOneDatabase checks that replacing the database's name in the pages replaces all of it.
func TestMongoDB_PagesNameOneDatabase(t *testing.T) {
	t.Parallel()
	found := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks(t) {
			if strings.HasSuffix(b.marker, onMongoDB) && strings.Contains(b.text, "mongodb://") {
				if found++; strings.Count(b.text, "mongodb://") != strings.Count(b.text, mongoDB) {
					t.Errorf("%s:%d: write %s", p.path, b.line, mongoDB)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no page runs anything on MongoDB")
	}
}
