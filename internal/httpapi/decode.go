// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"strconv"
	"strings"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/strictjson"
)

// MaxBatch is the number of records of one request.
const MaxBatch = 1000

// item is one record of a batch: a put, or why it is none.
type item struct {
	put   locus.Put
	fault *Fault
}

// decodePut reads a batch. What is wrong with the document refuses all of it; what is wrong with one
// record refuses that record only.
func decodePut(body []byte) ([]item, error) {
	doc, err := strictjson.Parse(body)
	if err != nil {
		return nil, err
	}
	if doc.Kind() != strictjson.Object {
		return nil, wrongKind("", doc, "an object with records")
	}
	var records strictjson.Value
	for name, v := range doc.Members() {
		if name != "records" {
			return nil, unknownField("", name, "records")
		}
		records = v
	}
	if records.Kind() != strictjson.Array {
		return nil, wrongKind("/records", records, "an array of 1 to 1000 records")
	}
	var items []item
	for i, v := range records.Items() {
		if i == MaxBatch {
			return nil, fault(CodeTooLarge, "/records", "the batch has more than %d records: send smaller ones", MaxBatch)
		}
		items = append(items, decodeRecord(itemPointer(i), v))
	}
	if len(items) == 0 {
		return nil, fault(CodeInvalid, "/records", "the batch is empty: want 1 to %d records", MaxBatch)
	}
	return items, nil
}

func decodeRecord(at string, v strictjson.Value) (it item) {
	if v.Kind() != strictjson.Object {
		it.fault = wrongKind(at, v, "a record")
		return it
	}
	for name, v := range v.Members() {
		field := at + "/" + name
		switch name {
		case "source", "key", "observed_at":
			if v.Kind() != strictjson.String {
				it.note(wrongKind(field, v, "a string"))
				continue
			}
			switch name {
			case "source":
				it.put.Source = v.Text()
			case "key":
				it.put.Key = v.Text()
			default:
				it.note(it.observe(field, v.Text()))
			}
		case "attributes":
			if v.Kind() != strictjson.Object {
				it.note(wrongKind(field, v, "an object of attributes"))
				continue
			}
			it.put.Attributes = make(entity.Attributes, 16)
			for name, v := range v.Members() {
				it.note(it.attribute(field, name, v))
			}
		default:
			it.note(unknownField(at, name, "source, key, observed_at, attributes"))
		}
	}
	return it
}

// note keeps the first fault; source and key are read all the same, so that the answer names them.
func (it *item) note(f *Fault) {
	if it.fault == nil {
		it.fault = f
	}
}

func (it *item) observe(at, text string) *Fault {
	t, ok := parseInstant(text)
	if !ok {
		return fault(CodeInvalid, at, "%.60q is not a time of RFC 3339 such as 2026-11-20T12:00:00Z", text)
	}
	it.put.Observed = t
	return nil
}

// attribute takes a string, a number as its text, or an array of them. An array of nothing is an
// attribute that was not sent.
func (it *item) attribute(at, name string, v strictjson.Value) *Fault {
	switch v.Kind() {
	case strictjson.String, strictjson.Number:
		it.put.Attributes[name] = []string{scalar(v)}
		return nil
	case strictjson.Array:
		var list []string
		for i, v := range v.Items() {
			if k := v.Kind(); k != strictjson.String && k != strictjson.Number {
				return wrongKind(at+"/"+escapePointer(name)+"/"+strconv.Itoa(i), v, "a string or a number")
			}
			list = append(list, scalar(v))
		}
		if len(list) > 0 {
			it.put.Attributes[name] = list
		}
		return nil
	}
	return wrongKind(at+"/"+escapePointer(name), v, "a string, a number or an array of them")
}

func scalar(v strictjson.Value) string {
	if v.Kind() == strictjson.Number {
		return v.Number()
	}
	return v.Text()
}

func wrongKind(at string, v strictjson.Value, want string) *Fault {
	return fault(CodeInvalid, at, "found %v, want %s", v.Kind(), want)
}

func unknownField(at, name, known string) *Fault {
	return fault(CodeUnknownField, at+"/"+escapePointer(name), "unknown field %.60q: there are %s", name, known)
}

// escapePointer makes a name a part of a JSON pointer (RFC 6901) that is safe to show.
func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(printable(cut(name, 100)))
}

func itemPointer(i int) string { return "/records/" + strconv.Itoa(i) }
