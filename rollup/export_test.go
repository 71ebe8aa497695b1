// SPDX-License-Identifier: Apache-2.0

package rollup

// Little is read and written at once, so that every test sees several portions.
func init() { listed, written, scanned, pending = 3, 5, 4, 6 }
