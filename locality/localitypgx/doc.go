// SPDX-License-Identifier: Apache-2.0

// Package localitypgx makes pgx write and read [locality.ID] and [locality.NullID] as the uuid type of PostgreSQL,
// without an allocation.
//
// Without this package, pgx uses database/sql's interfaces: it converts each ID to text, and the text to 16 bytes, with
// 19 allocations per ID.
//
//	config, err := pgxpool.ParseConfig(url)
//	...
//	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
//		localitypgx.Register(conn.TypeMap())
//		return nil
//	}
//	pool, err := pgxpool.NewWithConfig(ctx, config)
//
// After that, IDs are arguments and targets like any other value, also in arrays:
//
//	rows, err := pool.Query(ctx, `select id, parent from t where id = any($1)`, ids)
//	...
//	var id locality.ID
//	var parent locality.NullID
//	err = rows.Scan(&id, &parent)
//
// It is a separate package so that package locality imports no driver.
package localitypgx
