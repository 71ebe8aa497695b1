// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/source"
)

func TestDecodeRow(t *testing.T) {
	t.Parallel()
	sent := time.UnixMilli(5000)
	const schema = `{"type":"struct","fields":[{"field":"before","type":"struct","fields":[{"field":"id","type":"int32"}]},` +
		`{"field":"after","type":"struct","fields":[{"field":"id","type":"int32"}]}]}`
	const decimals = `{"type":"struct","fields":[{"field":"after","type":"struct","fields":[{"field":"id","type":"int32"},` +
		`{"field":"price","type":"bytes","name":"org.apache.kafka.connect.data.Decimal"}]}]}`
	for name, tc := range map[string]struct {
		format     source.Format
		key, value string
		object     string // "" if there is none
		delete     bool
		ms         int64  // 5000 if 0
		fails      string // "" if it does not
		stop, skip bool
	}{
		"plain":                  {value: `{"id":1}`, object: `{"id":1}`},
		"plain, deleted by text": {key: "c1", delete: true},
		"plain, deleted by row":  {key: `{"id":1}`, object: `{"id":1}`, delete: true},
		"plain, nothing":         {fails: "no key"},
		"plain, list":            {value: `[1]`, fails: "not an object"},
		"plain, text":            {value: `{"id":`, fails: "not JSON"},
		"avro":                   {value: "\x00\x00\x00\x00\x07abc", fails: "JsonConverter"},

		"created": {format: source.Debezium,
			value:  `{"before":null,"after":{"id":1},"op":"c","ts_ms":7000,"source":{"ts_ms":6000}}`,
			object: `{"id":1}`, ms: 6000},
		"snapshot": {format: source.Debezium, value: `{"after":{"id":1},"op":"r","ts_ms":7000}`,
			object: `{"id":1}`, ms: 7000},
		"updated, with schema": {format: source.Debezium,
			value:  `{"schema":` + schema + `,"payload":{"before":{"id":1},"after":{"id":1,"n":"x"},"op":"u"}}`,
			object: `{"id":1,"n":"x"}`},
		"deleted": {format: source.Debezium, value: `{"before":{"id":1,"n":"x"},"after":null,"op":"d"}`,
			object: `{"id":1,"n":"x"}`, delete: true},
		"deleted, only the key": {format: source.Debezium, key: `{"schema":{},"payload":{"id":1}}`,
			value: `{"before":null,"after":null,"op":"d"}`, object: `{"id":1}`, delete: true},
		"deleted, nulls before": {format: source.Debezium, key: `{"id":1}`,
			value: `{"before":{"id":null},"after":null,"op":"d"}`, object: `{"id":1}`, delete: true},
		"deleted, nothing": {format: source.Debezium, value: `{"before":null,"after":null,"op":"d"}`,
			fails: "identifies"},
		"tombstone": {format: source.Debezium, key: `{"id":1}`, skip: true},
		"tombstone, with schema": {format: source.Debezium, key: `{"id":1}`, value: `{"schema":null,"payload":null}`,
			skip: true},
		"logical message": {format: source.Debezium, value: `{"op":"m","ts_ms":1,"after":null}`, skip: true},
		"truncated": {format: source.Debezium, value: `{"op":"t","before":null,"after":null}`,
			fails: "truncated", stop: true},
		"decimal": {format: source.Debezium,
			value: `{"schema":` + decimals + `,"payload":{"after":{"id":1,"price":"AfQ="},"op":"c"}}`,
			fails: "decimal.handling.mode=string"},
		"unknown op":            {format: source.Debezium, value: `{"op":"x","after":{"id":1}}`, fails: "none of"},
		"created without a row": {format: source.Debezium, value: `{"op":"c","after":null}`, fails: "after"},
		"flattened": {format: source.Debezium, value: `{"id":1,"__op":"u","__source_ts_ms":6000}`,
			object: `{"id":1}`, ms: 6000},
		"flattened, a column op": {format: source.Debezium, value: `{"id":1,"op":7}`, object: `{"id":1,"op":7}`},
		"flattened, deleted": {format: source.Debezium, value: `{"id":1,"__deleted":"true"}`, object: `{"id":1}`,
			delete: true},
		"flattened, payload kept": {format: source.Debezium, value: `{"id":1,"payload":"x"}`,
			object: `{"id":1,"payload":"x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := source.Message{Value: []byte(tc.value), Time: sent}
			if tc.key != "" {
				m.Key = []byte(tc.key)
			}
			format := tc.format
			if format == "" {
				format = source.JSON
			}
			row, ok, err := source.DecodeRow(format, m)
			switch {
			case tc.fails != "":
				if err == nil || !strings.Contains(err.Error(), tc.fails) || errors.Is(err, source.ErrStop) != tc.stop {
					t.Errorf("%v, want %q", err, tc.fails)
				}
				return
			case err != nil || ok == tc.skip:
				t.Fatal(ok, err)
			case tc.skip:
				return
			}
			want := time.UnixMilli(max(tc.ms, 5000))
			if string(row.Object) != tc.object || row.Delete != tc.delete || !row.Time.Equal(want) {
				t.Errorf("%s, delete %v, at %v", row.Object, row.Delete, row.Time)
			}
			if tc.object == "" && row.Key != tc.key {
				t.Errorf("the key is %q", row.Key)
			}
		})
	}
}
