// SPDX-License-Identifier: Apache-2.0

package document

// NotNull is what is written to a column of bytes that has no NULL: drivers make that of nil.
func NotNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
