// SPDX-License-Identifier: Apache-2.0

package nats_test

import (
	"fmt"

	"github.com/locus-db/locus/source"
	_ "github.com/locus-db/locus/source/nats" // makes its URLs known
)

// A URL is checked before anything connects.
func Example() {
	_, err := source.ParseURL("nats://broker/?x=1")
	fmt.Println(err)
	_, err = source.ParseURL("nats://broker/CUSTOMERS")
	fmt.Println(err)
	// Output:
	// want nats://host:4222/STREAM with the name of a stream of JetStream
	// <nil>
}
