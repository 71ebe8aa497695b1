// SPDX-License-Identifier: Apache-2.0

// Package engine holds what every noun of an installation needs to read and write across its cells: the open cells, the
// key directory, the resolver, and one implementation of each way to read across cells.
//
//	Locate     the cell of an address, with a newer cell map if this one does not know it
//	ByCell     addresses grouped by cell, one question to each cell, several cells at a time
//	View, Do   one cell, read again at its new place if it has moved
//	Retry      several cells, again with a newer cell map
//	Page       a list in the order of puids, cell after cell
//	Parallel   a question to many cells at once
//	Sleep, Wake, Every   waiting
//
// It imports no noun: the package of every noun, such as records or entities, builds on it, and package locus assembles
// them.
package engine
