// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/records"
)

// item is one record of a batch: an input, or the reason why it is rejected.
type item struct {
	put records.Input
	refusal
	// slab stores the values of attributes with one value; a record has about ten of them.
	slab []string
}

// refusal is why an item of a batch is rejected, if it is.
type refusal struct{ fault *Fault }

// note keeps the first fault. The rest of the item is still parsed, so that the answer can name the item.
func (r *refusal) note(f *Fault) {
	if r.fault == nil {
		r.fault = f
	}
}

func (r *refusal) refused() *Fault { return r.fault }

func decodePut(body []byte) ([]item, error) {
	return decodeBatch(body, "records", records.MaxBatch, decodeRecord)
}

// decodeBatch reads a batch of items under a name. A fault of the document rejects the whole batch; a fault of an item
// rejects only that item.
func decodeBatch[T any, P interface {
	*T
	refused() *Fault
}](body []byte, name string, most int, decode func(strictjson.Value) T) ([]T, error) {
	fields, err := object(body, name)
	if err != nil {
		return nil, err
	}
	return decodeItems[T, P](fields[name], name, most, decode)
}

// decodeItems reads the array of a batch; see decodeBatch.
func decodeItems[T any, P interface {
	*T
	refused() *Fault
}](list strictjson.Value, name string, most int, decode func(strictjson.Value) T) ([]T, error) {
	if list.Kind() != strictjson.Array {
		return nil, wrongKind("/"+name, list, fmt.Sprintf("an array of 1 to %d %s", most, name))
	}
	var items []T
	for i, v := range list.Items() {
		if i == most {
			return nil, fault(CodeTooLarge, "/"+name, "the batch has more than %d %s: send smaller ones", most, name)
		}
		items = append(items, decode(v))
		if f := P(&items[i]).refused(); f != nil {
			f.Pointer = itemPointer(name, i) + f.Pointer
		}
	}
	if len(items) == 0 {
		return nil, fault(CodeInvalid, "/"+name, "the batch is empty: want 1 to %d %s", most, name)
	}
	return items, nil
}

// decodeRecord reads a record. The pointer of its fault is relative to the record.
func decodeRecord(v strictjson.Value) (it item) {
	if v.Kind() != strictjson.Object {
		it.fault = wrongKind("", v, "a record")
		return it
	}
	for name, v := range v.Members() {
		switch name {
		case "source", "key", "kind", "observed_at":
			if v.Kind() != strictjson.String {
				it.note(wrongKind("/"+name, v, "a string"))
				continue
			}
			switch name {
			case "source":
				it.put.Source = v.Text()
			case "key":
				it.put.Key = v.Text()
			case "kind":
				it.put.Kind = v.Text()
			default:
				var f *Fault
				it.put.Observed, f = observedAt(v.Text())
				it.note(f)
			}
		case "attributes":
			if v.Kind() != strictjson.Object {
				it.note(wrongKind("/attributes", v, "an object of attributes"))
				continue
			}
			it.put.Attributes = make(entity.Attributes, 12)
			it.slab = make([]string, 0, 12)
			for name, v := range v.Members() {
				it.note(it.attribute(name, v))
			}
		default:
			it.note(unknownField("", name, "source, key, kind, observed_at, attributes"))
		}
	}
	return it
}

// observedAt reads the time of an observation. An empty string means that it was not sent, as for attributes.
func observedAt(text string) (time.Time, *Fault) {
	if text == "" {
		return time.Time{}, nil
	}
	return instantAt("/observed_at", text)
}

// attribute accepts a string, a number as its text, or an array of these. An empty array means that the attribute was
// not sent.
func (it *item) attribute(name string, v strictjson.Value) *Fault {
	start := len(it.slab)
	switch v.Kind() {
	case strictjson.String, strictjson.Number:
		it.slab = append(it.slab, scalar(v))
	case strictjson.Array:
		for i, v := range v.Items() {
			if k := v.Kind(); k != strictjson.String && k != strictjson.Number {
				return wrongKind(attributePointer(name)+"/"+strconv.Itoa(i), v, "a string or a number")
			}
			it.slab = append(it.slab, scalar(v))
		}
	default:
		return wrongKind(attributePointer(name), v, "a string, a number or an array of them")
	}
	if end := len(it.slab); end > start {
		it.put.Attributes[name] = it.slab[start:end:end]
	}
	return nil
}

func attributePointer(name string) string { return "/attributes/" + escapePointer(name) }

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
	return fault(CodeUnknownField, at+"/"+escapePointer(name), "unknown field %.60q: want %s", name, known)
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// escapePointer escapes a name as a part of a JSON pointer (RFC 6901) that is safe to print.
func escapePointer(name string) string {
	return pointerEscapes.Replace(printable(cut(name, 100)))
}

func itemPointer(batch string, i int) string { return "/" + batch + "/" + strconv.Itoa(i) }
