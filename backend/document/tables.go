// SPDX-License-Identifier: Apache-2.0

package document

import "github.com/locus-db/locus/cell"

// Tables are the rows that a cell takes along when it moves to another database, see cell.Copier.
//
//	ring, puid, version, ...   numbers; a hash is the signed number of its 64 bits
//	digest, birth, id, ...     bytes: 16 of them; an id that is not there is nil
//	observed, at               milliseconds since 1970
//	body, before, after        the documents of this package; nil for none
//	lost                       features, 8 bytes each, big endian; nil for none
//	used                       puids given away; the next is one more, above the lowest of the range
func Tables() []cell.Table {
	return []cell.Table{
		{Name: "locus_key", Columns: []string{"ring", "digest", "puid"}, Key: 2},
		{Name: "record", Columns: []string{"puid", "source", "key", "version", "birth", "anchor", "observed", "body"}, Key: 1},
		{Name: "birth", Columns: []string{"id", "puid", "successor"}, Key: 1},
		{Name: "change", Columns: []string{"seq", "at", "kind", "entity", "into_id", "before", "after"}, Key: 1},
		{Name: "posting", Columns: []string{"feature", "puid"}, Key: 2},
		{Name: "edge", Columns: []string{"a", "b", "vec", "score"}, Key: 2},
		{Name: "redo", Columns: []string{"puid", "version", "lost"}, Key: 1},
		{Name: cell.Total, Columns: []string{"one", "used", "seq", "records", "entities", "merges", "splits"}, Key: 1},
	}
}
