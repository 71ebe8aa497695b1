// SPDX-License-Identifier: Apache-2.0

package resolve

// LoadIn makes loads work in small parts, so that few records need many transactions.
func (r *Resolver) LoadIn(page, rows, nodes, pairs int) {
	r.loads = loadSizes{page, rows, nodes, pairs, 11, 40}
}
