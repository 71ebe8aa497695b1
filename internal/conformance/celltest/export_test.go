// SPDX-License-Identifier: Apache-2.0

package celltest

import (
	"context"

	"github.com/locus-db/locus/cell"
)

// Cases and DriverCases are the suites, for their own test.
var (
	Cases       = cases
	DriverCases = driverCases
)

// Handle is the handle type that the cases of drivers use.
type Handle = handle

// Databases is the Kind type that the cases of drivers use.
type Databases = kind

// DatabasesOf returns databases in memory; wrap may plant bugs in opened ones.
func DatabasesOf(wrap func(ctx context.Context, dial func(url string, create bool) (Handle, error), url string, create bool) (Handle, error)) Databases {
	memory := &Memory{}
	return kind{
		URL: func(name string) string { return "mem:" + name },
		dial: func(ctx context.Context, url string, create bool) (handle, error) {
			return wrap(ctx, func(url string, create bool) (Handle, error) {
				db, err := memory.Dial(ctx, url, create)
				if err != nil {
					return nil, err
				}
				return dialled[cell.Store]{of[cell.Store]{db}, db, func(ctx context.Context) (string, error) { return memory.Marked(ctx, url) }}, nil
			}, url, create)
		},
	}
}
