// SPDX-License-Identifier: Apache-2.0

// Command site writes the documentation as a website of files, with a search that needs no server:
//
//	site ROOT OUT
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: site ROOT OUT")
		os.Exit(2)
	}
	n, err := build(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d pages; open index.html through a server of files, such as python3 -m http.server -d %[1]s\n",
		os.Args[2], n)
}
