// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/records"
)

// keyedError is an error of a call that names external keys. The client sees the keys. The log has more readers and a
// longer life, so it contains cell.Hash of a key in hex instead, which finds the line for a known key.
type keyedError struct {
	error
	call *call
}

func (e *keyedError) Unwrap() error { return e.error }

// LogValue returns the text of the error with hashes in place of the keys of the call.
func (e *keyedError) LogValue() slog.Value {
	refs := e.call.refs()
	slices.SortFunc(refs, func(a, b entity.Ref) int { return cmp.Compare(len(b.Key), len(a.Key)) }) // a:12 before a:1
	pairs := make([]string, 0, 2*len(refs))
	for _, ref := range refs {
		pairs = append(pairs, ref.String(), fmt.Sprintf("%s:#%016x", ref.Source, cell.Hash(ref.Source, ref.Key)))
	}
	return slog.StringValue(strings.NewReplacer(pairs...).Replace(e.Error()))
}

// keyed wraps an error for the log.
func (c *call) keyed(err error) error {
	if err == nil {
		return nil
	}
	return &keyedError{err, c}
}

// refs returns the external keys in the path, the query and the body.
func (c *call) refs() (refs []entity.Ref) {
	named := []string{c.r.PathValue("source") + ":" + c.r.PathValue("key")}
	for _, value := range c.query {
		named = append(named, strings.TrimSpace(value))
	}
	if items, err := decodePut(c.body); err == nil {
		for i := range items {
			named = append(named, items[i].put.String())
		}
	}
	for _, address := range named {
		if ref, err := records.ParseRef(address); err == nil {
			refs = append(refs, ref)
		}
	}
	return refs
}
