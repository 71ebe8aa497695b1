// SPDX-License-Identifier: Apache-2.0

// Package counters counts hits on metrics per minute and reads them, compacts ended days, and counts Locus's own
// work. Package counter describes how hits are counted exactly once.
//
// Use it through DB.Counters of package locus.
package counters
