// SPDX-License-Identifier: Apache-2.0

package document

// NotNull returns b for a NOT NULL column of bytes: drivers write a nil slice as NULL.
func NotNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Beyond returns the smallest value that sorts after everything with the prefix, byte by byte. ok is false if there
// is none.
func Beyond[T ~string | ~[]byte](prefix T) (next T, ok bool) {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			b := append([]byte{}, prefix[:i+1]...)
			b[i]++
			return T(b), true
		}
	}
	return next, false
}
