// SPDX-License-Identifier: Apache-2.0

// Package counters counts hits on metrics per minute and reads them, packs days that are over, and counts what Locus itself
// does. Package counter says how hits are counted exactly once.
//
// Use it through DB.Counters of package locus.
package counters
