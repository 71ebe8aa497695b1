// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Format is how messages are written.
type Format string

// Formats of messages.
const (
	// JSON is an object, the row. An empty message deletes the record of its key.
	JSON Format = "json"
	// Debezium is a change of a row of a database, in JSON: the envelope with or without its schema, or flattened by
	// the transformation ExtractNewRecordState.
	Debezium Format = "debezium"
)

// Formats are all formats.
var Formats = []Format{JSON, Debezium}

// Row is the content of a message.
type Row struct {
	// Object is the row, a JSON object. For a deletion it may have the columns of the key alone.
	Object []byte
	// Key is the key of the message as text if a deletion has no object.
	Key    string
	Delete bool
	// Time is when the source observed it.
	Time time.Time
}

// DecodeRow returns the row of a message. ok is false if the message has none, such as the tombstone after a deletion
// of Debezium. The error is the reason why the message cannot be read; it wraps ErrStop for a truncated table, which no
// record can express.
func DecodeRow(f Format, m Message) (row Row, ok bool, err error) {
	if f == Debezium {
		return decodeDebezium(m)
	}
	if len(m.Value) == 0 {
		if len(m.Key) == 0 {
			return row, false, errors.New("it is empty and has no key")
		}
		row = Row{Delete: true, Time: m.Time}
		if object(m.Key) {
			row.Object = m.Key
		} else {
			row.Key = string(m.Key)
		}
		return row, true, nil
	}
	if !object(m.Value) {
		return row, false, notObject(m.Value)
	}
	return Row{Object: m.Value, Time: m.Time}, true, nil
}

func object(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && text[0] == '{' && json.Valid(text)
}

// notObject describes a value that is not a JSON object.
func notObject(text []byte) error {
	text = bytes.TrimSpace(text)
	switch {
	case len(text) > 5 && text[0] == 0:
		return errors.New("it is not JSON, but looks like Avro or Protobuf of a schema registry: configure the connector to write JSON (value.converter=org.apache.kafka.connect.json.JsonConverter)")
	case json.Valid(text):
		return errors.New("it is JSON, but not an object")
	default:
		return fmt.Errorf("it is not JSON: %.40q", text)
	}
}

// fields are the members of an object.
type fields = map[string]json.RawMessage

// envelope is a message of Debezium.
type envelope struct {
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
	Op     string          `json:"op"`
	TsMs   int64           `json:"ts_ms"`
	Source struct {
		TsMs int64 `json:"ts_ms"`
	} `json:"source"`
}

// decodeDebezium reads an envelope or a flattened row.
func decodeDebezium(m Message) (row Row, ok bool, err error) {
	if len(m.Value) == 0 || string(bytes.TrimSpace(m.Value)) == "null" {
		return row, false, nil // the tombstone that follows a deletion
	}
	payload, schema, err := unwrap(m.Value)
	if err != nil {
		return row, false, err
	}
	if string(payload) == "null" {
		return row, false, nil
	}
	if !object(payload) {
		return row, false, errors.New("its payload is not an object")
	}
	if column := schema.decimal(); column != "" {
		return row, false, fmt.Errorf("column %.60q is a decimal in base64: set decimal.handling.mode=string in the connector", column)
	}
	var all fields
	if err := json.Unmarshal(payload, &all); err != nil {
		return row, false, fmt.Errorf("it cannot be read: %w", err)
	}
	_, after := all["after"]
	_, before := all["before"]
	if _, op := all["op"]; !op || !after && !before && all["op"][0] != '"' {
		return flattened(m, all)
	}
	var e envelope
	if err := json.Unmarshal(payload, &e); err != nil {
		return row, false, fmt.Errorf("its envelope cannot be read: %w", err)
	}
	row.Time = m.Time
	if at := e.Source.TsMs; at > 0 {
		row.Time = time.UnixMilli(at)
	} else if e.TsMs > 0 {
		row.Time = time.UnixMilli(e.TsMs)
	}
	switch e.Op {
	case "c", "r", "u":
		if row.Object = e.After; !object(e.After) {
			return row, false, fmt.Errorf("op %q has no object in after", e.Op)
		}
	case "d":
		row.Delete = true
		row.Object, err = deleted(e.Before, m.Key)
	case "t":
		return row, false, fmt.Errorf("%w: the table was truncated (op t): delete the records with locus source delete, or resume without deleting them", ErrStop)
	case "m":
		return row, false, nil // a logical message of the database
	default:
		return row, false, fmt.Errorf("op %.20q is none of c, r, u, d, t", e.Op)
	}
	return row, err == nil, err
}

