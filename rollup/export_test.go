// SPDX-License-Identifier: Apache-2.0

package rollup

// Little is read and written at once, so that every test sees several portions.
func init() { listed, written, scanned, pending, falls, maxSlots = 3, 5, 4, 6, Falls, Slots }

// Falls is into how many groups one thing may fall in tests, Slots how many values of the dimension a group may
// have.
const Falls, Slots = 12, 4
