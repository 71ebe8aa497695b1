// SPDX-License-Identifier: Apache-2.0

package rollup

// Small pages, so that every test sees several.
func init() { listed, written, scanned, pending, falls, maxSlots = 3, 5, 4, 6, Falls, Slots }

// Falls and Slots are the limits in tests on groups per entity and dimension values per group.
const Falls, Slots = 12, 4
