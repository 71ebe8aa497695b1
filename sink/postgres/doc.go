// SPDX-License-Identifier: Apache-2.0

// Package postgres keeps the events of a sink in a table of a PostgreSQL database, one row for each entity ID.
//
//	id uuid | rev bigint | op text | kind text | into_id uuid | at text | records jsonb | view jsonb | name text ...
//
// Columns after view are attributes with one value, as text. A redirect has its target ID in into_id; it and a deleted
// ID have neither records nor a view.
//
// The table locus_sink in the same schema has a row for each sink: the token of the owner that wrote last, and the
// position. Events, position and token are written in one transaction, so nothing is missed or repeated, and a former
// owner that wakes up late is refused. Both tables are created if they are missing. The role needs CREATE on the schema
// for that.
package postgres
