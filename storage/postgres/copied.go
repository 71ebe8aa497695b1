// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/locus-db/locus/cell"
)

// kind is how the values of a column are sent and read if it is not a plain number.
type kind struct {
	sent string // type of the argument
	from string // expression that converts the argument %[1]s to the column's type
	to   string // expression that reads the column %[1]s
}

var (
	number = kind{"bigint", "%[1]s", "%[1]s"}
	small  = kind{"bigint", "%[1]s", "%[1]s::bigint"}
	truth  = kind{"bigint", "(%[1]s <> 0)", "%[1]s::int::bigint"}
	text   = kind{"text", "%[1]s", "%[1]s"}
	octets = kind{"bytea", "%[1]s", "%[1]s"}
	id     = kind{"bytea", "encode(%[1]s, 'hex')::uuid", "uuid_send(%[1]s)"}
	object = kind{"text", "%[1]s::json", "%[1]s::text"}
	// An array of numbers is sent as 8 bytes each; no numbers are NULL.
	packed = kind{
		"bytea",
		"ARRAY(SELECT ('x' || encode(substr(%[1]s, 8 * i + 1, 8), 'hex'))::bit(64)::bigint FROM generate_series(0, length(%[1]s) / 8 - 1) AS i ORDER BY i)",
		"(SELECT string_agg(int8send(f), '' ORDER BY n) FROM unnest(%[1]s) WITH ORDINALITY AS u (f, n))",
	}

	kinds = map[string]kind{
		"counts": packed, "readings": packed, "producer": octets, "print": octets, "results": octets,
		"map": text, "rules": text, "images": text, "move": text, "locus_map.body": text, "locus_filter.body": octets, "owner": text, "asks": text,
		"gen": small, "keys": small, "home": small, "incarnation": small, "returns": small, "settled": small, "wanted": truth, "partly": truth,
		"metric.id": number, "posting_chunk.id": number, "posting_chunk.body": octets, "posting_state.body": octets, "metric.kind": small, "detail": small, "one": small, "counter_compacted.body": octets,
		"digest": octets, "lost": packed,
		"source": text, "key": text, "kind": text, "name": text, "topic": text, "cause": text,
		"birth": id, "id": id, "successor": id, "entity": id, "into_id": id,
		"body": object, "before": object, "after": object, "was": object, "became": object,
		"decision.body": text, "audit.body": text, "definition.body": octets, "rollup.body": text, "rollup_generation.body": text, "rollup_row.key": octets, "rollup_row.body": octets,
	}
)

// copied is a table whose rows are copied, with fragments of its statements.
type copied struct{ cell.Table }

// kind returns the kind of table.column, otherwise that of the column in all tables, otherwise number.
func (c copied) kind(column string) kind {
	for _, name := range []string{c.Name + "." + column, column} {
		if k, ok := kinds[name]; ok {
			return k
		}
	}
	return number
}

// list joins the result of of for each column with commas.
func list(columns []string, of func(i int, column string) string) string {
	return strings.Join(each(columns, of), ", ")
}

// each returns the result of of for each column.
func each(columns []string, of func(i int, column string) string) []string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = of(i, c)
	}
	return parts
}

// read returns the select list of a row.
func (c copied) read() string {
	return list(c.Columns, func(_ int, column string) string { return fmt.Sprintf(c.kind(column).to, "t."+column) })
}

// arrays returns an unnest of one array argument per column.
func (c copied) arrays(columns []string) string {
	return "unnest(" + list(columns, func(i int, column string) string { return fmt.Sprintf("$%d::%s[]", i+1, c.kind(column).sent) }) + ")"
}

// at returns the condition that a row of t has the key in v.
func (c copied) at() string {
	return strings.Join(each(c.Columns[:c.Key], func(_ int, column string) string {
		return "t." + column + " = " + fmt.Sprintf(c.kind(column).from, "v."+column)
	}), " AND ")
}

// arguments returns one argument per column of rows.
func (c copied) arguments(names []string, rows [][]any) ([]any, error) {
	args := make([]any, len(names))
	for i, name := range names {
		var err error
		switch c.kind(name).sent {
		case "bigint":
			args[i], err = values[int64](rows, i, len(names))
		case "text":
			args[i], err = values[string](rows, i, len(names))
		case "bytea":
			var all []*[]byte
			all, err = values[[]byte](rows, i, len(names))
			args[i] = column(all, func(b *[]byte) []byte {
				if b == nil {
					return nil
				}
				return *b
			})
		}
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", name, err)
		}
	}
	return args, nil
}

// values returns the i-th column of rows of n values, with nil for NULL.
func values[T any](rows [][]any, i, n int) ([]*T, error) {
	all := make([]*T, len(rows))
	for r, row := range rows {
		if len(row) != n {
			return nil, fmt.Errorf("want %d values, not %d", n, len(row))
		}
		if row[i] == nil {
			continue
		}
		v, ok := row[i].(T)
		if !ok {
			return nil, fmt.Errorf("a value is a %T", row[i])
		}
		all[r] = &v
	}
	return all, nil
}

// compareValues orders keys.
func compareValues(a, b []any) int {
	for i := range min(len(a), len(b)) {
		c := 0
		switch x := a[i].(type) {
		case int64:
			y, _ := b[i].(int64)
			c = cmp.Compare(x, y)
		case []byte:
			y, _ := b[i].([]byte)
			c = bytes.Compare(x, y)
		case string:
			y, _ := b[i].(string)
			c = cmp.Compare(x, y)
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}
