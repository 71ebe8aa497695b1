// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"errors"
	"slices"

	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/match"
)

// Mapper makes rows from single JSON objects, by a mapping without guesses. It is not safe for concurrent use.
type Mapper struct {
	rows    jsonRows
	compile func() *mapper
}

// NewMapper returns a mapper for rows of kinds, the first of which is the default. The columns of the mapping need not
// exist in every object.
func NewMapper(o *Options, kinds []*match.Schema) (*Mapper, error) {
	i := 0
	if o.Kind != "" {
		if i = slices.IndexFunc(kinds, func(k *match.Schema) bool { return k.Kind == o.Kind }); i < 0 {
			return nil, errors.New("there is no kind " + o.Kind)
		}
	}
	others := slices.Delete(slices.Clone(kinds), i, i+1)
	meaning, err := newMapping(o, kinds[i], others, []string{ColumnKind})
	if err != nil {
		return nil, err
	}
	m := &Mapper{compile: func() *mapper { return newMapper(meaning) }}
	m.rows.mapper = m.compile()
	return m, nil
}

// Map returns the row of an object. The error is a *RowError.
func (m *Mapper) Map(object []byte) (*Row, error) {
	m.limit()
	return m.rows.parse(document{text: object, line: 1, lines: 1})
}

// limit forgets the names of columns before there are too many: a stream, unlike a file, has no end.
func (m *Mapper) limit() {
	if len(m.rows.mapper.names) >= maxNames/2 {
		m.rows.mapper = m.compile()
	}
}

// Identify returns the source and the key of an object, which may contain nothing else.
func (m *Mapper) Identify(object []byte) (source, key string, err error) {
	m.limit()
	v, err := strictjson.Parse(object)
	if err != nil {
		return "", "", err
	}
	var cells []cell
	eachCell(v, false, func(path, value string) {
		if column := m.rows.mapper.column(path); column >= 0 {
			cells = append(cells, cell{column, value})
		}
	})
	if m.rows.mapper.hash {
		return "", "", errors.New("it deletes a row, and keys made of content name none: a source needs a column as the key")
	}
	if source, key = m.rows.mapper.identify(nil, cells); source == "" || key == "" {
		return "", "", errors.New("it deletes a row, and lacks the columns of its key")
	}
	return source, key, nil
}

// SingleKey returns the source and the key of a record whose whole key is given as text.
func (m *Mapper) SingleKey(text string) (source, key string, err error) {
	switch of := m.rows.mapper; {
	case of.hash || len(of.key) > 1:
		return "", "", errors.New("it deletes the record of its message's key, which must be an object: the key of the mapping is not one column")
	case of.source == "":
		return "", "", errors.New("it deletes the record of its message's key, and no mapping says the source")
	default:
		return of.source, text, nil
	}
}
