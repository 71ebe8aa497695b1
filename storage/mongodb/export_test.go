// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"github.com/locus-db/locus/internal/documents"
	"github.com/locus-db/locus/internal/perdocument"
)

// Smaller sizes, so that a few documents need several bulks and queries.
func init() { inAtOnce, bulk = 40, 20 }

// Days returns the counters for the conformance suite.
func (d *Documents) Days() perdocument.Database { return counters{d.Database}.database() }

// GroupDocuments returns the groups of a cell for the conformance suite.
func (d *Documents) GroupDocuments(cell string) documents.Store { return d.groups(cell) }
