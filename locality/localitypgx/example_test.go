// SPDX-License-Identifier: Apache-2.0

package localitypgx_test

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/locality/localitypgx"
)

func ExampleRegister() {
	// A program does this in AfterConnect, with the map of the connection.
	types := pgtype.NewMap()
	localitypgx.Register(types)

	id := locality.MustParse("20be0ffc-314a-bd53-7a50-013a65ca76d2")
	sent, err := types.Encode(pgtype.UUIDOID, pgtype.BinaryFormatCode, id, nil)
	fmt.Printf("%x %v\n", sent, err)

	var read locality.NullID
	err = types.Scan(pgtype.UUIDOID, pgtype.BinaryFormatCode, sent, &read)
	fmt.Println(read.ID, read.Valid, err)
	// Output:
	// 20be0ffc314abd537a50013a65ca76d2 <nil>
	// 20be0ffc-314a-bd53-7a50-013a65ca76d2 true <nil>
}
