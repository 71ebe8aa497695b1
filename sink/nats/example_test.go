// SPDX-License-Identifier: Apache-2.0

package nats_test

import (
	"fmt"

	"github.com/locus-db/locus/sink"
	_ "github.com/locus-db/locus/sink/nats" // makes its URLs known
)

// A URL is checked before anything connects.
func Example() {
	_, _, err := sink.ParseURL("nats://bus.example/CRM?subject=golden.>")
	fmt.Println(err)
	_, _, err = sink.ParseURL("nats://bus.example/CRM?subject=crm.golden")
	fmt.Println(err)
	// Output:
	// nats: the prefix of the subjects is "golden.>": want one of words of letters, digits, - and _ with dots between them, as in subject=crm.golden
	// <nil>
}
