// SPDX-License-Identifier: Apache-2.0

package tabular_test

import (
	"errors"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/locus-db/locus/internal/tabular"
)

// Any bytes are rows, or an error that says what is wrong with the file.
func FuzzParquet(f *testing.F) {
	f.Add(small(f))
	f.Add([]byte("PAR1\x15\x04PAR1"))
	f.Fuzz(func(t *testing.T, file []byte) {
		table, err := openParquet(file)
		if err == nil {
			_, err = textsOf(table)
		}
		if _, ours := errors.AsType[*tabular.Error](err); err != nil && !ours {
			t.Fatalf("%v is no *tabular.Error", err)
		}
	})
}

func FuzzXLSX(f *testing.F) {
	f.Add(book(f, func(_ *excelize.File, set func(string, any, string)) {
		set("A1", "name", "")
		set("B2", 7, "dd.mm.yyyy")
	}))
	f.Fuzz(func(t *testing.T, file []byte) {
		_, err := sheetTexts(file, "Sheet1")
		if _, ours := errors.AsType[*tabular.Error](err); err != nil && !ours && !errors.Is(err, tabular.ErrNoWorkbook) {
			t.Fatalf("%v is no *tabular.Error", err)
		}
	})
}
