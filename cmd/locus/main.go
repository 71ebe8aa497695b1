// SPDX-License-Identifier: Apache-2.0

// Command locus is the server and the command line of Locus.
package main

import (
	"os"

	"github.com/locus-db/locus/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
