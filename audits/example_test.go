// SPDX-License-Identifier: Apache-2.0

package audits_test

import (
	"context"
	"fmt"
	"os"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/audit"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// An application that embeds Locus stores who grows its cells.
func Example() {
	dir, err := os.MkdirTemp("", "audits")
	check(err)
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := locus.Open(ctx, dir, nil)
	check(err)
	defer db.Close()

	action, err := db.Audit().Begin(ctx, audit.Entry{Class: audit.Admin, Principal: "ann", Action: "grow"})
	check(err)
	action.End("ok", "cells=32") // after the work
	db.Audit().Close()

	rows, err := db.Audit().Before(ctx, audit.End, 1)
	check(err)
	entry, err := rows[0].Entry()
	check(err)
	fmt.Println(entry.Phase, entry.Principal, entry.Action, entry.Outcome, entry.Targets)
	// Output:
	// ended ann grow ok [cells=32]
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
