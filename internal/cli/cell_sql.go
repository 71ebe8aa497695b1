// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus/cell"
)

// maxSQLCells is the largest number of cells in a generation that fits the 64-bit arithmetic.
const maxSQLCells = 1 << 31

// sqlOf returns the arithmetic of a map as two functions for PostgreSQL:
//
//	locus_cell(bigint)   the cell of a puid, as cell.Map.Puid
//	locus_cell(uuid)     the cell of an entity id, as cell.Map.Entity
//
// Both return NULL where the map has no answer. They represent this version of the map: puids and ids of later
// generations return NULL.
func sqlOf(m *cell.Map) (string, error) {
	spec := m.Spec()
	last := len(spec.Generations) - 1
	finest := spec.Generations[last].Cells
	if finest > maxSQLCells {
		return "", usage("use cell.Map of the library",
			"a generation of %d cells is too large for functions of SQL, which have 64 bits and a sign", finest)
	}
	// The id of a map is arbitrary, and is written into a comment and a literal here.
	version := fmt.Sprintf("locus: cell map %s, epoch %d",
		strings.ReplaceAll(strings.Trim(strconv.QuoteToASCII(spec.ID), `"`), "'", ""), spec.Epoch)
	if !spec.Until.IsZero() {
		version += ", covers ids until " + spec.Until.Format(time.RFC3339)
	}
	var puids, ids strings.Builder
	for g, gen := range spec.Generations {
		fmt.Fprintf(&puids, "  WHEN %d THEN %s\n", g, startsThere(g, finest/gen.Cells))
	}
	if !spec.Until.IsZero() {
		fmt.Fprintf(&ids, "  WHEN ms >= %d THEN NULL\n", spec.Until.UnixMilli())
	}
	for g := last; g > 0; g-- {
		fmt.Fprintf(&ids, "  WHEN ms >= %d THEN %s\n", spec.Generations[g].Starts.UnixMilli(),
			segmentOf(g, spec.Generations[g].Cells))
	}
	fmt.Fprintf(&ids, "  WHEN true THEN %s\n", segmentOf(0, spec.Generations[0].Cells))
	return fmt.Sprintf(sqlText, version, puids.String(), finest, finest-1, ids.String()), nil
}

// startsThere returns the SQL name of the cell of a generation that starts at a finest cell.
func startsThere(gen int, stride uint64) string {
	if stride == 1 {
		return fmt.Sprintf("'g%d-' || finest", gen)
	}
	return fmt.Sprintf("CASE WHEN finest %% %d = 0 THEN 'g%d-' || finest / %d END", stride, gen, stride)
}

// segmentOf returns the SQL name of the cell of a generation whose segment contains a position on the ring.
func segmentOf(gen int, cells uint64) string {
	return fmt.Sprintf("'g%d-' || (place * %d >> 32)", gen, cells)
}

// sqlText is a format. Its arguments are a comment with the version, the WHEN lines from puids to cells, the number of
// the finest cells, that number minus one, and the WHEN lines from ids to cells.
const sqlText = `-- %[1]s

CREATE OR REPLACE FUNCTION locus_cell(puid bigint) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $locus$
SELECT CASE slot - (finest * 4294967296 + %[4]d) / %[3]d
%[2]sEND
FROM (SELECT slot, slot * %[3]d >> 32 AS finest
      FROM (SELECT ($1 >> 32) + 2147483648 AS slot) AS range) AS start
$locus$;

CREATE OR REPLACE FUNCTION locus_cell(id uuid) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $locus$
SELECT CASE
%[5]sEND
FROM (SELECT ('x' || left($1::text, 8))::bit(32)::bigint AS place,
             ('x' || right($1::text, 12))::bit(48)::bigint AS ms) AS id
$locus$;

COMMENT ON FUNCTION locus_cell(bigint) IS '%[1]s';
COMMENT ON FUNCTION locus_cell(uuid) IS '%[1]s';
`
