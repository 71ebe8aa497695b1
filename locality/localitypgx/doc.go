// SPDX-License-Identifier: Apache-2.0

// Package localitypgx teaches pgx to write and read [locality.ID] and
// [locality.NullID] as the uuid type of PostgreSQL, without an allocation.
//
// pgx can do it without this package, by database/sql's interfaces: it then makes
// a text of each id, and the 16 bytes of that text, with 19 allocations for each.
//
//	config, err := pgxpool.ParseConfig(url)
//	...
//	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
//		localitypgx.Register(conn.TypeMap())
//		return nil
//	}
//	pool, err := pgxpool.NewWithConfig(ctx, config)
//
// After that ids are arguments and targets as any other value, also in arrays:
//
//	rows, err := pool.Query(ctx, `select id, parent from t where id = any($1)`, ids)
//	...
//	var id locality.ID
//	var parent locality.NullID
//	err = rows.Scan(&id, &parent)
//
// It is a package of its own so that package locality imports no driver.
package localitypgx
