// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"iter"
)

// Ahead returns all items of a paged list. While the caller works on a page, the next one is read, so that at most two
// pages are in memory. read returns the page after a position and the position to continue after; more reports whether
// there is one. An error ends the sequence, as its last element. The sequence can be iterated again, from first.
func Ahead[T, K any](ctx context.Context, first K,
	read func(ctx context.Context, after K) (page []T, next K, more bool, err error)) iter.Seq2[T, error] {
	type answer struct {
		page []T
		err  error
	}
	return func(yield func(T, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		pages := make(chan answer)
		go func() {
			defer close(pages)
			for at, more := first, true; more; {
				var a answer
				if a.page, at, more, a.err = read(ctx, at); a.err != nil {
					more = false
				}
				select {
				case pages <- a:
				case <-ctx.Done():
					return
				}
			}
		}()
		// When the sequence has ended, so has its reader: the caller may close the source.
		defer func() {
			stop()
			for range pages { //nolint:revive // only until the channel is closed
			}
		}()
		var none T
		for a := range pages {
			for _, item := range a.page {
				if !yield(item, nil) {
					return
				}
			}
			if a.err != nil {
				yield(none, a.err)
				return
			}
		}
		if err := ctx.Err(); err != nil { // the reader stopped between two pages
			yield(none, err)
		}
	}
}
