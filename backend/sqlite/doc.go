// SPDX-License-Identifier: Apache-2.0

// Package sqlite keeps cells in SQLite files.
package sqlite
