// SPDX-License-Identifier: Apache-2.0

// Package eval measures the quality of matching on labelled sets.
package eval