// deleted merges the row before a deletion with the key, since a table may give only the one or the other.
func deleted(before json.RawMessage, key []byte) ([]byte, error) {
	row := fields{}
	if object(before) {
		if err := json.Unmarshal(before, &row); err != nil {
			return nil, fmt.Errorf("the row before the deletion cannot be read: %w", err)
		}
	}
	if object(key) {
		payload, _, err := unwrap(key)
		if err == nil && object(payload) {
			var columns fields
			if err := json.Unmarshal(payload, &columns); err != nil {
				return nil, fmt.Errorf("the key cannot be read: %w", err)
			}
			for name, value := range columns {
				if _, has := row[name]; !has || string(row[name]) == "null" {
					row[name] = value
				}
			}
		}
	}
	if len(row) == 0 {
		return nil, errors.New("it deletes a row, but neither before nor the key identifies the row")
	}
	return json.Marshal(row)
}

// flattened reads a row without its envelope. The columns that the transformation adds begin with two underscores.
func flattened(m Message, all fields) (row Row, ok bool, err error) {
	row.Time = m.Time
	text := func(name string) (s string) {
		_ = json.Unmarshal(all[name], &s) // "" if it is no text
		return s
	}
	number := func(name string) (n int64) {
		_ = json.Unmarshal(all[name], &n) // 0 if it is no number
		return n
	}
	row.Delete = text("__deleted") == "true" || string(all["__deleted"]) == "true" || text("__op") == "d"
	if at := number("__source_ts_ms"); at > 0 {
		row.Time = time.UnixMilli(at)
	} else if at := number("__ts_ms"); at > 0 {
		row.Time = time.UnixMilli(at)
	}
	if text("__op") == "t" {
		return row, false, fmt.Errorf("%w: the table was truncated (op t)", ErrStop)
	}
	for name := range all {
		if len(name) > 2 && name[:2] == "__" {
			delete(all, name)
		}
	}
	if row.Delete {
		kept, err := json.Marshal(all)
		if err != nil {
			return row, false, err
		}
		row.Object, err = deleted(kept, m.Key)
		return row, err == nil, err
	}
	row.Object, err = json.Marshal(all)
	return row, err == nil, err
}

// schema is a schema of Kafka Connect's JsonConverter, reduced to the fields used here.
type schema struct {
	Name   string   `json:"name"`
	Field  string   `json:"field"`
	Fields []schema `json:"fields"`
}

// unwrap returns the payload of a message, and its schema if it has one.
func unwrap(text []byte) (payload []byte, s schema, err error) {
	if !object(text) {
		return nil, s, notObject(text)
	}
	if !bytes.Contains(text, []byte(`"payload"`)) {
		return text, s, nil
	}
	var all fields
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, s, fmt.Errorf("it cannot be read: %w", err)
	}
	body, has := all["payload"]
	if form, known := all["schema"]; !has || !known || len(all) != 2 {
		return text, s, nil
	} else if err := json.Unmarshal(form, &s); err != nil {
		return nil, s, fmt.Errorf("its schema cannot be read: %w", err)
	}
	return body, s, nil
}

// decimal returns the name of a column that is a decimal in base64, "" if there is none.
func (s schema) decimal() string {
	for _, f := range s.Fields {
		if f.Name == "org.apache.kafka.connect.data.Decimal" {
			return f.Field
		}
		if f.Field == "after" || f.Field == "before" {
			if column := f.decimal(); column != "" {
				return column
			}
		}
	}
	return ""
}
