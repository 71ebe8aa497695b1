// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package cli

// diskOf returns nothing on this system.
func diskOf(string) disk { return disk{} }
