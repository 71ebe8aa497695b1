// SPDX-License-Identifier: Apache-2.0

// Package match decides whether two dirty records speak of one thing.
package match
