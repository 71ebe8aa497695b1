// SPDX-License-Identifier: Apache-2.0

//go:build race

package longtest

// Raced reports whether the race detector is enabled.
const Raced = true
