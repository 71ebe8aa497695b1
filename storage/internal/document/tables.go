// SPDX-License-Identifier: Apache-2.0

package document

import (
	"errors"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage/internal/posting"
)

// Tables returns the tables whose rows move with a cell to another database, see cell.Copier.
//
//	ring, puid, version, ...   numbers; a hash is the signed number of its 64 bits
//	digest, birth, id, ...     bytes: 16 of them; an id that is not there is nil
//	observed, at               milliseconds since 1970
//	body, before, was, ...     the documents of this package; nil for none. Of rollups they are the JSON of
//	                           package rollup, and its bytes in a row of a generation, as the key there is;
//	                           of definitions the bytes of package resolve; of postings those of package posting
//	lost                       blocking keys, 8 bytes each, big endian; nil for none
//	counts, readings           the numbers of a bucket, 8 bytes each, big endian
//	used                       puids given away; the next is one more, above the lowest of the range
//	turns                      merges and splits together
//	sum                        the checksum of the row, see cell.SumColumn
func Tables() []cell.Table {
	return []cell.Table{
		{Name: "locus_key", Columns: []string{"ring", "digest", "puid"}, Key: 2},
		{Name: "record", Columns: []string{"puid", "source", "key", "version", "birth", "anchor", "observed", "body", "kind", "sum"}, Key: 1, Apart: []string{"anchor"}},
		{Name: "birth", Columns: []string{"id", "puid", "successor"}, Key: 1},
		{Name: "decision", Columns: []string{"puid", "topic", "at", "body", "sum"}, Key: 2},
		{Name: "change", Columns: []string{"seq", "at", "kind", "entity", "into_id", "before", "after", "was", "became", "cause", "sum"}, Key: 1, Apart: []string{"seq"}},
		{Name: posting.ChunkTable, Columns: []string{"id", "body", "sum"}, Key: 1},
		{Name: posting.StateTable, Columns: []string{"one", "body", "sum"}, Key: 1},
		{Name: "edge", Columns: []string{"a", "b", "vec", "weight"}, Key: 2},
		{Name: "redo", Columns: []string{"puid", "version", "decided", "lost"}, Key: 1},
		{Name: "definition", Columns: []string{"name", "body", "sum"}, Key: 1},
		{Name: "rollup", Columns: []string{"name", "body", "sum"}, Key: 1},
		{Name: "rollup_generation", Columns: []string{"number", "body", "sum"}, Key: 1},
		{Name: "rollup_row", Columns: []string{"generation", "key", "body"}, Key: 2},
		{Name: "metric", Columns: []string{"id", "name", "kind", "first", "sum"}, Key: 1},
		{Name: "counter_hour", Columns: []string{"bucket", "counts"}, Key: 1},
		{Name: "counter_day", Columns: []string{"bucket", "counts"}, Key: 1},
		{Name: "gauge_quarter", Columns: []string{"bucket", "readings"}, Key: 1},
		{Name: "gauge_day", Columns: []string{"bucket", "readings"}, Key: 1},
		{Name: "counter_compacted", Columns: []string{"bucket", "total", "detail", "body"}, Key: 1},
		{Name: "counter_key", Columns: []string{"key", "newest", "print", "results", "sum"}, Key: 1},
		{Name: "counter_producer", Columns: []string{"producer", "seq", "newest", "print", "results", "sum"}, Key: 1},
		{Name: "counter_horizon", Columns: []string{"one", "horizon", "sum"}, Key: 1},
		{Name: "audit", Columns: []string{"chain", "seq", "at", "body", "sum"}, Key: 2},
		{Name: cell.Total, Columns: []string{"one", "used", "seq", "trimmed", "records", "entities", "merges", "splits", "turns"}, Key: 1},
	}
}

// Table returns the table of that name. The totals are not a table.
func Table(name string) (cell.Table, bool) {
	for _, table := range Tables() {
		if table.Name == name && name != cell.Total {
			return table, true
		}
	}
	return cell.Table{}, false
}

var cellTable = cell.Table{Name: CellTable, Columns: []string{
	"one", "map", "gen", "idx", "lo", "hi", "rules", "keys", "home", "incarnation", "epoch", "known_epoch", "fence", "images", "version", "returns", "settled", "move", "sum",
}, Key: 1}

// own returns the tables with checksums whose rows stay in their database.
func own() []cell.Table {
	return []cell.Table{
		cellTable,
		{Name: "locus_map", Columns: []string{"epoch", "body", "sum"}, Key: 1},
		{Name: "locus_filter", Columns: []string{"one", "body", "sum"}, Key: 1},
		{Name: "locus_witness", Columns: []string{"gen", "idx", "incarnation", "commits", "sum"}, Key: 2},
		{Name: "locus_lease", Columns: []string{"name", "owner", "token", "beat", "ttl", "fence", "wanted", "epoch", "asked", "done", "asks", "partly", "address", "sum"}, Key: 1, Apart: []string{"address"}},
	}
}

// Summed returns the tables whose rows carry a checksum.
func Summed() []cell.Table {
	return slices.DeleteFunc(append(Tables(), own()...), func(t cell.Table) bool { return !t.Summed() })
}

// Readable returns the table of that name if its rows can be read: tables that are copied or carry a checksum, and
// the anchors of entities.
func Readable(name string) (cell.Table, bool) {
	if name == cell.JournaledEntity {
		return cell.Table{Name: name, Columns: []string{"anchor"}, Key: 1}, true
	}
	for _, table := range own() {
		if table.Name == name {
			return table, true
		}
	}
	return Table(name)
}

// Totals is the row of cell.Total.
type Totals struct {
	Used    int64 // puids used
	Seq     int64 // position of the last change
	Trimmed int64 // position of the last trimmed change
	Counts  entity.Counts
	Turns   int64 // merges and splits together, as a check on Counts
}

// Row returns the row for cell.Copier.
func (t Totals) Row() []any {
	n := t.Counts
	return []any{int64(1), t.Used, t.Seq, t.Trimmed, n.Records, n.Entities, n.Merges, n.Splits, t.Turns}
}

// IsTotals reports whether key is the key of the row with the totals.
func IsTotals(key []any) bool { return len(key) == 1 && key[0] == int64(1) }

// ParseTotals parses the result of Row.
func ParseTotals(row []any) (Totals, error) {
	var n [9]int64
	ok := len(row) == len(n)
	for i := 0; ok && i < len(n); i++ {
		n[i], ok = row[i].(int64)
	}
	if !ok || n[0] != 1 {
		return Totals{}, errors.New("want a row of 9 numbers whose first is 1")
	}
	return Totals{Used: n[1], Seq: n[2], Trimmed: n[3], Counts: entity.Counts{Records: n[4], Entities: n[5], Merges: n[6], Splits: n[7]}, Turns: n[8]}, nil
}
