// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"fmt"

	"github.com/locus-db/locus/source"
	_ "github.com/locus-db/locus/source/postgres" // makes its URLs known
)

// A URL is checked before anything connects.
func Example() {
	_, err := source.ParseURL("postgres://crm@db/crm")
	fmt.Println(err)
	_, err = source.ParseURL("postgres://crm@db/crm?table=customers")
	fmt.Println(err)
	// Output:
	// the URL names no table: want postgres://USER@HOST/DATABASE?table=[SCHEMA.]TABLE
	// <nil>
}
