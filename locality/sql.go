// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
)

// Value returns the ID as text, for database/sql. Bind id[:] to store the 16 bytes.
func (id ID) Value() (driver.Value, error) { return id.String(), nil }

// Scan reads a column of database/sql: text, text in bytes, or 16 raw bytes. NULL sets Nil(); an empty text is an
// error. After an error id is unchanged. Scan into a NullID to distinguish NULL from an ID.
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

// NullID is an optional ID, for columns and fields that may be empty. The zero value means no ID. So does an empty
// text, because CSV imports and forms use it that way.
type NullID struct {
	ID    ID
	Valid bool // whether there is an ID
}

// IsZero reports whether there is no ID. encoding/json calls it for omitzero, the MongoDB driver for omitempty.
func (n NullID) IsZero() bool { return !n.Valid }

// Value returns the ID as text, or NULL, for database/sql.
func (n NullID) Value() (driver.Value, error) {
	if !n.Valid {
		return nil, nil
	}
	return n.ID.Value()
}

// Scan accepts what ID.Scan accepts, and NULL and an empty text as a missing ID. After an error n is unchanged.
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

// set sets n to id unless err is set, and returns err.
func (n *NullID) set(id ID, err error) error {
	if err == nil {
		*n = NullID{ID: id, Valid: true}
	}
	return err
}

// MarshalJSON returns the text of the ID in quotes, or null; its error is always nil.
func (n NullID) MarshalJSON() ([]byte, error) {
	if !n.Valid {
		return []byte("null"), nil
	}
	return []byte(`"` + n.ID.String() + `"`), nil
}

// UnmarshalJSON reads null and an empty string as none, and strings that Parse accepts. After an error n is unchanged.
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
