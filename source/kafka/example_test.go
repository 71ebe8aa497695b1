// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"fmt"

	"github.com/locus-db/locus/source"
	_ "github.com/locus-db/locus/source/kafka" // makes its URLs known
)

// A URL is checked before anything connects.
func Example() {
	_, err := source.ParseURL("kafka://broker/?x=1")
	fmt.Println(err)
	_, err = source.ParseURL("kafka://broker/CUSTOMERS")
	fmt.Println(err)
	// Output:
	// want kafka://broker1:9092,broker2:9092/TOPIC
	// <nil>
}
