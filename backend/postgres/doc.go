// SPDX-License-Identifier: Apache-2.0

// Package postgres keeps cells in databases of PostgreSQL servers: the backend of several machines.
package postgres
