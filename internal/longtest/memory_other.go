// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package longtest

func memory() (free uint64, runs bool) { return 0, false }
