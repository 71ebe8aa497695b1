// SPDX-License-Identifier: Apache-2.0

// Package entities reads entities: by any id that they ever had, by the address of one of their records, by what is
// searched for, and with the things that they are related to without being one with them.
//
// Use it through DB.Entities of package locus.
package entities
