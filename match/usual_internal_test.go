// SPDX-License-Identifier: Apache-2.0

package match

import "testing"

// The hashes are stored in term-frequency tables.
func TestUsual_HashesAreFrozen(t *testing.T) {
	t.Parallel()
	whole, day := dated{attribute: &Attribute{Name: "birth_date"}, date: date{1984, 1, 31}}.days()
	for name, of := range map[string][2]uint64{
		"date": {whole, 0x90537ad3663b669}, "day": {day, 0xd4ffb96fd5a3b669}, "mailbox": {boxHash("info@acme.com"), 0x3b458f9d9e452e47}, "days": {datesCounted, 0x1fe5971c70ccc9d8},
	} {
		if of[0] != of[1] {
			t.Errorf("%s: %#x, want %#x", name, of[0], of[1])
		}
	}
}
