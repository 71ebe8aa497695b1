// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// What is printed and drawn of reports: -rewrite writes the file.
func TestTables(t *testing.T) {
	t.Parallel()
	datadriven.RunTest(t, "testdata/tables", func(t *testing.T, d *datadriven.TestData) string {
		var reports []Report
		if err := json.Unmarshal([]byte(d.Input), &reports); err != nil {
			t.Fatal(err)
		}
		switch d.Cmd {
		case "csv":
			return csv(reports)
		case "picture":
			return picture(reports)
		default:
			return tables(reports)
		}
	})
}
