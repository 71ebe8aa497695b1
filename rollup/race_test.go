// SPDX-License-Identifier: Apache-2.0

//go:build race

package rollup_test

func init() { raced = true }
