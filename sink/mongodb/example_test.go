// SPDX-License-Identifier: Apache-2.0

package mongodb_test

import (
	"fmt"

	"github.com/locus-db/locus/sink"
	_ "github.com/locus-db/locus/sink/mongodb" // makes its URLs known
)

// A URL is checked before anything connects.
func Example() {
	_, _, err := sink.ParseURL("mongodb://crm@db.example/crm?collection=golden&tlsCAFile=ca.pem")
	fmt.Println(err)
	_, _, err = sink.ParseURL("mongodb://crm@db.example/crm?collection=golden&replicaSet=rs0")
	fmt.Println(err)
	// Output:
	// mongodb: the URL has a parameter "tlsCAFile": want only collection, authSource, replicaSet, directConnection
	// <nil>
}
