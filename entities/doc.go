// SPDX-License-Identifier: Apache-2.0

// Package entities reads entities: by any id they ever had, by the address of one of their records, by search, and
// together with their relations, which are entities that are connected but not the same thing.
//
// Use it through DB.Entities of package locus.
package entities
