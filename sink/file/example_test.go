// SPDX-License-Identifier: Apache-2.0

package file_test

import (
	"fmt"

	"github.com/locus-db/locus/sink"
	_ "github.com/locus-db/locus/sink/file" // makes its URLs known
)

// A definition names a directory below that of the servers, and cannot leave it.
func Example() {
	for _, url := range []string{"file:../etc", "file:golden?format=csv", "file:crm/golden?format=parquet"} {
		_, _, err := sink.ParseURL(url)
		fmt.Println(err)
	}
	// Output:
	// file: want file:NAME, such as file:golden?format=parquet: a directory below that of --sink-files, of letters, digits, _, - and dots
	// file: the format is "csv": want jsonl or parquet
	// <nil>
}
