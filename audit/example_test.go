// SPDX-License-Identifier: Apache-2.0

package audit_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/locus-db/locus/audit"
)

// An entry that was altered is not the one whose hash the next entry holds.
func Example() {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	chain := audit.NewChain(1)
	var rows []audit.Row
	for _, e := range []audit.Entry{
		{Phase: audit.Start, Class: audit.Admin},
		{Phase: audit.Begun, Class: audit.Admin, Principal: "ann", Action: "DELETE /v1/rollups/{name}",
			Targets: []string{"name=shops"}},
		{Phase: audit.Sum, Class: audit.Access},
	} {
		row, err := chain.Append(e, now)
		if err != nil {
			panic(err)
		}
		rows = append(rows, row)
	}
	scan := func(see func(audit.Row)) error {
		for _, row := range rows {
			see(row)
		}
		return nil
	}
	report, _ := audit.Verify(nil, scan)
	fmt.Println(report.Entries, "entries,", len(report.Problems), "problems")
	rows[1].Body = strings.Replace(rows[1].Body, "ann", "bob", 1)
	report, _ = audit.Verify(nil, scan)
	fmt.Println(report.Problems[0].Seq, report.Problems[0].What)
	// Output:
	// 3 entries, 0 problems
	// 3 the entry before it is not the one that was written
}
