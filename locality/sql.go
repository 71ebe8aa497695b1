// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
)

// Value gives database/sql the id as text. Bind id[:] to store the 16 bytes.
func (id ID) Value() (driver.Value, error) { return id.String(), nil }

// Scan reads a column of database/sql: text, text in bytes, or 16 raw bytes. NULL
// sets Nil(); an empty text is an error. After an error id is unchanged. Scan into
// a NullID to tell NULL from an id.
func (id *ID) Scan(src any) error {
	var parsed ID
	var err error
	switch src := src.(type) {
	case nil:
	case string:
		parsed, err = Parse(src)
	case []byte:
		if len(src) == len(ID{}) {
			parsed = ID(src)
		} else {
			parsed, err = ParseBytes(src)
		}
	default:
		err = fmt.Errorf("%w: a column of type %T", ErrMalformed, src)
	}
	if err == nil {
		*id = parsed
	}
	return err
}

// NullID is an id or none, for columns and fields that may be empty. The zero
// value is none. An empty text is none too, since that is how CSV imports and
// forms say it.
type NullID struct {
	ID    ID
	Valid bool // whether there is an id
}

// IsZero reports whether there is no id. encoding/json asks it for omitzero, the
// MongoDB driver for omitempty.
func (n NullID) IsZero() bool { return !n.Valid }

// Value gives database/sql the id as text, or NULL.
func (n NullID) Value() (driver.Value, error) {
	if !n.Valid {
		return nil, nil
	}
	return n.ID.Value()
}

// Scan reads what ID.Scan reads; NULL and an empty text are none. After an error n
// is unchanged.
func (n *NullID) Scan(src any) error {
	if isEmpty(src) {
		*n = NullID{}
		return nil
	}
	var id ID
	err := id.Scan(src)
	return n.set(id, err)
}

func isEmpty(src any) bool {
	switch src := src.(type) {
	case string:
		return src == ""
	case []byte:
		return len(src) == 0
	}
	return src == nil
}

// set makes n hold id, unless there is an error, which it hands on.
func (n *NullID) set(id ID, err error) error {
	if err == nil {
		*n = NullID{ID: id, Valid: true}
	}
	return err
}

// MarshalJSON returns the text of the id in quotes, or null; its error is always
// nil.
func (n NullID) MarshalJSON() ([]byte, error) {
	if !n.Valid {
		return []byte("null"), nil
	}
	return []byte(`"` + n.ID.String() + `"`), nil
}

// UnmarshalJSON reads null and an empty string as none, and strings that Parse
// reads. After an error n is unchanged.
func (n *NullID) UnmarshalJSON(b []byte) error {
	var text *string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	if text == nil || *text == "" {
		*n = NullID{}
		return nil
	}
	return n.set(Parse(*text))
}
