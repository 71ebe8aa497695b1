// SPDX-License-Identifier: Apache-2.0

package pgtable_test

import (
	"fmt"

	"github.com/locus-db/locus/internal/pgtable"
)

func Example() {
	t, err := pgtable.Parse("postgres://ann@db1/crm?table=sales.golden")
	fmt.Println(t.Name(), err)
	_, err = pgtable.Parse("postgres://ann:secret@db1/crm")
	fmt.Println(err)
	// Output:
	// sales.golden <nil>
	// the URL names no table: want postgres://USER@HOST/DATABASE?table=[SCHEMA.]TABLE
}
