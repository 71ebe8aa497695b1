// SPDX-License-Identifier: Apache-2.0

// Package roundstest is the common part of the tests of programs that measure rounds: the counterpart of
// rounds.Program, and the test of what the program prints.
package roundstest

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// The program starts the tests with these flags. Only the test binary has them.
var (
	asked  = flag.String("measure", "", "options as JSON: the program starts the tests so")
	report = flag.String("report", "", "file that the report goes to, with -measure")
)

// Measure measures the round that the program asked for, and writes the report.
func Measure[O, R any](t *testing.T, measure func(testing.TB, O) *R) {
	t.Helper()
	if *asked == "" {
		t.Skip("the program measures: go run .")
	}
	var o O
	if err := json.Unmarshal([]byte(*asked), &o); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(measure(t, o))
	if err == nil {
		err = os.WriteFile(*report, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Tables compares what is printed and drawn for reports with testdata/tables; -rewrite updates the file.
func Tables[R any](t *testing.T, tables, picture, csv func([]R) string) {
	t.Helper()
	datadriven.RunTest(t, "testdata/tables", func(t *testing.T, d *datadriven.TestData) string {
		var reports []R
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
