// SPDX-License-Identifier: Apache-2.0

package listen_test

import (
	"fmt"

	"github.com/locus-db/locus/internal/listen"
)

func Example() {
	fmt.Println(listen.Wish{Host: "127.0.0.1"}.Serve(false))
	fmt.Println(listen.Wish{Host: "0.0.0.0", TLS: listen.Files}.Serve(false))
	fmt.Println(listen.Wish{Host: "0.0.0.0", TLS: listen.Files}.Serve(true))
	// Output:
	// <nil>
	// other machines could read and write everything, because there is no token yet
	// <nil>
}
