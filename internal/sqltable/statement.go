// SPDX-License-Identifier: Apache-2.0

package sqltable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// statement returns the statement of the next page.
func (t *Table) statement() (text string, args []string) {
	var names, conditions, key []string
	for _, c := range t.columns {
		names = append(names, t.db.selected(c.name))
	}
	if t.o.From != "" {
		args = append(args, t.o.From)
		conditions = append(conditions, t.db.quote(t.o.Since)+" >= "+t.db.param(len(args), t.o.Since))
	}
	for _, name := range t.key {
		key = append(key, t.db.quote(name))
	}
	if len(t.key) > 0 && len(t.last) > 0 {
		var params []string
		for i, name := range t.key {
			params = append(params, t.db.param(len(args)+1+i, name))
		}
		args = append(args, t.db.afterArgs(t.last)...)
		conditions = append(conditions, t.db.after(key, params))
	}
	text = "SELECT " + strings.Join(names, ", ") + " FROM " + t.from
	if len(conditions) > 0 {
		text += " WHERE " + strings.Join(conditions, " AND ")
	}
	if len(key) > 0 {
		text += fmt.Sprintf(" ORDER BY %s LIMIT %d", strings.Join(key, ", "), t.o.Page)
	}
	return text, args
}

// list returns all rows of a short result; a null is "".
func list(ctx context.Context, db database, statement string, args ...string) (all [][]string, err error) {
	result, err := db.query(ctx, statement, args)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, result.close()) }()
	for {
		values, err := result.next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		row := make([]string, len(values))
		for i, v := range values {
			if v != nil {
				row[i] = *v
			}
		}
		all = append(all, row)
	}
}

// tuple returns the condition that a key comes after parameters, of databases that compare rows.
func tuple(key, params []string) string {
	return "(" + strings.Join(key, ", ") + ") > (" + strings.Join(params, ", ") + ")"
}

// quoted quotes a name as standard SQL does.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
