// SPDX-License-Identifier: Apache-2.0

package document

// NotNull is what is written to a column of bytes that has no NULL: drivers make that of nil.
func NotNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Beyond is the least that comes after all that begin with a prefix, byte by byte. ok is false if nothing does.
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
