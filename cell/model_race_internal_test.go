// SPDX-License-Identifier: Apache-2.0

//go:build race

package cell

func init() { raced = true }
