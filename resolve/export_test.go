// SPDX-License-Identifier: Apache-2.0

package resolve

// LoadIn makes loads work in small parts, so that few records need many transactions.
func (r *Resolver) LoadIn(page, rows, nodes, pairs int) {
	r.loads = loadSizes{page, rows, nodes, pairs, 11, 40, 50}
}

// LoadPartly makes each load either process only the new records and those that share keys with them, whatever their
// share, or process all records.
func (r *Resolver) LoadPartly(partly bool) {
	if r.loads.whole = 0; partly {
		r.loads.whole = 1000
	}
}
