// SPDX-License-Identifier: Apache-2.0

//go:build race

package counter

func init() { raced = true }
