// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// cell is a value of a column. Columns are numbered in the order of the file.
type cell struct {
	column int
	value  string
}

// mapper makes records from rows.
type mapper struct {
	*mapping
	names []string // of the columns
	index map[string]int
	uses  [][]use
	why   []string // why a column means nothing, "" if it means something

	parts map[string]string // values of the columns of compositions, of the current row
	key   []string          // parts of the key of the current row
}

func newMapper(m *mapping) *mapper {
	return &mapper{mapping: m, index: map[string]int{}, parts: map[string]string{}, key: make([]string, max(len(m.key), 1))}
}

// maxNames is the maximum number of column names that the rows of a JSON file may have in total. Further names are
// ignored.
const maxNames = MaxColumns

// column returns the number of a column, and adds it if it is new; -1 if there are too many.
func (m *mapper) column(name string) int {
	if i, known := m.index[name]; known {
		return i
	}
	if len(m.names) == maxNames {
		return -1
	}
	i := len(m.names)
	uses, why := m.resolve(name)
	m.index[name], m.names, m.uses, m.why = i, append(m.names, name), append(m.uses, uses), append(m.why, why)
	return i
}

// fault is why a row is refused.
type fault struct{ code, pointer, reason, cause string }

// row makes a record from the cells of a row.
func (m *mapper) row(cells []cell) (*Row, *fault) {
	row := &Row{Source: m.source, Kind: m.kind, Attributes: make(map[string][]string, len(cells))}
	clear(m.parts)
	clear(m.key)
	for _, c := range cells {
		if m.why[c.column] != "" {
			return nil, &fault{"unknown_field", pathPointer(m.names[c.column]), m.why[c.column], "unknown column"}
		}
		if m.spreadsheet {
			c.value = unmarked(c.value)
		}
		if c.value == "" || m.null[c.value] {
			continue
		}
		for _, u := range m.uses[c.column] {
			var single *string
			switch u.kind {
			case useAttribute:
				row.Attributes[u.attribute] = append(row.Attributes[u.attribute], c.value)
				continue
			case usePart:
				if _, twice := m.parts[m.names[c.column]]; twice {
					return nil, m.list(c.column, "it is a list, and a value is composed of single ones")
				}
				m.parts[m.names[c.column]] = c.value
				continue
			case useSource:
				single = &row.Source
			case useKey:
				single = &m.key[u.part]
			case useRowKind:
				single = &row.Kind
			case useObserved:
				single = &row.Observed
			}
			if *single != "" {
				return nil, m.list(c.column, "it is a list, and one value is wanted")
			}
			*single = c.value
		}
	}
	for i := range m.set {
		for j := range m.set[i].terms {
			if t := &m.set[i].terms[j]; t.composed() {
				if text := t.compose(func(column string) string { return m.parts[column] }); text != "" {
					row.Attributes[m.set[i].attribute] = append(row.Attributes[m.set[i].attribute], text)
				}
			}
		}
	}
	return row, m.complete(row)
}

func (m *mapper) list(column int, reason string) *fault {
	return &fault{"invalid", pathPointer(m.names[column]), reason, m.names[column] + " is a list"}
}

// identify returns the source and the key of a refused row, "" for values that cannot be read. row is the record made
// from it, or nil; a key made of the content needs it.
func (m *mapper) identify(row *Row, cells []cell) (source, key string) {
	if row != nil {
		return row.Source, row.Key
	}
	source = m.source
	parts := make([]string, len(m.key))
	if len(m.key) == 0 {
		parts = make([]string, 1)
	}
	for _, c := range cells {
		if m.spreadsheet {
			c.value = unmarked(c.value)
		}
		if m.why[c.column] != "" || c.value == "" || m.null[c.value] {
			continue
		}
		for _, u := range m.uses[c.column] {
			single := &source
			switch u.kind {
			case useSource:
			case useKey:
				single = &parts[u.part]
			default:
				continue
			}
			if *single != "" {
				return "", "" // a list
			}
			*single = c.value
		}
	}
	if m.hash {
		return source, ""
	}
	return source, joinKey(parts)
}

// complete adds the key and the time to a row.
func (m *mapper) complete(row *Row) *fault {
	if m.hash {
		row.Key = hashOf(row)
	} else {
		row.Key = joinKey(m.key)
	}
	if row.Observed != "" && m.observed.Layout != "" {
		at, err := time.ParseInLocation(m.observed.Layout, row.Observed, m.zone)
		if err != nil {
			return &fault{"invalid", "/" + ColumnObserved, fmt.Sprintf("%.40q is not a time as in %.40q", row.Observed, m.observed.Layout), "observed_at in another layout"}
		}
		row.Observed = at.UTC().Format(time.RFC3339Nano)
	}
	switch {
	case m.unstored:
	case row.Source == "":
		return &fault{"invalid", "/" + ColumnSource, "it is missing; --source NAME names the source of the whole file", "source missing"}
	case row.Key == "":
		return &fault{"invalid", "/" + ColumnKey, "it is missing; --key COLUMN names the column with the source's own key", "key missing"}
	}
	return nil
}

// joinKey joins the parts of a key. It is "" if a part is missing.
func joinKey(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	escape := strings.NewReplacer(`\`, `\\`, "/", `\/`)
	var b strings.Builder
	for i, part := range parts {
		if part == "" {
			return ""
		}
		if i > 0 {
			b.WriteByte('/')
		}
		b.WriteString(escape.Replace(part))
	}
	return b.String()
}

// hashOf returns the key of a row by its content.
func hashOf(row *Row) string {
	text, _ := json.Marshal([]any{row.Source, row.Kind, row.Attributes}) // cannot fail: strings and lists of strings
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// pathPointer returns the JSON pointer to a column (RFC 6901).
func pathPointer(path string) string {
	path = strings.NewReplacer("~", "~0", "/", "~1", "[]", "").Replace(path)
	return "/" + strings.ReplaceAll(path, ".", "/")
}
