// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkRows reads the rows of BenchmarkStandardCSV's text as lists of values, as encoding/csv does.
func BenchmarkRows(b *testing.B) {
	var text strings.Builder
	text.WriteString("source,key,name,phones,address,city,postcode\n")
	for i := range 20_000 {
		fmt.Fprintf(&text, "crm,%d,Joe's Pizza,415-555-2300,\"1000 Market Street\",San Francisco,94102\n", i)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		s := &scanner{lines: &lines{r: bufio.NewReaderSize(strings.NewReader(text.String()), sample)}, dialect: comma, width: 7, keys: []int{1}}
		for {
			if _, err := s.next(); err != nil {
				break
			}
			s.row.strings(make([]string, 0, 7))
		}
	}
}

// BenchmarkSniff recognises the dialect of a sample. The time does not depend on the size of the file.
func BenchmarkSniff(b *testing.B) {
	var text strings.Builder
	text.WriteString("id;name;phone;street;city\n")
	for i := 0; text.Len() < sample; i++ {
		fmt.Fprintf(&text, "%d;Joe's Pizza;415-555-2300;\"1000 Market Street\";San Francisco\n", i)
	}
	for b.Loop() {
		sniffDialect([]byte(text.String()), false, &Options{}, nil)
	}
}
