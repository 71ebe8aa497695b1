// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"fmt"

	"github.com/locus-db/locus/sink"
	_ "github.com/locus-db/locus/sink/kafka" // makes its URLs known
)

// A URL is checked before anything connects.
func Example() {
	_, _, err := sink.ParseURL("kafka://broker/golden?acks=1")
	fmt.Println(err)
	_, _, err = sink.ParseURL("kafka://ann@broker/golden?sasl=scram-sha-512&tls=true")
	fmt.Println(err)
	// Output:
	// kafka: the option "acks" of a kafka URL is not known: want tls=true, sasl=plain, sasl=scram-sha-256 or sasl=scram-sha-512
	// <nil>
}
