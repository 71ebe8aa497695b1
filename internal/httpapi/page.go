// SPDX-License-Identifier: Apache-2.0

package httpapi

import "github.com/locus-db/locus/entity"

const (
	// pageBytes limits the size of a page, without the overhead of JSON. A thousand of the largest records would be 64
	// MiB for every client.
	pageBytes = 4 << 20
	// stride is how many items are read at a time, which limits the unneeded reads beyond the limit.
	stride = 64
)

type listed[P comparable] interface {
	// size returns the approximate size of the item in an answer, in bytes.
	size() int
	// position returns the sort key of the item.
	position() P
}

// itemBytes is the estimated overhead of a part of an item: names, ids, quotes.
const itemBytes = 32

// fill reads a page of at most limit items and about pageBytes, but at least one item. next is the position after the
// page, the zero position at the end.
func fill[T listed[P], P comparable](after P, limit int, read func(after P, limit int) ([]T, P, error)) (page []T, next P, err error) {
	var none P
	page = make([]T, 0, min(limit, stride))
	for size := 0; ; {
		items, next, err := read(after, min(limit-len(page), stride))
		if err != nil {
			return nil, none, err
		}
		for _, item := range items {
			if size += item.size(); size > pageBytes && len(page) > 0 {
				return page, after, nil
			}
			page, after = append(page, item), item.position()
		}
		if next == none || len(page) == limit {
			return page, next, nil
		}
		if len(items) == 0 { // everything read was filtered out
			after = next
		}
	}
}

func (r Record) position() entity.PUID { return r.PUID }

func (r Record) size() int {
	return 5*itemBytes + len(r.Source) + len(r.Key) + attributesSize(entity.Attributes(r.Attributes))
}

func (e Entity) size() int {
	n := 5 * itemBytes
	for _, m := range e.Members {
		n += 4*itemBytes + refSize(m.Ref)
	}
	for _, a := range e.View {
		n += itemBytes + len(a.Name)
		for _, v := range a.Values {
			n += 2*itemBytes + len(v.Value)
			for _, ref := range v.Records {
				n += itemBytes + refSize(ref)
			}
		}
	}
	return n
}

func refSize(ref entity.Ref) int { return len(ref.Source) + len(ref.Key) }

func attributesSize(attributes entity.Attributes) (n int) {
	for name, values := range attributes {
		n += itemBytes + len(name)
		for _, v := range values {
			n += itemBytes + len(v)
		}
	}
	return n
}
