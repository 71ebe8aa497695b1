// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/httpapi"
)

// batch is a run of rows of a file: rows to send, and rows rejected locally.
type batch struct {
	checked int // rows checked by a dry run
	items   []item
	local   []bulk.Reject
	keys    map[entity.Ref]struct{}
	size    int // bytes of the items and their separators
	// position is the position of the last row in a database, and taken the bytes of the file up to it.
	position []string
	taken    int64

	done chan struct{} // closed once the fields below are final
	err  error
	took time.Duration // of all attempts
}

// item is a row to send.
type item struct {
	row    *bulk.Row
	text   []byte // JSON of the row
	result httpapi.PutResult
}

func newBatch() *batch {
	return &batch{keys: map[entity.Ref]struct{}{}, done: make(chan struct{})}
}

// rows returns the number of rows, sent or not.
func (b *batch) rows() int { return len(b.items) + len(b.local) + b.checked }

func (b *batch) add(row *bulk.Row) {
	text, _ := json.Marshal(input(row))
	b.size += len(text) + len(",")
	b.items = append(b.items, item{row: row, text: text})
	b.keys[entity.Ref{Source: row.Source, Key: row.Key}] = struct{}{}
}

func (b *batch) refuse(e *bulk.RowError) {
	b.local = append(b.local, e.Reject())
}

// input returns a row as the API takes it.
func input(row *bulk.Row) httpapi.RecordInput {
	return httpapi.RecordInput{Source: row.Source, Key: row.Key, Kind: row.Kind, ObservedAt: row.Observed,
		Attributes: row.Attributes}
}

func (b *batch) sharesKey(other *batch) bool {
	small, large := b.keys, other.keys
	if len(small) > len(large) {
		small, large = large, small
	}
	for key := range small {
		if _, shared := large[key]; shared {
			return true
		}
	}
	return false
}

// again are the codes after which the same request may be repeated.
var again = map[httpapi.Code]bool{
	httpapi.CodeRateLimited: true,
	httpapi.CodeOverloaded:  true, httpapi.CodeUnavailable: true, httpapi.CodeDraining: true,
	httpapi.CodeStaleMap: true, httpapi.CodeCommitUnknown: true, httpapi.CodeTimeout: true,
}

// endurance is how long a batch is retried.
const endurance = 30 * time.Second

// persist calls send until it reports false, at most for endurance. After an interrupt it does not retry, and returns
// an error.
func persist(ctx, interrupt context.Context, send func() (again bool)) error {
	deadline := time.Now().Add(endurance)
	for pause := 100 * time.Millisecond; send() && !time.Now().After(deadline); pause = min(2*pause, 3*time.Second) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-interrupt.Done():
			return interrupt.Err()
		case <-time.After(pause + rand.N(pause)):
		}
	}
	return nil
}

// send sends the items until each has a final result, and closes done. Putting a record is idempotent, so a lost answer
// is retried.
func (b *batch) send(ctx, interrupt context.Context, cl *client) {
	defer close(b.done)
	if len(b.items) == 0 {
		return
	}
	pending := make([]*item, 0, len(b.items))
	for i := range b.items {
		pending = append(pending, &b.items[i])
	}
	var err error
	begun, attempts := time.Now(), 0
	stopped := persist(ctx, interrupt, func() bool {
		attempts++
		pending, err = put(ctx, cl, pending)
		return repeatable(err) || err == nil && len(pending) > 0
	})
	if b.took = time.Since(begun); attempts > 1 {
		b.took = max(b.took, 2*longUnderWay) // the server had too much to do
	}
	switch {
	case stopped != nil:
		b.err = stopped
	case err != nil:
		b.err = err
	case len(pending) > 0:
		b.err = &failure{
			Code: "unavailable", Exit: exitUnavailable, Hint: "repeat the command to continue from there",
			Message: fmt.Sprintf("%d rows were refused because their cells are unavailable, for %v", len(pending), endurance),
		}
	}
}

// put sends items once and returns those to send again.
func put(ctx context.Context, cl *client, items []*item) (pending []*item, err error) {
	body := []byte(`{"records":[`)
	for i, it := range items {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, it.text...)
	}
	var answer httpapi.PutResponse
	if _, err := cl.do(ctx, http.MethodPost, "/v1/records", nil, append(body, "]}"...), &answer); err != nil {
		return items, err
	}
	if len(answer.Results) != len(items) {
		return items, fmt.Errorf("put %d records: the server answered for %d", len(items), len(answer.Results))
	}
	for i, it := range items {
		it.result = answer.Results[i]
		if e := it.result.Error; e != nil && again[e.Code] {
			pending = append(pending, it)
		}
	}
	return pending, nil
}

// repeatable reports whether a request that failed as a whole may succeed if repeated.
func repeatable(err error) bool {
	if problem, ok := errors.AsType[*httpapi.Problem](err); ok {
		return again[problem.Code]
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, errCut)
}

// rejected returns the rejected rows in file order.
func (b *batch) rejected() []bulk.Reject {
	var list []bulk.Reject
	local := b.local
	for i := range b.items {
		it := &b.items[i]
		if it.result.Error == nil {
			continue
		}
		for len(local) > 0 && local[0].Line < it.row.Line {
			list, local = append(list, local[0]), local[1:]
		}
		list = append(list, it.result.Error.OfRow(it.row).Reject())
	}
	return append(list, local...)
}

// outcomes counts the rows by outcome, and the pending ones in addition.
func (b *batch) outcomes() map[string]int {
	counts := map[string]int{}
	for i := range b.items {
		r := &b.items[i].result
		if r.Error != nil {
			counts[refused]++
			continue
		}
		counts[string(r.Outcome)]++
		if r.Pending {
			counts[unresolved]++
		}
	}
	if n := len(b.local); n > 0 {
		counts[refused] += n
	}
	if b.checked > 0 {
		counts["checked"] = b.checked
	}
	return counts
}

// lastAccepted returns the last row that is stored.
func (b *batch) lastAccepted() (source, key string, ok bool) {
	for i := len(b.items) - 1; i >= 0; i-- {
		if it := &b.items[i]; it.result.Error == nil {
			return it.row.Source, it.row.Key, true
		}
	}
	return "", "", false
}
