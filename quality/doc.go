// SPDX-License-Identifier: Apache-2.0

// Package quality estimates from the decisions of people how good the entities are, and profiles the data that they
// are made of: attributes, the shapes of values, match weights, the evidence of each comparison level, and what another
// threshold would change.
//
// Use it through DB.Quality of package locus. Package review has the pairs whose answers the estimates need.
package quality
