// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"regexp"
	"strings"
)

// An address book in CSV, as Google Contacts writes it, has a column "Phone 1 - Value" beside "Phone 1 - Label".
// Several values with one label are in one cell: "+44 20 7946 0958 ::: +44 20 7946 0959".

var addressBookColumn = regexp.MustCompile(`^\S.* \d+ - Value$`)

const addressBookSeparator = ":::"

// isAddressBook reports whether the cells of a CSV column may have several values.
func isAddressBook(name string) bool { return addressBookColumn.MatchString(name) }

// splitAddressBook returns the values of a cell.
func splitAddressBook(cell string) (values []string) {
	if !strings.Contains(cell, addressBookSeparator) {
		return []string{cell}
	}
	for value := range strings.SplitSeq(cell, addressBookSeparator) {
		if value = strings.TrimSpace(value); value != "" {
			values = append(values, value)
		}
	}
	return values
}
